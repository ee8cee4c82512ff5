"""Forward selection: the smallest sets of features that rank well together.

    S_0 = ∅,   S_{m+1} = S_m ∪ {f},   f the feature with which LinearRegression, fitted to the training
    queries on S_m ∪ {f}, has the highest measure on the validation queries (the first of equals)

Each fold selects by its own validation queries alone, so that its test queries stay unseen: folds may select
different features. The second moments of all features are summed once, and every subset's weights are those
that LinearRegression learns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold
from pomona.measures.base import Measure
from pomona.rankers.evaluator import RankingEvaluator, with_fair_ties
from pomona.rankers.linear.linear_regression import LinearRegression
from pomona.rankers.linear.sums.feature_sums import feature_sums
from pomona.rankers.linear.sums.gram import combined, gram, weighted_means, whitening

N_STEPS = 10
_SCHEMA: dict[str, Any] = {
    "fold": pl.Int64, "n_features": pl.Int64, "feature": pl.String, "valid": pl.Float64, "test": pl.Float64,
}  # fmt: skip


class _Regression:
    """LinearRegression on subsets of features, from moments that are summed once."""

    def __init__(self, train: Dataset, l2: float) -> None:
        X, target = train.X, train.y.astype(np.float64)
        weights = np.ones(len(X)) if train.weight is None else train.weight.astype(np.float64)
        used = (weights > 0) & ~np.isnan(target)  # a document that was not judged has no term
        if not used.all():
            X, target, weights = X[used], target[used], weights[used]
        center, level = weighted_means(X, weights), float((weights * target).sum() / weights.sum())
        self._matrix = gram(X, weights, center)
        self._matrix[np.diag_indices_from(self._matrix)] += l2
        self._slope = feature_sums(X, weights * (target - level), center)
        self.varying: list[int] = np.flatnonzero(np.diag(self._matrix) > l2).tolist()
        """The features that are not constant in every query, and so may have a weight."""

    def weights(self, features: list[int]) -> Values:
        """The weights of these features."""
        matrix, slope = self._matrix[np.ix_(features, features)], self._slope[features]
        basis, coef = whitening(matrix), np.zeros(len(features))
        for _ in range(2):  # solve, then once more for what is left
            coef = coef + combined(basis.T, combined(basis, slope - matrix @ coef))
        return coef


def forward_selection(
    fold: Fold,
    measure: Measure,
    number: int = 1,
    *,
    n_steps: int = N_STEPS,
    watch: Callable[[float], Any] = lambda share: None,
) -> pl.DataFrame:
    """Select features on one fold: a row a step, with the measure of validation and of test queries.

    number : of the fold, for the table.
    watch : hears the share that is done.
    """
    assert fold.valid is not None
    names, ranker = fold.train.feature_names, LinearRegression()
    train, valid, test = (
        ranker.prepared(part.with_features(names).gathered()) for part in (fold.train, fold.valid, fold.test)
    )
    regression, fair = _Regression(train, ranker.l2), with_fair_ties(measure)
    on_valid, on_test = RankingEvaluator(valid, fair), RankingEvaluator(test, fair)
    columns = np.ascontiguousarray(valid.X.T)
    chosen: list[int] = []
    rows: list[dict[str, Any]] = []
    n_steps = min(n_steps, len(regression.varying))
    for step in range(n_steps):
        candidates = [f for f in regression.varying if f not in chosen]
        values = [on_valid.mean(_scores(columns, [*chosen, f], regression)) for f in candidates]
        best = int(np.argmax(values))
        chosen.append(candidates[best])
        in_test = on_test.mean(_scores(test.X.T, chosen, regression))
        judged = {"valid": values[best], "test": in_test}
        rows.append({"fold": number, "n_features": step + 1, "feature": names[chosen[-1]], **judged})
        watch((step + 1) / n_steps)
    return pl.DataFrame(rows, schema=_SCHEMA)


def _scores(columns: NDArray[np.float32], features: list[int], regression: _Regression) -> Scores:
    total = np.zeros(columns.shape[1])
    for feature, weight in zip(features, regression.weights(features).tolist(), strict=True):
        if weight != 0:
            total += columns[feature] * weight
    return total


def selection_means(selection: pl.DataFrame) -> pl.DataFrame:
    """The means over folds after each step, and which features the folds chose in it."""
    steps = selection.group_by("n_features", maintain_order=True).agg(
        pl.col("feature"), pl.mean("valid", "test"), pl.len().alias("folds")
    )
    chosen = [
        ", ".join(name if n == 1 else f"{name} ×{n}" for name, n in Counter(features).most_common())
        for features in steps["feature"].to_list()
    ]
    return steps.with_columns(pl.Series("feature", chosen, dtype=pl.String)).sort("n_features")
