"""What measures do: their values of the same lists, how they correlate, and where they disagree.

Modrý 2014, 3.3.3, for any lists and measures. A pair of lists is *ordered differently* when one measure puts
the first above the second and the other the second above the first; a pair that one of them leaves tied is
none. The clearest example of such a pair is the one with the largest smaller difference, differences counted
in standard deviations of their measure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from pomona._types import Values
from pomona.errors import InputError
from pomona.experiments.analysis.pooled import KEYS
from pomona.experiments.results import Results
from pomona.measures.base import Measure
from pomona.measures.judge import asked_for, judge, scored_queries
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure as parse_measure

MOST_ORDERS = 5_040
"""Orders of one list of labels that are judged, as many as of seven different labels."""
N_EXAMPLES = 3
"""Examples of a disagreement, of every two measures."""
_DIGITS = 12
"""By which values are told apart: further ones depend on the order of additions."""


@dataclass(frozen=True)
class MeasureComparison:
    """Measures compared by their values of the same lists.

    Attributes
    ----------
    measures : as they were asked for.
    values : one row a list: its name, then the value by every measure.
    correlations : every two measures: Pearson's, Spearman's and Kendall's (τ_b) coefficient, null where one
        of the measures gives the same value to all lists.
    disagreements : every two measures: the pairs of lists that both tell apart, and those they order
        differently.
    examples : the clearest of those: `first` prefers the list `above`, `second` the list `below`.
    is_ordered : whether the lists came in an order that means something.
    n_left_out : of a comparison, the lists of queries without a relevant document: every measure gives them
        one value, which would only make measures look alike.
    """

    measures: list[str]
    values: pl.DataFrame
    correlations: pl.DataFrame
    disagreements: pl.DataFrame
    examples: pl.DataFrame
    is_ordered: bool = True
    n_left_out: int = 0

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by name."""
        names = ("values", "correlations", "disagreements", "examples")
        return {name: getattr(self, name) for name in names}


def compare_measures(
    lists: Sequence[ArrayLike] | Mapping[str, ArrayLike], measures: Sequence[str | Measure]
) -> MeasureComparison:
    """Compare measures by their values of ranked lists of labels, best rank first, perhaps with names.

    >>> compared = compare_measures([[1, 0, 0], [0, 1, 0], [0, 0, 1]], ["rr", "p@2"])
    >>> compared.values["rr"].to_list(), compared.disagreements["n_different"].to_list()
    ([1.0, 0.5, 0.3333333333333333], [0])
    """
    named = lists if isinstance(lists, Mapping) else {_written(labels): labels for labels in lists}
    if len(named) < 2:
        raise InputError(f"found {len(named)} different lists, expected at least two to compare")
    if not measures:
        raise InputError("no measure was asked for")
    ranked = RankedLists.of_labels(list(named.values()))
    columns = {name: measure.of_lists(ranked) for name, measure in asked_for(measures)[0].items()}
    return _compared(pl.DataFrame({"list": list(named)}), columns, is_ordered=True)


def all_orders(labels: Sequence[float]) -> list[tuple[float, ...]]:
    """Every distinct order of labels, in descending lexicographic order.

    >>> all_orders([0, 1, 1])
    [(1, 1, 0), (1, 0, 1), (0, 1, 1)]
    """
    n_orders = math.factorial(len(labels)) // math.prod(map(math.factorial, Counter(labels).values()))
    if n_orders > MOST_ORDERS:
        raise InputError(
            f"these {len(labels)} labels have {n_orders:,} distinct orders, at most {MOST_ORDERS:,} are "
            "compared: give fewer labels, or a file with the orders that matter, one a line"
        )
    return list(_orders(sorted(labels, reverse=True)))


def _orders(labels: list[float]) -> Iterator[tuple[float, ...]]:
    if not labels:
        yield ()
    for label in dict.fromkeys(labels):
        rest = labels.copy()
        rest.remove(label)
        for tail in _orders(rest):
            yield (label, *tail)


def compare_measures_of(results: Results, measures: Sequence[str] = ()) -> MeasureComparison:
    """Compare measures by a comparison's rankings: a list is what a ranker made of a test query.

    Bounds are left out, and so are queries without a relevant document, which all measures value alike. A
    measure that the comparison was judged by is taken as it was kept; for others the data are read again.
    """
    kept = [name for name in results.values.columns if name not in KEYS]
    runs = results.runs.filter(state="done", is_bound=False).select("dataset", "fold", "ranker", "seed")
    test = results.values.filter(part="test").join(runs, on=runs.columns, how="semi", maintain_order="left")
    if test.is_empty():
        raise InputError("no run of this comparison is finished, so there are no lists to compare")
    n_lists = len(test)
    empty = results.queries.filter(n_relevant=0).select("dataset", "fold", "qid")
    test = test.join(empty, on=empty.columns, how="anti", maintain_order="left")
    if test.is_empty():
        raise InputError("no test query of this comparison has a relevant document, so measures tell nothing")
    spec = results.spec
    main = (results.columns[text, name] for name in spec.conventions for text in spec.measures)
    wanted = list(measures or dict.fromkeys(main))
    frames = [test.select(*KEYS, *(name for name in wanted if name in kept))]
    others = [name for name in wanted if name not in kept]
    if others:
        judged = pl.concat(_judged(results, run, others) for run in runs.iter_rows(named=True))
        frames.append(test.select(KEYS).join(judged, on=KEYS, how="left", maintain_order="left").drop(KEYS))
    frame = pl.concat(frames, how="horizontal")
    several = [name for name in ("dataset", "fold", "seed") if frame[name].n_unique() > 1]
    name = pl.format("{} on query {}", "ranker", "qid")
    for key in several:
        name = pl.format(f"{{}}, {key} {{}}", name, key)
    values = {one: frame[one].to_numpy() for one in wanted}
    found = _compared(frame.select(name.alias("list")), values, is_ordered=False)
    return replace(found, n_left_out=n_lists - len(test))


def _judged(results: Results, run: Mapping[str, Any], measures: Sequence[str]) -> pl.DataFrame:
    """The test values of a run by measures that were not kept."""
    data = results.test_data(run["dataset"], run["fold"])
    scores = results.scores(**run)
    judged = judge(scored_queries(data, scores), [parse_measure(one) for one in measures])
    values = {text: one.values for text, one in zip(measures, judged, strict=True)}
    keys = {**run, "part": "test", "qid": data.qids.astype(np.str_).tolist()}
    return pl.DataFrame({**keys, **values}).select(*KEYS, *measures)


def _compared(lists: pl.DataFrame, values: Mapping[str, Values], *, is_ordered: bool) -> MeasureComparison:
    names = lists["list"].to_list()
    correlations: list[dict[str, Any]] = []
    disagreements: list[dict[str, Any]] = []
    examples: list[dict[str, Any]] = []
    for first, second in combinations(values, 2):
        x, y = (np.round(values[one], _DIGITS) for one in (first, second))
        pair = {"first": first, "second": second}
        kendall, n_both, n_different = _agreement(x, y)
        correlations.append({**pair, **_linear(x, y), "kendall": kendall})
        share = n_different / n_both if n_both else None
        disagreements.append({**pair, "n_pairs": n_both, "n_different": n_different, "share": share})
        for above, below in _clearest(x, y) if n_different else ():
            prefers = {"above": names[above], "below": names[below]}
            by_first = {"first_above": x[above], "first_below": x[below]}
            examples.append(
                {**pair, **prefers, **by_first, "second_above": y[above], "second_below": y[below]}
            )
    return MeasureComparison(
        list(values),
        lists.with_columns(**{name: pl.Series(column) for name, column in values.items()}),
        _table(correlations, pearson=pl.Float64, spearman=pl.Float64, kendall=pl.Float64),
        _table(disagreements, n_pairs=pl.Int64, n_different=pl.Int64, share=pl.Float64),
        _table(
            examples,
            above=pl.String,
            below=pl.String,
            first_above=pl.Float64,
            first_below=pl.Float64,
            second_above=pl.Float64,
            second_below=pl.Float64,
        ),
        is_ordered,
    )


def _table(rows: list[dict[str, Any]], **columns: Any) -> pl.DataFrame:
    """Rows about two measures."""
    return pl.DataFrame(rows, {"first": pl.String, "second": pl.String, **columns})


def _linear(x: Values, y: Values) -> dict[str, float | None]:
    """Pearson's and Spearman's coefficients, where both vary."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return {"pearson": None, "spearman": None}
    pearson = float(np.corrcoef(x, y)[0, 1])
    return {"pearson": pearson, "spearman": float(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1])}


def _agreement(x: Values, y: Values) -> tuple[float | None, int, int]:
    """(τ_b, the pairs that both tell apart, those of them that they order differently)."""
    n_pairs = math.comb(len(x), 2)
    tied = [_n_tied(x), _n_tied(y), _n_tied(np.stack((x, y), axis=1))]
    apart = [n_pairs - n for n in tied[:2]]
    n_both = n_pairs - tied[0] - tied[1] + tied[2]
    if min(apart) == 0:
        return None, n_both, 0
    tau = float(stats.kendalltau(x, y).statistic)
    # (agreeing − differing) / √(apart in x · apart in y), and agreeing + differing is known.
    return tau, n_both, round((n_both - tau * math.sqrt(apart[0] * apart[1])) / 2)


def _n_tied(values: NDArray[np.float64]) -> int:
    """How many pairs of rows are equal."""
    counts = np.unique(values, axis=0, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _clearest(x: Values, y: Values) -> Iterator[tuple[int, int]]:
    """Pairs that x and y order differently, as (what x prefers, what y prefers), no list twice."""
    left = np.arange(len(x))
    x, y = x / x.std(), y / y.std()
    for _ in range(N_EXAMPLES):
        if len(left) < 2:
            return
        # A list with more x and less y than another makes any pair clearer: only the fronts need be tried.
        above, below = _front(x[left], -y[left]), _front(-x[left], y[left])
        by_x = x[left[above]][:, None] - x[left[below]]
        by_y = y[left[below]] - y[left[above]][:, None]
        clear = np.minimum(by_x, by_y)
        best = np.unravel_index(clear.argmax(), clear.shape)
        if clear[best] <= 0:
            return
        chosen = int(left[above[best[0]]]), int(left[below[best[1]]])
        yield chosen
        left = left[~np.isin(left, chosen)]


def _front(x: Values, y: Values) -> NDArray[np.int64]:
    """The places of the points of which no other has both a larger x and a larger y, of equals the first."""
    order = np.lexsort((np.arange(len(x)), -y, -x))
    highest = np.maximum.accumulate(y[order])
    is_front = np.concatenate(([True], y[order][1:] > highest[:-1]))
    return order[is_front]


def _written(labels: ArrayLike) -> str:
    """A list of labels as one writes it.

    >>> _written([4, 3, 0.5])
    '4 3 0.5'
    """
    return " ".join(f"{label:g}" for label in np.asarray(labels, np.float64))
