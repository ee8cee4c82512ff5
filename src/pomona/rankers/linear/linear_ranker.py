"""What linear rankers share: features on a common scale, a weight for each, and the model file.

    score = intercept + Σ_j coef_j · x_j

Weights compare only where features do, so each feature is first put on a common scale inside each query
(`normalize`, the LETOR way by default), or once for all, which search engines can do too. An undefined
value counts as 0, which is the lowest value of the query under `minmax` and its mean under `standard`. The
intercept changes no ranking.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.data.global_scale import GlobalScale, is_global
from pomona.data.normalize import normalize
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker
from pomona.rankers.explanation import chosen, of_sum
from pomona.rankers.learnt import FINITE, Array, check_learnt
from pomona.rankers.linear.sums.feature_sums import weighted_sums
from pomona.rankers.movable import Movable
from pomona.rankers.training_log import TrainingLog
from pomona.trees.formats.layers import InputScale, Layers
from pomona.trees.formats.weighted_sum import ScaledSum, WeightedSum
from pomona.trees.shap import Shap


class LinearRanker(Ranker):
    """A ranker whose score is a weighted sum of features.

    Parameters
    ----------
    measure : what `score` reports, and what a validation set is judged by; any measure, any convention.
    normalize : puts each feature on a common scale inside each query: `minmax`, `standard`, `rank`, or None;
        or once for all queries, so that the model can be exported to engines: `global-minmax`,
        `global-standard`, `global-log1p`.
    """

    measure: str | Measure = "ndcg@10"
    normalize: str | None = "minmax"

    learnt_attributes: ClassVar[Mapping[str, Any]] = {"coef_": Array("n_features"), "intercept_": FINITE}
    intercept_ = 0.0
    scale_ = cast("GlobalScale | None", None)

    @property
    def is_weighted_sum(self) -> bool:
        """Whether the score is the weighted sum itself, and nothing made of it."""
        return True

    @abstractmethod
    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        """Learn `coef_` (and `intercept_`) from data that are normalized and have no undefined value."""

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        self.scale_ = None
        if is_global(self.normalize):
            counts = train.X if weights is None else train.X[weights > 0]
            self.scale_ = GlobalScale.of(counts, str(self.normalize))
        self._watched = self._watched.changed(self.prepared)
        self.learn_weights(self.prepared(train), None if valid is None else self.prepared(valid), weights)
        if not np.isfinite(self.coef_).all():
            raise InputError(f"{type(self).__name__} did not converge to finite weights: normalize the data")
        if not self.coef_.any():
            warnings.warn(
                "no feature was given a weight, so all documents score alike: do any differ inside a query?",
                stacklevel=3,
            )

    def curve_judge(
        self, valid: Dataset | None, train: Dataset, *, always: bool = False
    ) -> Callable[[Values], dict[str, float]]:
        """What judges weights for the learning curves, by part.

        Without validation data it judges nothing; with `always` it judges the training data.
        """
        if valid is None and not always:
            return lambda coef: {}
        sets = self._watched.beside(valid)
        judge = self._watched.judge(sets, self.parsed_measure, train=train)
        scored = {"train": train, **sets}
        return lambda coef: judge({name: weighted_sums(data.X, coef) for name, data in scored.items()})

    def keep_if_best(
        self,
        log: TrainingLog,
        coef: Values,
        values: Mapping[str, float],
        *,
        decides: float | None = None,
        **learnt: Any,
    ) -> None:
        """Record an iteration, and keep its weights (and what else it learnt, by name) if it is the best.

        decides : the number by which it is, instead of that of a part that is recorded.
        """
        if log.record(decides=decides, **values):
            self.coef_: Values = coef.copy()
            for name, value in learnt.items():
                setattr(self, f"{name}_", value)
        log.tell()

    def prepared(self, data: Dataset) -> Dataset:
        """The data as the weights see them."""
        if self.scale_ is not None:
            return data.replace(X=self.scale_(data.X))
        if self.normalize is not None:
            data = normalize(data, self.normalize)
        elif np.isinf(data.X).any():
            raise InputError("X holds an infinite value, which no weight can balance: clip it")
        return data.replace(X=np.nan_to_num(data.X)) if np.isnan(data.X).any() else data

    @property
    def scores_whole_queries(self) -> bool:
        return self.normalize is not None and not is_global(self.normalize)

    def predict_queries(self, data: Dataset) -> Scores:
        return self.predict_rows(self.prepared(data).X)

    def predict_rows(self, X: Features) -> Scores:
        return weighted_sums(X, self.coef_) + self.intercept_

    def movable_queries(self, data: Dataset) -> Movable:
        X = self.prepared(data).X
        return Movable(
            self.coef_, "weights", lambda coef: weighted_sums(X, coef), is_affine=True, is_free_of_scale=True
        )

    def contributions(
        self, data: Dataset, background: Dataset | None, method: str | None
    ) -> tuple[Shap, str]:
        rows = self.prepared(data).X
        others = rows if background is None else self.prepared(background).X
        return of_sum(self.coef_, float(self.intercept_), rows, others), chosen(method, ("linear",))

    def portable(self) -> WeightedSum | Layers:
        self.check_fitted()
        if self.scores_whole_queries:
            raise InputError(
                f"{type(self).__name__} scales features inside each query (normalize={self.normalize!r}), "
                "which no engine does: train it with normalize='global-minmax', 'global-standard' or None"
            )
        if not self.is_weighted_sum:
            raise InputError(f"this {type(self).__name__} makes more of its sums than engines could hold")
        coef, start, scale = self.coef_, float(self.intercept_), self.scale_
        if scale is not None and scale.log:
            inputs = InputScale(scale.center, scale.factor, log=True, limit=float(np.finfo(np.float64).max))
            return Layers((coef[:, None],), (np.array([start]),), ("identity",), inputs)
        scaled = None
        if scale is not None:
            width = np.divide(1.0, scale.factor, out=np.ones(len(coef)), where=scale.factor != 0)
            if (width.astype(np.float32) > 0).all():
                scaled = ScaledSum(scale.center, width, np.where(scale.factor != 0, coef, 0.0))
            coef, constant = scale.folded(coef)
            start += constant
        features = np.flatnonzero(coef)
        return WeightedSum(features, coef[features], self.n_features_in_, start, scaled=scaled)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super().get_state()
        scale = self.scale_
        return facts, arrays if scale is None else {**arrays, "center": scale.center, "factor": scale.factor}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        self.scale_ = None
        if is_global(self.normalize):
            declared = {"center": Array("n_features"), "factor": Array("n_features")}
            check_learnt(declared, arrays, n_features=self.n_features_in_)
            is_log = self.normalize == "global-log1p"
            self.scale_ = GlobalScale(arrays["center"], arrays["factor"], is_log)

    def coefficients(self) -> dict[str, float]:
        """The weight of every feature that has one, largest first."""
        self.check_fitted()
        order = np.argsort(-np.abs(self.coef_), kind="stable")
        return {self.feature_names_[j]: float(self.coef_[j]) for j in order if self.coef_[j] != 0}
