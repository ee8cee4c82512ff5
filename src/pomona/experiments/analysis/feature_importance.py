"""What features do in a model that is fitted: how much its measure falls when their values are shuffled.

    within    a feature's values are shuffled inside each query: what it says of documents is lost
    across    … over all queries: what it says of queries is lost as well

Each is a mean over shuffles and queries, with a bootstrap interval over queries: a feature whose interval has
0 in it may be useless. Features that say the same cover for each other: shuffled alone neither loses much. A
group of them, shuffled by the same order, does; `separate`, the sum of what its features lose one by one, far
below what the group loses tells of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pomona._types import Offsets, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, UnknownNameError
from pomona.experiments.analysis.feature_forest import shuffled_orders
from pomona.measures.base import Measure
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import Ranker
from pomona.rankers.evaluator import RankingEvaluator, with_fair_ties
from pomona.rankers.inputs import aligned
from pomona.stats.bootstrap import Resampled


@dataclass(frozen=True)
class FeatureImportance:
    """What each feature does in a model.

    Attributes
    ----------
    value : the measure of the queries, features as they are.
    table : a row a feature or group, the largest loss within queries first: `within`, `across`, the ends of
        their intervals (`low`, `high`, `across_low`, `across_high`), how many features it is, and of a group
        `separate`.
    interrupted : whether Ctrl-C ended it: the table has what was done by then.
    """

    measure: str
    n_queries: int
    value: float
    table: pl.DataFrame
    interrupted: bool = False


def permutation_importance(
    ranker: Ranker,
    data: Dataset,
    measure: str | Measure | None = None,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    n_shuffles: int = 5,
    seed: int = 0,
) -> pl.DataFrame:
    """How much a fitted ranker's measure of these queries falls when a feature's values are shuffled.

    Works for every ranker, also for models of other trainers (`load_model`, `from_model`). Give queries that
    it was not trained on.

    Parameters
    ----------
    measure : the ranker's if left out.
    groups : names of features, by the name of a group: shuffled together, after the single ones.

    >>> import pomona as pm
    >>> data = Dataset([[1, 5], [2, 5], [3, 5], [1, 7], [3, 7]], [0, 1, 2, 0, 1], [1, 1, 1, 2, 2])
    >>> table = permutation_importance(pm.LinearRegression().fit(data), data)
    >>> table.select("feature", pl.col("within") > 0).rows()
    [('f1', True), ('f2', False)]
    """
    found = examine_importance(ranker, data, measure, groups=groups, n_shuffles=n_shuffles, seed=seed)
    if found.interrupted:
        raise KeyboardInterrupt
    return found.table


def examine_importance(
    ranker: Ranker,
    data: Dataset,
    measure: str | Measure | None = None,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    n_shuffles: int = 5,
    seed: int = 0,
    watch: Callable[[float], Any] = lambda share: None,
) -> FeatureImportance:
    """As `permutation_importance`, with the value that falls; `watch` hears the share that is done."""
    ranker.check_fitted()
    if n_shuffles < 1:
        raise InputError(f"found {n_shuffles} shuffles, expected at least 1")
    if not data.n_docs:
        raise InputError("found no document, expected queries to judge")
    rows = aligned(data, ranker.feature_names_, ranker.categories_, "data").gathered()
    judge = ranker.parsed_measure if measure is None else parse_measure(measure)
    units = {name: [j] for j, name in enumerate(rows.feature_names)} | _groups(groups, rows.feature_names)
    evaluator, orders = RankingEvaluator(rows, with_fair_ties(judge)), shuffled_orders(rows, n_shuffles, seed)
    scores = _shuffled_scores(ranker, rows, orders)
    whole = evaluator.values(_scores(ranker, rows))
    losses: dict[str, Values] = {}
    is_interrupted = False
    try:
        for number, (name, columns) in enumerate(units.items(), 1):
            judged = np.stack([evaluator.values(one) for one in scores(columns)])
            losses[name] = whole - judged.reshape(2, n_shuffles, -1).mean(axis=1)
            watch(number / len(units))
    except KeyboardInterrupt:
        is_interrupted = True
    table = _table(losses, units, rows.feature_names, seed)
    return FeatureImportance(str(judge), rows.n_queries, float(whole.mean()), table, is_interrupted)


def _groups(groups: Mapping[str, Sequence[str]] | None, names: Sequence[str]) -> dict[str, list[int]]:
    known = {name: j for j, name in enumerate(names)}
    for group, members in (groups or {}).items():
        if group in known:
            raise InputError(f"group {group!r} is called as a feature is: give it another name")
        if unknown := [name for name in members if name not in known]:
            raise UnknownNameError(f"feature of group {group}", unknown[0], names)
        if not members:
            raise InputError(f"group {group!r} has no feature, expected one at least")
    return {group: [known[name] for name in members] for group, members in (groups or {}).items()}


def _scores(ranker: Ranker, rows: Dataset) -> Scores:
    return rows.from_input_order(ranker.predict(rows))


def _shuffled_scores(
    ranker: Ranker, rows: Dataset, orders: Sequence[Offsets]
) -> Callable[[list[int]], Iterator[Scores]]:
    """What gives the scores with some columns in each of these orders."""

    def of_any(columns: list[int]) -> Iterator[Scores]:
        for order in orders:
            X = rows.X.copy()
            X[:, columns] = rows.X[order][:, columns]
            yield _scores(ranker, rows.replace(X=X))

    forest = _forest_of(ranker, rows)
    if forest is None:
        return of_any
    scorer = forest.permuted_scorer(rows.X)  # many times quicker, one feature at a time
    return lambda columns: of_any(columns) if len(columns) > 1 else iter(scorer.permuted(columns[0], orders))


def _forest_of(ranker: Ranker, rows: Dataset) -> Any:
    """The forest whose scores are the ranker's, if there is one."""
    try:
        forest = ranker.portable()
    except InputError:
        return None
    if not hasattr(forest, "permuted_scorer") or ranker.scores_whole_queries:
        return None
    return forest if np.array_equal(forest.score(rows.X), _scores(ranker, rows)) else None


def _table(
    losses: Mapping[str, Values], units: Mapping[str, list[int]], names: Sequence[str], seed: int
) -> pl.DataFrame:
    kinds = {"feature": pl.String, "n_features": pl.Int64}
    kinds |= dict.fromkeys(("within", "low", "high", "across", "across_low", "across_high"), pl.Float64)
    kinds |= {"separate": pl.Float64}
    if not losses:
        return pl.DataFrame(schema=kinds)
    means = {name: loss.mean(axis=1) for name, loss in losses.items()}
    ends = np.stack(Resampled.of(np.concatenate(list(losses.values())), seed=seed).intervals(), axis=1)
    rows = []
    for name, (within, across) in zip(losses, ends.reshape(-1, 2, 2), strict=True):
        mean, members = means[name], units[name]
        known = all(names[j] in means for j in members)
        separate = float(sum(means[names[j]][0] for j in members)) if known and name not in names else None
        rows.append((name, len(members), mean[0], *within, mean[1], *across, separate))
    table = pl.DataFrame(rows, schema=kinds, orient="row").with_columns(pl.selectors.float().fill_nan(None))
    return table.sort("within", descending=True, maintain_order=True)
