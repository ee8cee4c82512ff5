"""What rankers made of one boosted forest share: their parameters, the training, and the model."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Annotated, Any, ClassVar, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Features, Scores, Values
from pomona.data.categories import Categories
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.objectives.base import Objective
from pomona.rankers.base import Ranker, SearchRange
from pomona.rankers.forests.training.boosting import BoostingConfig, boost, first_output
from pomona.rankers.forests.training.categorical import categorical_places, check_categories
from pomona.rankers.forests.training.feature_groups import directions_of, places_of
from pomona.rankers.forests.training.growth import LEFT_OPEN, growth_for
from pomona.rankers.forests.training.portion import Portion
from pomona.rankers.forests.training.start_scores import check_start, one_a_row, start_scores
from pomona.rankers.inputs import as_dataset
from pomona.rankers.learnt import FINITE, check_learnt
from pomona.rankers.loading import restored
from pomona.rankers.model_file import with_prefix
from pomona.rankers.movable import Movable
from pomona.rankers.parameter import Interval, NonNegativeFloat, NonNegativeInt, PositiveInt, Share, types_of
from pomona.rankers.trace import Trace
from pomona.rankers.training_log import TrainingLog
from pomona.rankers.watched import FitOptions, Validation
from pomona.trees.device import is_on_gpu
from pomona.trees.forest import Forest
from pomona.trees.grower import Grower, GrowthRules


class ForestRanker(Ranker):
    """A ranker that grows trees.

    Parameters
    ----------
    measure : judges the validation queries, and is what `score` reports; any measure, any convention.
    n_trees : the most trees to grow.
    growth : `leafwise`, `oblivious` (all nodes of a level share one split), or `auto`: as suits the number
        of training documents, unless `n_leaves` are given: leaf-wise. `chosen_` tells which.
    n_leaves : leaves of a tree, when grown leaf by leaf; None for as many as suit the data.
    max_depth : the deepest a leaf may lie; None for any, of oblivious trees for one that suits the data.
    splits : by what splits are chosen: `newton`, ΣG²/ΣH, or `gradient`, ΣG²/n, which looks at no hessian.
    min_docs, min_hessian : the least documents and the least sum of second derivatives in a leaf.
    l2 : shrinks leaf values, −ΣG / (ΣH + l2).
    max_bins : into how many bins a feature's values are put.
    feature_fraction : the share of features each tree may use.
    feature_fraction_bylevel, feature_fraction_bynode : of these the share that each level of a tree may use,
        and of those the share that each split is chosen from; a level of an oblivious tree is one split.
    interactions : groups of features, by name or place from 0, as `[["bm25", "clicks"], [2, 3, 4]]`: all
        features on a path of a tree are of one group. Groups may overlap; a feature of none stands alone.
    categorical : features that are categories given as whole numbers, by name or place from 0. Columns of a
        frame that hold texts or categories are such without a word, and matched by their names. Trees are
        then leaf-wise; a category that was not seen, or is undefined, goes right (`trees/categories.py`).
    category_smoothing : documents that each category has in addition when a split on categories is chosen.
    query_fraction : the share of queries each tree learns from.
    monotone : of all features, or some by name, `{"clicks": 1}`: scores may rise (1), fall (−1), or both (0).
    device : `cpu`, `cuda`: trees grow on a GPU, the same bit for bit, or `auto`: on a GPU if there is one.
    seed : same seed, same model, whatever the number of threads.
    verbose : show a progress bar.

    Attributes
    ----------
    chosen_ : the parameters that were left open, as the data chose them (see `training/growth.py`).
    """

    is_traceable = reads_categories = True
    starts_from_scores: ClassVar[bool] = True
    """Whether trees can be added to given scores."""
    trains_on_clusters: ClassVar[bool] = True
    """Whether `fit` takes a `client`."""
    _left_open: ClassVar[tuple[str, ...]] = tuple(LEFT_OPEN)
    """The parameters that the data can choose."""
    _portion = Portion()

    measure: str | Measure = "ndcg@10"
    n_trees: PositiveInt = 500
    growth: Literal["auto", "leafwise", "oblivious"] = "auto"
    n_leaves: Annotated[int, Interval(2)] | None = None
    max_depth: PositiveInt | None = None
    splits: Literal["newton", "gradient"] = "newton"
    min_docs: PositiveInt = 20
    min_hessian: NonNegativeFloat = 1e-3
    l2: NonNegativeFloat = 0.0
    max_bins: Annotated[int, Interval(2)] = 255
    feature_fraction: Share = 1.0
    feature_fraction_bylevel: Share = 1.0
    feature_fraction_bynode: Share = 1.0
    interactions: tuple[tuple[int | str, ...], ...] | None = None
    categorical: tuple[int | str, ...] | None = None
    category_smoothing: NonNegativeFloat = 10.0
    query_fraction: Share = 1.0
    monotone: tuple[int, ...] | dict[str, int] | None = None
    device: Literal["cpu", "cuda", "auto"] = "cpu"
    seed: NonNegativeInt = 0
    verbose: bool = False

    search_space = {
        "n_leaves": (7, 127, "log int"),
        "min_docs": (5, 200, "log int"),
        "feature_fraction": (0.3, 1.0, "linear"),
    }

    @classmethod
    def space_for(cls, parameters: Mapping[str, Any]) -> Mapping[str, SearchRange]:
        """Oblivious trees have a depth, not a number of leaves."""
        space = dict(cls.search_space)
        if parameters.get("growth") == "oblivious" and space.pop("n_leaves", None) is not None:
            space["max_depth"] = (3, 8, "int")
        return space

    @property
    def _goes_on(self) -> bool:
        """Whether trees are added to those of the last fit."""
        return False

    @abstractmethod
    def make_objective(self, train: Dataset, weights: Values | None) -> Objective:
        """The loss to be boosted."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: ArrayLike | None = None,
        valid: Validation | None = None,
        sample_weight: ArrayLike | None = None,
        trace: Trace | None = None,
        base: ArrayLike | None = None,
        valid_base: ArrayLike | None = None,
        base_model: Ranker | None = None,
        client: Any = None,
        **options: Unpack[FitOptions],
    ) -> Self:
        """Learn from a dataset, or from features, labels and query ids: see `Ranker.fit`.

        The trees can be added to the scores of another model (Wu et al.'s F_0): to `base`, one score a
        document, with `valid_base` for the validation data, and `predict` then asks for those of its rows; or
        to those of `base_model`, a fitted ranker, which becomes a part of this one and of its file.

        `client`, of a Dask cluster, has its workers learn, to the same model bit for bit. Then `X`, and
        `valid`, may also be a Dask data frame, or paths of files (a list, or a pattern such as
        `train-*.parquet`) that the workers can read; `y`, `qid` and `sample_weight` name columns of these.
        """
        check_start(self, base, base_model)
        given: dict[str, Any]
        if client is not None:
            from pomona.rankers.forests.cluster.fit import fit_on_cluster

            given = {"valid": valid, "sample_weight": sample_weight, "base_model": base_model}
            refused = {"group": group, "trace": trace, "base": base, "valid_base": valid_base, **options}
            given |= {name: refused.pop(name, None) for name in ("valid_weight", "unjudged")}
            fit_on_cluster(self, X, y, qid, **given, client=client, refused=refused)
            return self
        self._known_categories: Categories | None = None  # of the model to go on from
        if self._goes_on:
            base_model, self._known_categories = self.base_model_, self.categories_
        base_model = copy.copy(base_model)  # which may be fitted again, or be this very ranker
        self._bases: tuple[Scores | None, Scores | None] = None, None
        if base is not None or base_model is not None:
            if options.get("eval_set") is not None and (base is not None or valid is None):
                raise InputError("start scores go with valid=…, eval_set has none: leave one of them out")
            held_out = as_dataset(*valid) if isinstance(valid, tuple) else valid
            of_train = start_scores(as_dataset(X, y, qid, group), base, base_model, "base", X)
            self._bases = of_train, None
            if held_out is not None:
                rows = valid[0] if isinstance(valid, tuple) else valid
                of_valid = start_scores(held_out, valid_base, base_model, "valid_base", rows)
                self._bases = of_train, held_out.from_input_order(of_valid)
        elif valid_base is not None:
            raise InputError("valid_base goes with base, the start scores of the training data: give both")
        self.base_model_: Ranker | None = base_model
        self.needs_base_ = base is not None
        try:
            given = {"group": group, "valid": valid, "sample_weight": sample_weight, "trace": trace}
            return super().fit(X, y, qid, **given, **options)
        finally:
            del self._bases, self._known_categories

    def predict(self, X: Any, qid: Any = None, *, base: ArrayLike | None = None) -> Scores:
        """One score a document, in the order of the rows: higher ranks first.

        `base` has the start scores of these rows, for a ranker that was fitted with those of others.
        """
        scores = super().predict(X, qid)
        if self.needs_base_ != (base is not None):
            remedy = "give base=…, one score a row" if self.needs_base_ else "leave base out"
            was = "with" if self.needs_base_ else "without"
            raise InputError(f"{type(self).__name__} was fitted {was} start scores: {remedy}")
        if base is not None:
            return scores + one_a_row(base, len(scores), "base", X)
        return scores if self.base_model_ is None else scores + self.base_model_.predict(X, qid)

    def learn_portion(
        self, train: Dataset, valid: Dataset | None, weights: Values | None, portion: Portion
    ) -> None:
        """On a worker of a cluster: learn with others from queries of which some are here."""
        self._portion, self._log, self._trace, self._learnt_from = portion, None, None, train
        self.n_features_in_, self.feature_names_ = train.n_features, train.feature_names
        base = self.base_model_
        of_train, of_valid = (
            None if base is None or part is None else base.predict(part) for part in (train, valid)
        )
        self._bases = of_train, of_valid
        self.learn(train, valid, weights)
        if self._log is not None:
            self._remember(self._log)

    def combine_outputs(self, outputs: Values) -> Scores:
        """One score a document from the outputs of the forests."""
        return first_output(outputs)

    def choose(self, train: Dataset) -> dict[str, Any]:
        """How trees grow on these data: as asked, and as suits them where nothing was asked."""
        asked = {name: getattr(self, name) for name in self._left_open if hasattr(self, name)}
        size = self._portion.count_docs(train), self.n_trees
        growth = growth_for(asked, *size, is_categorical=bool(self._categorical(train)))
        self.chosen_ = {name: value for name, value in growth.items() if value != asked[name]}
        return growth

    def _categorical(self, train: Dataset) -> list[int]:
        """The places of features that are categories, by their column or as asked."""
        return categorical_places(train.categories, self.categorical, train.feature_names)

    def _grower(self, train: Dataset) -> Grower:
        monotone = directions_of(self.monotone, train.feature_names)
        if monotone is not None and len(monotone) != train.n_features:
            raise InputError(f"found {len(monotone)} monotone constraints for {train.n_features} features")
        growth, categorical = self.choose(train), self._categorical(train)
        check_categories(train, categorical, monotone)
        rules = GrowthRules(
            n_leaves=growth["n_leaves"] or 2,  # oblivious trees have a depth
            max_depth=growth["max_depth"],
            l2=self.l2,
            min_docs=self.min_docs,
            min_hessian=self.min_hessian,
            monotone=monotone,
            feature_fraction=self.feature_fraction,
            feature_fraction_bylevel=self.feature_fraction_bylevel,
            feature_fraction_bynode=self.feature_fraction_bynode,
            interactions=places_of(self.interactions, train.feature_names),
            newton_splits=self.splits == "newton",
            smoothing=self.category_smoothing,
        )
        how = (growth["growth"], train.lazy_features, rules, self.max_bins, self.seed)
        return self._portion.grower(*how, on_gpu=is_on_gpu(self.device), categorical=categorical)

    def _html_repr(self) -> str:
        """Beside the parameters, those that the data chose in place of what was left open."""
        chosen = ", ".join(f"{name}={value!r}" for name, value in getattr(self, "chosen_", {}).items())
        return super()._html_repr() + (f"<p>chosen by the data: {escape(chosen)}</p>" if chosen else "")

    @property
    def model_(self) -> Forest:
        """The forest (the first, of a ranker with several)."""
        self.check_fitted()
        return self.models_[0]

    def predict_rows(self, X: Features) -> Scores:
        return self.combine_outputs(np.array([forest.score(X) for forest in self.models_]))

    def movable_queries(self, data: Dataset) -> Movable:
        scorers = [forest.value_scorer(data.X) for forest in self.models_]
        ends = np.cumsum([len(forest.value) for forest in self.models_])[:-1]

        def score(values: Values) -> Scores:
            parts = zip(scorers, np.split(values, ends), strict=True)
            return self.combine_outputs(np.stack([scores(part) for scores, part in parts]))

        is_one = type(self).combine_outputs is ForestRanker.combine_outputs
        values = np.concatenate([forest.value for forest in self.models_])
        return Movable(values, "leaf values", score, is_affine=is_one)

    def portable(self) -> Forest:
        """The trees that give the scores by themselves: its own, after those of a base model of trees."""
        forest, base = self.model_, self.base_model_
        if len(self.models_) > 1:
            raise InputError(
                f"{type(self).__name__} makes its score of {len(self.models_)} forests, which no format knows"
            )
        if self.needs_base_:
            raise InputError("the trees are added to scores that come with the data, which no format knows")
        if base is None:
            return forest
        features = self.feature_names_, self.categories_
        if not isinstance(base, ForestRanker) or (base.feature_names_, base.categories_) != features:
            raise InputError(f"the trees are added to scores of {type(base).__name__}, which no format knows")
        return base.portable().extended(forest)

    def importance(self, kind: str = "gain") -> NDArray[np.float64]:
        """How much each feature serves the trees: its summed split `gain`, or how often it is `split` on."""
        self.check_fitted()
        total: Values = np.sum([forest.importance(kind) for forest in self.models_], axis=0, dtype=float)
        return total

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the total split gain."""
        gains = self.importance("gain")
        gains /= gains.sum() or 1.0
        return gains

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super().get_state()
        for k, forest in enumerate(self.models_):
            arrays |= {f"{k}.{name}": array for name, array in forest.arrays().items()}
        facts |= {"bases": [forest.base for forest in self.models_], "needs_base": self.needs_base_}
        facts["chosen"] = self.chosen_
        if self.base_model_ is not None:
            written, learnt = self.base_model_.written()
            facts["base_model"] = {"ranker": self.base_model_.name, **written}
            arrays |= {f"base.{name}": array for name, array in learnt.items()}
        return facts, arrays

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        check_learnt({"bases": tuple[FINITE, ...]}, facts)
        if not facts["bases"]:
            raise ValueError("there is no forest")
        self.models_ = [
            Forest.of_arrays(with_prefix(arrays, f"{k}."), self.n_features_in_, float(base))
            for k, base in enumerate(facts["bases"])
        ]
        start = {"needs_base": False, "base_model": None, "chosen": {}, **facts}  # earlier versions had none
        check_learnt({"needs_base": bool, "chosen": dict}, start)
        cls: type = type(self)
        self.chosen_ = {name: value for name, value in start["chosen"].items() if name in LEFT_OPEN}
        check_learnt({name: types_of(cls)[name] for name in self.chosen_}, self.chosen_)
        self.needs_base_, self.base_model_ = start["needs_base"], None
        if (written := start["base_model"]) is not None:
            self.base_model_ = restored(written["ranker"], written, with_prefix(arrays, "base."))
            if self.base_model_.n_features_in_ != self.n_features_in_:
                raise ValueError(f"a base model of other than {self.n_features_in_} features")


class BoostedForest(ForestRanker):
    """A ranker whose trees correct those before them.

    Parameters
    ----------
    n_trees : the most trees to grow.
    learning_rate : the share of each tree's step that is taken; None for one that suits data and `n_trees`.
    dropout : the share of earlier trees that is left out, at random, while a tree is learnt, which then
        shares their work (DART, see `training/dropout.py`); those of an earlier fit are not.
    dropout_skip : the share of trees that are learnt without leaving any out.
    top_fraction, rest_fraction : if the first is below 1, a tree learns from this share of documents, of the
        largest gradients, and a share of others, which count more (GOSS, `training/gradient_sampling.py`).
    early_stopping : stop after so many rounds without a better validation measure; None never stops.
    averaged : keep the mean of the forests from the best round on (`training/boosting.py`), not the best.
    warm_start : go on from the trees of the last fit (or of the loaded model), up to `n_trees` in all.

    The others are those of every `ForestRanker`.
    """

    n_trees: PositiveInt = 500
    learning_rate: Share | None = None
    dropout: Annotated[float, Interval(0, 1)] = 0.0
    dropout_skip: Annotated[float, Interval(0, 1, "[]")] = 0.5
    top_fraction: Share = 1.0
    rest_fraction: Share = 0.1
    early_stopping: PositiveInt | None = 100
    averaged: bool = True
    warm_start: bool = False

    search_space = {"learning_rate": (0.02, 0.3, "log"), **ForestRanker.search_space}

    @property
    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "models_")

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        self._boost(train, valid, self.make_objective(train, weights), self._config(train))

    def _boost(
        self,
        train: Dataset,
        valid: Dataset | None,
        objective: Objective,
        config: BoostingConfig,
        start: Sequence[Forest] | None = None,
    ) -> TrainingLog:
        if start is None:
            start = self.models_ if self._goes_on else []
        if any(forest.n_features != train.n_features for forest in start):
            raise InputError(
                f"the model to go on from has {start[0].n_features} features, the data {train.n_features}"
            )
        if start and getattr(self, "_known_categories", None) not in (None, train.categories):
            raise InputError("the model to go on from knows other categories than the data have: train anew")
        grower = self._grower(train)
        log = self.start_training(config.n_trees, unit="tree", done=start[0].n_trees if start else 0)
        base, valid_base = self._bases
        base = None if base is None else self._learnt_from.from_input_order(base)
        bases, add_to, sets = {}, self.base_model_, self._watched.sets.items()
        if add_to is not None:
            bases = {name: data.from_input_order(add_to.predict(data)) for name, data in sets}
        self.models_ = boost(
            *(train, valid, objective, grower, self.parsed_measure, config, log),
            start=start,
            base=base,
            valid_base=valid_base,
            combine=self.combine_outputs,
            portion=self._portion,
            watched=self._watched,
            watched_bases=bases,
            keep=lambda forests: setattr(self, "models_", forests),
        )
        return log

    def _config(self, train: Dataset) -> BoostingConfig:
        for name, off in (("dropout", 0), ("top_fraction", 1)):
            if getattr(self, name) != off and is_on_gpu(self.device):
                raise InputError(f"a GPU trains without {name} so far: use device='cpu', or leave {name} out")
        asked = {one.name: getattr(self, one.name) for one in fields(BoostingConfig)}
        return BoostingConfig(**{**asked, "learning_rate": self.choose(train)["learning_rate"]})
