"""Logistic regression: the probability of being relevant, or of every grade.

    binary       Σ_i c_i log(1 + exp(−t_i (w·x_i + b))) + λ/2 ‖w‖²,  t_i = ±1 as label > threshold or not
    ordinal      such a model of label > k for every grade k but the highest
    multinomial  −Σ_i c_i log p_{i, y_i} + λ/2 Σ_k ‖w_k‖²,  p the softmax of w_k·x + b_k

A binary model ranks by w·x; the others by the expected value Σ_k P(label = k) T(k), as
McRank does, T the label or its gain. Sums are over documents, so large queries count more, unless
`equal_queries`. Intercepts are not shrunk.

Minimized by Newton's method (iteratively reweighted least squares), halving a step that does not lower the
loss. It takes some ten steps whatever the scales of the features and however rare a grade, where quasi-Newton
methods may take thousands; and without a BLAS, for the same bits on any number of cores.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from pomona._types import Codes, Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.conventions import gains_of
from pomona.objectives import multinomial, ordinal
from pomona.objectives.base import classes_of
from pomona.objectives.multinomial import class_probabilities
from pomona.rankers.learnt import Array
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.linear.sums.feature_sums import feature_sums, weighted_sums
from pomona.rankers.linear.sums.gram import combined, gram, weighted_means, whitening
from pomona.rankers.movable import Movable
from pomona.rankers.parameter import NonNegativeFloat, PositiveInt

_MOST_GRADES = 100
_MOST_HALVINGS = 40


class LogisticRegression(LinearRanker):
    """Logistic regression: of relevant or not, of every step between grades, or of every grade.

    Parameters
    ----------
    kind : `ordinal`, `multinomial` or `binary`.
    threshold : a label above it is relevant (only for `binary`).
    target : what is expected of a document, and so its score: the `label`, or its `gain` 2^label − 1 (not
        for `binary`).
    l2 : λ, shrinks the weights; without it, data that can be told apart without error have no finite ones.
    equal_queries : let every query count alike, rather than every document.
    max_iterations : the most steps of Newton's method.
    tolerance : stop when the next step promises to lower the mean loss by less.

    The others are those of every `LinearRanker`. Nothing is selected, so a validation set goes unused.

    Attributes
    ----------
    output_coef_, output_intercept_ : weights and intercept of each model: one, one a step, or one a grade.
    coef_ : of several models, how the score grows with each feature where all their outputs are 0.

    Departures
    ----------
    - Cox's model is of two outcomes (`kind="binary"`). By default there is one for every step between grades,
      and documents are ranked by the label that they make likely.
    - Features are standardized in each query (`normalize`), taken over from `LinearRegression`: what tells
      queries apart, rather than the documents of one, would only mislead. Where that was chosen anew
      (`benchmarks/defaults.py`) it hardly matters here: NDCG@10 of 0.647, min–max 0.648, ranks 0.649, in
      another order with other draws of the folds.
    - Weights are shrunk (`l2`).
    """

    name = "logisticregression"
    aliases = ("logistic_regression", "logistic-regression", "logistic")
    family = "point-wise"
    optimizes = "surrogate"
    paper = "Cox, J. Royal Statistical Society B 1958"
    learnt_attributes = {
        "output_coef_": Array("n_outputs", "n_features"),
        "output_intercept_": Array("n_outputs"),
        "levels_": Array("n_levels"),
    }
    search_space = {
        "kind": ["binary", "ordinal", "multinomial"],
        "l2": (1e-3, 1e3, "log"),
        "equal_queries": [False, True],
    }

    normalize: str | None = "standard"
    kind: Literal["ordinal", "multinomial", "binary"] = "ordinal"
    threshold: float = 0.0
    target: Literal["label", "gain"] = "label"
    l2: NonNegativeFloat = 1.0
    equal_queries: bool = False
    max_iterations: PositiveInt = 100
    tolerance: NonNegativeFloat = 1e-12

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        weights = np.ones(train.n_docs) if weights is None else weights
        if self.equal_queries:
            sizes = np.diff(train.query_ptr)
            weights = weights / np.repeat(sizes, sizes)
        used = weights > 0
        labels, weights = train.y[used], weights[used]
        rows = _Rows.of(train.X if used.all() else train.X[used], weights, self.l2)
        self.levels_, codes = classes_of(labels)
        if self.kind != "binary" and len(self.levels_) > _MOST_GRADES:
            raise InputError(f"found {len(self.levels_)} different labels, no grades: use kind='binary'")
        if self.kind == "multinomial":
            start = np.log(np.bincount(codes, rows.weights))
            models = [self._minimize(rows, _Softmax(codes, rows.weights), start)]
        else:
            steps = [self.threshold] if self.kind == "binary" else self.levels_[:-1]
            models = [self._step(rows, labels > np.float32(step), step) for step in steps]
        self.output_coef_ = np.concatenate([coef for coef, _ in models])
        self.output_intercept_ = np.concatenate([intercept for _, intercept in models])
        self.coef_ = combined(self.output_coef_, self._slopes())
        self.intercept_ = float(self.output_intercept_[0]) if self.kind == "binary" else 0.0

    def _step(self, rows: _Rows, is_above: NDArray[np.bool_], threshold: float) -> tuple[Values, Values]:
        """The model of whether a label is above a threshold."""
        if is_above.all() or not is_above.any():
            which = "all labels are" if is_above.any() else "no label is"
            raise InputError(f"{which} above the threshold {threshold:g}: choose another")
        share = (rows.weights * is_above).sum()
        return self._minimize(rows, _Logistic(is_above, rows.weights), logit([share]))

    def _minimize(self, rows: _Rows, loss: _Loss, start: Values) -> tuple[Values, Values]:
        """The weights (n_outputs, n_features) and intercepts (n_outputs,) of the least loss."""
        point = np.zeros((len(start), 1 + rows.X.shape[1]))
        point[:, 0] = start
        outputs = rows.outputs(point)
        value = loss.value(outputs) + rows.penalty(point)
        for _ in range(self.max_iterations):
            slope = rows.gradient(loss, outputs, point)
            basis = whitening(rows.hessian(loss, outputs))
            step = combined(basis.T, combined(basis, slope.ravel())).reshape(point.shape)
            if 0.5 * (slope * step).sum() <= self.tolerance:
                return rows.unpacked(point - step)
            for halvings in range(_MOST_HALVINGS):
                there = point - 0.5**halvings * step
                outputs_there = rows.outputs(there)
                value_there = loss.value(outputs_there) + rows.penalty(there)
                if value_there < value:
                    point, outputs, value = there, outputs_there, value_there
                    break
            else:  # as low as rounding allows
                return rows.unpacked(point)
        warnings.warn(
            f"not converged after {self.max_iterations} iterations: raise l2 or max_iterations", stacklevel=2
        )
        return rows.unpacked(point)

    @property
    def _targets(self) -> Values:
        return self.levels_ if self.target == "label" else gains_of(self.levels_, "exp2")

    def _slopes(self) -> Values:
        """How the score changes with each output, where all are 0."""
        if self.kind == "binary":
            return np.ones(1)
        if self.kind == "ordinal":
            return np.diff(self._targets) / 4.0
        return np.asarray((self._targets - self._targets.mean()) / len(self._targets))

    @property
    def is_weighted_sum(self) -> bool:
        return self.kind == "binary"

    def predict_rows(self, X: Features) -> Scores:
        if self.kind == "binary":
            return super().predict_rows(X)
        pairs = zip(self.output_coef_, self.output_intercept_, strict=True)
        outputs = np.stack([weighted_sums(X, coef) + intercept for coef, intercept in pairs])
        if self.kind == "ordinal":
            return ordinal.expected_value(-outputs, self._targets)  # which wants P(label ≤ k)
        return multinomial.expected_value(outputs, self._targets)

    def movable_queries(self, data: Dataset) -> Movable:
        if self.kind == "binary":
            return super().movable_queries(data)
        X, moved, shape = self.prepared(data).X, copy.copy(self), self.output_coef_.shape

        def score(parameters: Values) -> Scores:
            moved.output_coef_ = parameters[: -shape[0]].reshape(shape)
            moved.output_intercept_ = parameters[-shape[0] :]
            return moved.predict_rows(X)

        parameters = np.concatenate([self.output_coef_.ravel(), self.output_intercept_])
        return Movable(parameters, "weights and intercepts", score)

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        n_levels = len(self.levels_)
        n_outputs = {"binary": 1, "ordinal": n_levels - 1, "multinomial": n_levels}[self.kind]
        if not n_outputs or len(self.output_coef_) != n_outputs:
            raise ValueError(f"{len(self.output_coef_)} outputs for {n_levels} labels")


class _Loss(Protocol):
    """A loss of outputs (n_outputs, n_docs), seen through its derivatives by them."""

    def value(self, outputs: Values) -> float:
        """The loss."""

    def gradient(self, outputs: Values) -> Values:
        """The first derivatives, (n_outputs, n_docs)."""

    def hessian(self, outputs: Values, k: int, m: int) -> Values:
        """The second derivatives by outputs k and m, (n_docs,)."""


@dataclass(frozen=True)
class _Logistic:
    """Σ_i c_i log(1 + exp(−t_i s_i)), of a single output."""

    is_above: NDArray[np.bool_]
    weights: Values

    def value(self, outputs: Values) -> float:
        return float((self.weights * (np.logaddexp(0.0, outputs) - self.is_above * outputs)).sum())

    def gradient(self, outputs: Values) -> Values:
        return np.asarray(self.weights * (expit(outputs) - self.is_above))

    def hessian(self, outputs: Values, k: int, m: int) -> Values:
        return np.asarray(self.weights * (expit(outputs[0]) * expit(-outputs[0])))


@dataclass(frozen=True)
class _Softmax:
    """−Σ_i c_i log p_{i, y_i}, of an output for each grade."""

    codes: Codes
    weights: Values

    def value(self, outputs: Values) -> float:
        label_outputs = outputs[self.codes, np.arange(len(self.codes))]
        return float((self.weights * (logsumexp(outputs, axis=0) - label_outputs)).sum())

    def gradient(self, outputs: Values) -> Values:
        slope = class_probabilities(outputs)
        slope[self.codes, np.arange(len(self.codes))] -= 1.0
        return self.weights * slope

    def hessian(self, outputs: Values, k: int, m: int) -> Values:
        p = class_probabilities(outputs)
        return np.asarray(self.weights * p[k] * ((k == m) - p[m]))


@dataclass(frozen=True)
class _Rows:
    """Documents with weights that sum to 1; models of them as points (n_outputs, 1 + n_features).

    A point has the output at `center`, the mean of the documents, and the weights of the features.
    """

    X: Features
    weights: Values
    l2: float
    center: Values

    @classmethod
    def of(cls, X: Features, weights: Values, l2: float) -> _Rows:
        total = weights.sum()
        return cls(X, weights / total, l2 / total, weighted_means(X, weights))

    def unpacked(self, point: Values) -> tuple[Values, Values]:
        """Weights and intercepts."""
        coef = np.ascontiguousarray(point[:, 1:])
        return coef, point[:, 0] - (coef * self.center).sum(axis=1)

    def outputs(self, point: Values) -> Values:
        pairs = zip(*self.unpacked(point), strict=True)
        return np.stack([weighted_sums(self.X, coef) + intercept for coef, intercept in pairs])

    def penalty(self, point: Values) -> float:
        return 0.5 * self.l2 * float((point[:, 1:] ** 2).sum())

    def gradient(self, loss: _Loss, outputs: Values, point: Values) -> Values:
        slope = self.l2 * point
        slope[:, 0] = 0.0
        for k, by_output in enumerate(loss.gradient(outputs)):
            slope[k, 0] += by_output.sum()
            slope[k, 1:] += feature_sums(self.X, by_output, self.center)
        return slope

    def hessian(self, loss: _Loss, outputs: Values) -> Values:
        """Second derivatives by all coordinates of a point, in a row."""
        n_outputs, size = len(outputs), 1 + self.X.shape[1]
        whole = np.empty((n_outputs, size, n_outputs, size))
        for k in range(n_outputs):
            for m in range(k + 1):
                hessian = loss.hessian(outputs, k, m)
                block = whole[k, :, m]
                block[0, 0] = hessian.sum()
                block[0, 1:] = block[1:, 0] = feature_sums(self.X, hessian, self.center)
                block[1:, 1:] = gram(self.X, hessian, self.center)
                whole[m, :, k] = block
            whole[k, range(1, size), k, range(1, size)] += self.l2
        return whole.reshape(n_outputs * size, n_outputs * size)
