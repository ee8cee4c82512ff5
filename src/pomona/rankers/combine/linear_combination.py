"""Linear combination of rankers (thesis 3.4.7): several opinions, weighed.

    score = Σ_i α_i F_i,   each ranker's scores F_i first put on a common scale inside each query

The weights α are learnt on *held-out* scores, since a ranker that has learnt its training queries by heart
would outweigh better ones: those of the validation set (which rankers that stop early have looked at, but not
learnt from), or else of training queries left out of each fit in turn.
`weights="uniform"` trusts all alike, and with `normalize="rank"` is the rank average (Borda count).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pomona import _registry
from pomona._sklearn import clone
from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, UnknownNameError
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker
from pomona.rankers.combine.members.member_file import restored_members, written_members
from pomona.rankers.combine.members.query_scale import SCALERS, SCALES, on_query_scale
from pomona.rankers.combine.members.weighted import weighted, weighted_or_none
from pomona.rankers.inputs import unjudged_in
from pomona.rankers.learnt import Array
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.parameter import NonNegativeInt, PositiveInt
from pomona.rankers.watched import Unjudged
from pomona.trees.forest import Forest
from pomona.trees.formats.weighted_sum import WeightedSum

Members = list[tuple[str, Ranker]]


class LinearCombination(Ranker):
    """Linear combination of rankers, weighed on held-out queries.

    Parameters
    ----------
    rankers : (name, ranker) pairs, or names of `pomona list rankers` with commas between them.
    weights : `uniform`, one number a ranker, or the linear ranker that learns them on held-out scores.
    normalize : puts each ranker's scores on a common scale inside each query: `standard`, `minmax` or `rank`;
        `none` weighs the scores as they are, so that forests make one forest, which can be exported.
    prefit : the rankers are fitted already: learn only the weights, on queries that they have not seen.
    n_folds : without a validation set, how many parts of the training queries are held out in turn.
    measure : what `score` reports, and what weights are learnt for where their ranker asks for one.
    seed : draws which queries are held out together.

    Attributes
    ----------
    models_ : the (name, fitted ranker) pairs.
    weights_ : the weight of each.

    Departures
    ----------
    *Reconstructed*: the form is the thesis', how the weights are found it leaves open.

    - Any linear ranker finds them, with the rankers' scores as its features: least squares by default, or one
      that aims at a measure.
    - It looks at held-out scores only, those of the validation set or of training queries left out in turn.
      With a validation set it so learns from labels that other rankers only choose by.
    - Scores are put on a common scale inside each query first (`normalize`).
    """

    name = "linearcombination"
    aliases = ("linear_combination", "linear-combination", "combination")
    family = "ensemble"
    optimizes = "surrogate"
    paper = "Modrý, thesis 2014 (estimation of the weights reconstructed)"
    learnt_attributes = {"weights_": Array("n_members")}
    search_space = {"normalize": list(SCALERS)}

    rankers: str | Sequence[tuple[str, Ranker]] = "linearregression,bestfeature"
    weights: str | Sequence[float] = "linearregression"
    normalize: str = "standard"
    prefit: bool = False
    n_folds: PositiveInt = 5
    measure: str | Measure = "ndcg@10"
    seed: NonNegativeInt = 0

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if self.normalize not in SCALES:
            raise UnknownNameError("normalization", self.normalize, SCALES)
        members = self._members()
        combiner = self._combiner([name for name, _ in members])
        unjudged = unjudged_in(train, weights)
        self.models_ = members if self.prefit else _fitted(members, train, valid, unjudged)
        self.weights_: Values = (
            combiner
            if isinstance(combiner, np.ndarray)
            else self._learnt_weights(combiner, members, train, valid, unjudged)
        )
        self._join()

    def _learnt_weights(
        self,
        combiner: LinearRanker,
        members: Members,
        train: Dataset,
        valid: Dataset | None,
        unjudged: Unjudged,
    ) -> Values:
        """The weights that are best on held-out queries."""
        if self.prefit or valid is None:
            held_out = train
            outputs = _outputs(members, train) if self.prefit else self._out_of_fold(members, train, unjudged)
        else:
            held_out, outputs = valid, _outputs(self.models_, valid)
        scaled = on_query_scale(outputs, held_out, self.normalize)
        stacked = held_out.replace(X=scaled.astype(np.float32), feature_names=[name for name, _ in members])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no feature was given a weight")
            combiner.fit(stacked, unjudged=unjudged)
        # Where the held-out queries do not tell the rankers apart, trust all alike.
        return combiner.coef_ if combiner.coef_.any() else np.ones(len(members))

    def _members(self) -> Members:
        """The rankers to combine, checked."""
        if isinstance(self.rankers, str):
            entries = [_registry.find("rankers", text.strip(), "ranker") for text in self.rankers.split(",")]
            members: Members = [(entry.name, entry.load()()) for entry in entries]
        else:
            members = _checked(self.rankers)
        names = [name for name, _ in members]
        if taken := sorted({name for name in names if names.count(name) > 1 or "__" in name}):
            raise InputError(f"names of rankers must differ and have no '__', found {', '.join(taken)}")
        if clash := sorted(set(names) & set(super().get_params(deep=False))):
            raise InputError(f"a ranker cannot have the name of a parameter, found {', '.join(clash)}")
        for name, ranker in members:
            if ranker.is_bound:
                raise InputError(f"{name} reads the labels of the documents it scores: it cannot be combined")
            if self.prefit:
                ranker.check_fitted()
        return members

    def _combiner(self, names: list[str]) -> LinearRanker | Values:
        """What finds the weights, or the weights themselves."""
        if not isinstance(self.weights, str):
            given = np.asarray(self.weights, np.float64)
            if given.shape != (len(names),) or not np.isfinite(given).all():
                raise InputError(
                    f"found weights {self.weights!r}, expected {len(names)} numbers, one a ranker"
                )
            return given
        if self.weights == "uniform":
            return np.ones(len(names)) / len(names)
        cls = _registry.find("rankers", self.weights, "ranker").load()
        if not issubclass(cls, LinearRanker):
            raise InputError(
                f"{self.weights} has no weights to learn: expected uniform, numbers or a linear ranker"
            )
        combiner: LinearRanker = cls(normalize=None, measure=self.measure)
        return combiner

    def _out_of_fold(self, members: Members, train: Dataset, unjudged: Unjudged) -> Values:
        """Scores of the training queries by rankers that were fitted without them."""
        n_folds = min(self.n_folds, train.n_queries)
        if n_folds < 2:
            raise InputError(
                "no query can be held out to learn weights on: give more queries, n_folds of at least 2, "
                "a validation set, or weights='uniform'"
            )
        fold_of_query = np.random.default_rng(self.seed).permutation(train.n_queries) % n_folds
        fold_of_row = np.repeat(fold_of_query, np.diff(train.query_ptr))
        outputs = np.empty((train.n_docs, len(members)))
        for fold in range(n_folds):
            fitted = _fitted(members, train.take(fold_of_query != fold), None, unjudged)
            outputs[fold_of_row == fold] = _outputs(fitted, train.take(fold_of_query == fold))
        return outputs

    def _join(self) -> None:
        """Where the weighted sum of the models is itself one model, have it."""
        is_plain = self.normalize == "none"
        members = [ranker for _, ranker in self.models_]
        self.sum_: Forest | WeightedSum | None = (
            weighted_or_none(members, self.weights_.tolist()) if is_plain else None
        )

    def portable(self) -> Forest | WeightedSum:
        self.check_fitted()
        if self.normalize != "none":
            raise InputError(
                f"scores are scaled inside each query (normalize={self.normalize!r}), which no engine does: "
                "train it with normalize='none'"
            )
        return weighted([ranker for _, ranker in self.models_], self.weights_.tolist())

    @property
    def scores_whole_queries(self) -> bool:
        return getattr(self, "sum_", None) is None

    def predict_rows(self, X: Features) -> Scores:
        assert self.sum_ is not None
        return self.sum_.score(X)

    def predict_queries(self, data: Dataset) -> Scores:
        if self.sum_ is not None:
            return self.predict_rows(data.X)
        scaled = on_query_scale(_outputs(self.models_, data), data, self.normalize)
        scores: Scores = np.zeros(data.n_docs)
        for weight, column in zip(self.weights_, scaled.T, strict=True):
            scores += weight * column
        return scores

    def coefficients(self) -> dict[str, float]:
        """The weight of every ranker."""
        self.check_fitted()
        return {name: float(weight) for (name, _), weight in zip(self.models_, self.weights_, strict=True)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; `deep`, also the rankers by name and theirs as `name__parameter`."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        if deep and _are_pairs(self.rankers):
            for name, ranker in self.rankers:
                parameters[name] = ranker
                parameters |= {f"{name}__{key}": value for key, value in ranker.get_params().items()}
        return parameters

    def _change_params(self, parameters: dict[str, Any]) -> None:
        """Also replace rankers by name."""
        params = dict(parameters)
        self.rankers = params.pop("rankers", self.rankers)
        if _are_pairs(self.rankers):
            self.rankers = [(name, params.pop(name, ranker)) for name, ranker in self.rankers]
        super()._change_params(params)

    def __sklearn_clone__(self) -> Self:
        cloned: Self = super().__sklearn_clone__()
        if self.prefit:  # its rankers are not to be learnt again
            cloned.rankers = self.rankers
        return cloned

    def written(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        # Rankers that were given as such are written with what they learnt, not as a parameter.
        plain = copy.copy(self)
        plain.rankers = self.rankers if isinstance(self.rankers, str) else ""
        return super(LinearCombination, plain).written()

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super().get_state()
        members, of_members = written_members([ranker for _, ranker in self.models_])
        named = [{"name": name, **member} for (name, _), member in zip(self.models_, members, strict=True)]
        return {**facts, "members": named}, {**arrays, **of_members}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        members = restored_members(facts["members"], arrays, self.n_features_in_)
        names = [member["name"] for member in facts["members"]]
        self.models_ = list(zip(names, members, strict=True))
        if not self.rankers:
            self.rankers = [(name, ranker if self.prefit else clone(ranker)) for name, ranker in self.models_]
        if len(self.weights_) != len(self.models_):
            raise ValueError(f"{len(self.weights_)} weights for {len(self.models_)} rankers")
        if self.normalize not in SCALES:
            raise UnknownNameError("normalization", self.normalize, SCALES)
        self._join()


def _are_pairs(rankers: Any) -> TypeGuard[Sequence[tuple[str, Ranker]]]:
    return isinstance(rankers, Sequence) and all(
        isinstance(pair, Sequence) and len(pair) == 2 and isinstance(pair[1], Ranker) for pair in rankers
    )


def _checked(rankers: Any) -> Members:
    if not _are_pairs(rankers) or not rankers:
        raise InputError(f"found rankers {rankers!r}, expected (name, ranker) pairs or names with commas")
    return [(str(name), ranker) for name, ranker in rankers]


def _fitted(members: Members, train: Dataset, valid: Dataset | None, unjudged: Unjudged) -> Members:
    """The members, fitted with the weights that the data have."""
    return [(name, clone(ranker).fit(train, valid=valid, unjudged=unjudged)) for name, ranker in members]


def _outputs(members: Members, data: Dataset) -> Values:
    """(n_docs, n_rankers) scores."""
    return np.stack([ranker.predict(data) for _, ranker in members], axis=1)
