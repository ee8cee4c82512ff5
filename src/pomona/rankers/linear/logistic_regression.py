"""Logistic regression: the probability of being relevant, or of every grade.

    binary       Σ_i c_i log(1 + exp(−t_i (w·x_i + b))) + λ/2 ‖w‖²,  t_i = ±1 as label > threshold or not
    ordinal      such a model of label > k for every grade k but the highest
    multinomial  −Σ_i c_i log p_{i, y_i} + λ/2 Σ_k ‖w_k‖²,  p the softmax of w_k·x + b_k

A binary model ranks by w·x; the others by the worth a document is expected to have, Σ_k P(label = k) T(k), as
McRank does, T the label or its gain. Features are standardized in each query by default: what tells queries
apart, rather than the documents of one, would only mislead (as in `linear_regression.py`). Sums are over
documents, so large queries count more, unless `equal_queries`. Intercepts are not shrunk.

Minimized by L-BFGS over u, the weights being B u, where B makes the bound ¼ XᵀX + λ of the hessian (Böhning
1992) the identity: a few dozen passes suffice whatever the scales of the features.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp

from pomona._types import Codes, Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, UnknownNameError
from pomona.measures.conventions import gains_of
from pomona.objectives import multinomial, ordinal
from pomona.objectives.base import classes_of
from pomona.rankers.base import SearchRange
from pomona.rankers.linear.gram import column_sums, combined, gram, weighted_means, whitening
from pomona.rankers.linear.linear_ranker import LinearRanker, weighted_sums

KINDS = ("binary", "ordinal", "multinomial")
Loss = Callable[[Values], tuple[float, Values]]
"""From outputs (n_outputs, n_docs) to the loss and its derivatives by them."""
_MOST_GRADES = 100


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(LinearRanker):
    """Logistic regression: of relevant or not, of every step between grades, or of every grade.

    Parameters
    ----------
    kind : `ordinal`, `multinomial` or `binary`.
    threshold : a label above it is relevant (only for `binary`).
    worth : what a label is worth in the score: the `label`, or its `gain` 2^label − 1 (not for `binary`).
    l2 : λ, shrinks the weights; without it, data that can be told apart without error have no finite ones.
    equal_queries : let every query count alike, rather than every document.
    max_iterations : the most steps of the optimizer.
    tolerance : stop where no derivative of the mean loss is larger.

    The others are those of every `LinearRanker`. Nothing is selected, so a validation set goes unused.

    Attributes
    ----------
    output_coef_, output_intercept_ : weights and intercept of each model: one, one a step, or one a grade.
    coef_ : of several models, how the score grows with each feature where all their outputs are 0.
    """

    name: ClassVar[str] = "logisticregression"
    aliases: ClassVar[tuple[str, ...]] = ("logistic_regression", "logistic-regression", "logistic")
    family: ClassVar[str] = "point-wise"
    paper: ClassVar[str] = "Cox, J. Royal Statistical Society B 1958"
    search_space: ClassVar[Mapping[str, SearchRange]] = {
        "kind": list(KINDS),
        "l2": (1e-3, 1e3, "log"),
        "equal_queries": [False, True],
    }

    normalize: str | None = "standard"
    kind: str = "ordinal"
    threshold: float = 0.0
    worth: str = "label"
    l2: float = 1.0
    equal_queries: bool = False
    max_iterations: int = 1000
    tolerance: float = 1e-7

    def _learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("kind", self.kind, KINDS)
        if self.worth not in ("label", "gain"):
            raise UnknownNameError("worth", self.worth, ("label", "gain"))
        if not self.l2 >= 0:
            raise InputError(f"l2 must be at least 0, found {self.l2!r}")
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
            models = [self._minimize(rows, _softmax_loss(codes, rows.weights), start)]
        else:
            steps = [self.threshold] if self.kind == "binary" else self.levels_[:-1]
            models = [self._step(rows, labels > step, step) for step in steps]
        self.output_coef_ = np.concatenate([coef for coef, _ in models])
        self.output_intercept_ = np.concatenate([intercept for _, intercept in models])
        self.coef_ = combined(self.output_coef_, self._slopes())
        self.intercept_ = float(self.output_intercept_[0]) if self.kind == "binary" else 0.0

    def _step(self, rows: _Rows, is_above: NDArray[np.bool_], threshold: float) -> tuple[Values, Values]:
        """The model of whether a label is above a threshold."""
        if is_above.all() or not is_above.any():
            found = "all labels are" if is_above.any() else "no label is"
            raise InputError(f"{found} above the threshold {threshold:g}: choose another")
        share = (rows.weights * is_above).sum()
        return self._minimize(rows, _logistic_loss(is_above, rows.weights), logit([share]))

    def _minimize(self, rows: _Rows, loss: Loss, start: Values) -> tuple[Values, Values]:
        """The weights (n_outputs, n_features) and intercepts (n_outputs,) of the least loss."""
        n_outputs, n_docs = len(start), len(rows.weights)

        def unpacked(point: Values) -> tuple[Values, Values]:
            # An intercept's second derivative is at most ¼ too: twice the coordinate makes it 1.
            parts = point.reshape(n_outputs, -1)
            return np.stack([combined(rows.basis.T, part[1:]) for part in parts]), 2.0 * parts[:, 0]

        def value_and_slope(point: Values) -> tuple[float, Values]:
            coef, level = unpacked(point)
            outputs = np.empty((n_outputs, n_docs))
            for k in range(n_outputs):
                outputs[k] = weighted_sums(rows.X, coef[k]) + (level[k] - (coef[k] * rows.center).sum())
            value, by_output = loss(outputs)
            slope = np.empty((n_outputs, 1 + rows.basis.shape[1]))
            for k in range(n_outputs):
                by_coef = column_sums(rows.X, by_output[k], rows.center) + rows.l2 * coef[k]
                slope[k, 0], slope[k, 1:] = 2.0 * by_output[k].sum(), combined(rows.basis, by_coef)
            return value + 0.5 * rows.l2 * float((coef * coef).sum()), slope.ravel()

        first = np.zeros((n_outputs, 1 + rows.basis.shape[1]))
        first[:, 0] = start / 2.0
        options: Any = {"maxiter": self.max_iterations, "gtol": self.tolerance, "ftol": 0.0, "maxcor": 20}
        found = minimize(value_and_slope, first.ravel(), jac=True, method="L-BFGS-B", options=options)
        if found.status == 1:
            warnings.warn(
                f"not converged after {self.max_iterations} iterations: raise l2 or max_iterations",
                stacklevel=2,
            )
        coef, level = unpacked(found.x)
        return coef, level - np.array([(one * rows.center).sum() for one in coef])

    @property
    def _worths(self) -> Values:
        return self.levels_ if self.worth == "label" else gains_of(self.levels_, "exp2")

    def _slopes(self) -> Values:
        """How the score changes with each output, where all are 0."""
        if self.kind == "binary":
            return np.ones(1)
        if self.kind == "ordinal":
            return np.diff(self._worths) / 4.0
        return np.asarray((self._worths - self._worths.mean()) / len(self._worths))

    def _predict(self, X: Features) -> Scores:
        if self.kind == "binary":
            return super()._predict(X)
        pairs = zip(self.output_coef_, self.output_intercept_, strict=True)
        outputs = np.stack([weighted_sums(X, coef) + intercept for coef, intercept in pairs])
        if self.kind == "ordinal":
            return ordinal.expected_worth(-outputs, self._worths)  # which wants P(label ≤ k)
        return multinomial.expected_worth(outputs, self._worths)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super()._state()
        models = {"output_coef": self.output_coef_, "output_intercept": self.output_intercept_}
        return facts, {**arrays, **models, "levels": self.levels_}

    def _set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._set_state(facts, arrays)
        self.output_coef_ = arrays["output_coef"]
        self.output_intercept_ = arrays["output_intercept"]
        self.levels_ = arrays["levels"]
        if self.output_coef_.shape != (len(self._slopes()), self.n_features_in_):
            raise ValueError(f"weights of shape {self.output_coef_.shape} for {self.n_features_in_} features")


@dataclass(frozen=True)
class _Rows:
    """Documents, their weights (which sum to 1), and the basis in which losses of them bend alike."""

    X: Features
    weights: Values
    l2: float
    center: Values
    basis: Values

    @classmethod
    def of(cls, X: Features, weights: Values, l2: float) -> _Rows:
        total = weights.sum()
        weights, l2 = weights / total, l2 / total
        center = weighted_means(X, weights)
        bound = gram(X, weights, center) / 4.0
        bound[np.diag_indices_from(bound)] += l2
        return cls(X, weights, l2, center, whitening(bound))


def _logistic_loss(is_above: NDArray[np.bool_], weights: Values) -> Loss:
    target = is_above.astype(np.float64)

    def loss(outputs: Values) -> tuple[float, Values]:
        each = np.logaddexp(0.0, outputs) - target * outputs
        return float((weights * each).sum()), weights * (expit(outputs) - target)

    return loss


def _softmax_loss(codes: Codes, weights: Values) -> Loss:
    each = np.arange(len(codes))

    def loss(outputs: Values) -> tuple[float, Values]:
        losses = logsumexp(outputs, axis=0) - outputs[codes, each]
        slope = multinomial.class_probabilities(outputs)
        slope[codes, each] -= 1.0
        return float((weights * losses).sum()), weights * slope

    return loss
