"""How much a measure tells: relevance inferred from its value alone, by the principle of maximum entropy.

Yilmaz & Robertson 2009, 3.2–3.3: of a list, only its length, its numbers of documents of each label and the
value of a measure are told. The distribution of largest entropy that fits gives every rank a chance of
relevance, and so a precision–recall curve. The nearer it comes to the actual curve, the more the value told.
A list is its own pool: where a run misses relevant documents, R is the number in the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from pomona._jit import over_chunks
from pomona._types import Offsets, Values
from pomona.errors import InputError
from pomona.experiments.analysis._entropy_kernels import curve_errors, infer_positions, infer_precisions
from pomona.measures.base import Measure
from pomona.measures.closed_form import POSITION, PRECISION, ClosedForm
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure as parse_measure

RELEVANT = 1.0
"""The smallest relevant label."""
MEASURES = ("ap", "ndcg", "p@10")
_DIGITS = 6
"""By which systems are told apart: what is inferred is no more exact."""


def infer_relevance(measure: str | Measure, value: float, labels: ArrayLike) -> Values:
    """The chance of each rank to hold a relevant document, given the value of a measure and nothing else.

    Parameters
    ----------
    measure : average precision, or a sum over ranks such as `ndcg`, `p@10`, `rbp(p=0.8)`.
    value : what the list is worth by it.
    labels : those of the documents, in any order: only how many there are of each is used. From 1 on they are
        relevant.

    >>> infer_relevance("ap", 0.9, [1, 1, 0, 0, 0]).round(4).tolist()
    [0.8578, 0.5547, 0.3079, 0.1727, 0.1069]
    >>> infer_relevance("p@2", 0.5, [1, 1, 0, 0]).round(4).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    one, ordered = parse_measure(measure), np.sort(np.asarray(labels, np.float64).ravel())
    if not ordered.size:
        raise InputError("there are no labels, expected those of the documents of a list")
    both = RankedLists.of_labels([ordered, ordered[::-1]])
    _usable_form(one, both)
    least, largest = one.of_lists(both).tolist()
    if not least - 1e-9 <= value <= largest + 1e-9:
        raise InputError(f"{one} of these labels lies between {least:g} and {largest:g}, found {value:g}")
    chance, (is_found,) = _inferred(RankedLists.of_labels([ordered]), one, np.array([float(value)]))
    if not is_found:
        raise InputError(
            f"no distribution was found with {one} = {value:g}, which is near its least, {least:g}"
        )
    return chance


def _inferred(lists: RankedLists, measure: Measure, values: Values) -> tuple[Values, NDArray[np.bool_]]:
    """(n_docs,) The chance of every place of every list to hold a relevant document; (n,) if it was found."""
    form = _usable_form(measure, lists)
    out = np.empty(len(lists.codes)), np.empty(lists.n_queries)
    is_relevant = lists.levels >= RELEVANT
    n_relevant = lists.pool_count(is_relevant)
    if form.kind == PRECISION:
        counts = n_relevant.astype(np.int64)
        over_chunks(infer_precisions, lists.n_queries, lists.query_ptr, counts, values, *out, smallest=8)
        return out[0], np.isfinite(out[1])
    # A list whose value no order changes tells nothing: every rank is as good as another.
    tells = (form.normalizer > 0) & np.isfinite(form.normalizer)
    target = values * np.where(tells, form.normalizer, 0.0)
    rules = (lists.codes, lists.query_ptr, form.level_values, is_relevant, form.weight, target)
    over_chunks(infer_positions, lists.n_queries, *rules, *out, smallest=8)
    even = np.repeat(n_relevant / np.maximum(lists.lengths, 1), lists.lengths)
    return np.where(np.repeat(tells, lists.lengths), out[0], even), np.ones(lists.n_queries, np.bool_)


def _usable_form(measure: Measure, lists: RankedLists) -> ClosedForm:
    """The closed form of a measure that relevance can be inferred from."""
    form = measure.closed_form(lists)
    if form is None or form.kind not in (POSITION, PRECISION) or form.ceiling < np.inf:
        raise InputError(
            "relevance can be inferred from ap and from sums over ranks (ndcg@10, p@10, rbp …), "
            f"not from {measure}"
        )
    is_own = form.level_values > 0
    if form.kind == PRECISION and (
        not np.array_equal(is_own, lists.levels >= RELEVANT) or len(form.weight) < lists.longest
    ):
        raise InputError(f"{measure} must look at the whole list, and call labels from 1 on relevant: use ap")
    return form


@dataclass(frozen=True)
class Informativeness:
    """How much measures tell about the same lists.

    Attributes
    ----------
    measures : as they were asked for.
    n_top : the cut-off of PC.
    summary : one row a dataset and measure: RMS and MAE of the inferred precision–recall curves, means over
        lists; over systems, RMS and Kendall's τ between mean measure and mean PC, and between inferred and
        actual mean PC; numbers of lists, of those left out (none or all of their documents relevant), of
        those that no distribution was found for, and of those that miss a relevant document.
    systems : one row a dataset, system and measure: its mean value, mean PC and mean inferred PC.
    example : the actual and the inferred precision–recall curves of one list.
    """

    measures: list[str]
    n_top: int
    summary: pl.DataFrame
    systems: pl.DataFrame
    example: pl.DataFrame

    @property
    def datasets(self) -> list[str]:
        """Their names."""
        names: list[str] = self.summary["dataset"].unique(maintain_order=True).to_list()
        return names

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by name."""
        return {name: getattr(self, name) for name in ("summary", "systems", "example")}


Systems = Mapping[str, RankedLists]
"""The lists of every system, by its name."""


def informativeness(
    datasets: Mapping[str, Systems],
    measures: Sequence[str | Measure] = MEASURES,
    *,
    n_top: int = 10,
    watch: Callable[[str], None] = lambda system: None,
) -> Informativeness:
    """Infer relevance from the values of measures, and compare it with what it is.

    Parameters
    ----------
    datasets : for each dataset, the lists of each system.
    n_top : the cut-off of PC, the precision whose means Yilmaz and Robertson correlate with.
    watch : called with the name of each system, for each measure, before it is looked at.
    """
    if not measures:
        raise InputError("no measure was asked for")
    if n_top < 1:
        raise InputError(f"the cut-off must be at least 1, found {n_top}")
    summary, systems, example = [], [], pl.DataFrame()
    for dataset, given in datasets.items():
        kept = {name: _usable(lists) for name, lists in given.items()}
        n_lists = sum(lists.n_queries for lists in given.values())
        if not any(lists.n_queries for lists in kept.values()):
            raise InputError(
                f"none of the {n_lists} lists of {dataset} has both relevant and irrelevant documents: "
                "nothing could be inferred"
            )
        rows = [row for one in measures for row in _of_systems(kept, parse_measure(one), n_top, watch)]
        systems += [{"dataset": dataset, **row} for row in rows]
        n_kept, n_incomplete = (
            sum(map(f, kept.values())) for f in (lambda one: one.n_queries, _n_incomplete)
        )
        for one in map(str, map(parse_measure, measures)):
            own = [row for row in rows if row["measure"] == one]
            n_found = sum(row["n_lists"] for row in own)
            counts = {"n_lists": n_found, "n_unsolved": n_kept - n_found, "n_incomplete": n_incomplete}
            counts["n_left_out"] = n_lists - n_kept
            summary.append({"dataset": dataset, "measure": one, **_summary(own), **counts})
        if example.is_empty():
            example = _example(dataset, kept, [parse_measure(one) for one in measures], rows)
    columns = ("dataset", "system", "measure", "value", "pc", "inferred_pc", "rms", "mae", "n_lists")
    return Informativeness(
        list(map(str, map(parse_measure, measures))),
        n_top,
        pl.DataFrame(summary, infer_schema_length=None),
        pl.DataFrame(systems, infer_schema_length=None).select(columns),
        example,
    )


def _usable(lists: RankedLists) -> RankedLists:
    """The lists with both relevant and irrelevant documents."""
    n_relevant = _n_relevant(lists)
    wanted = np.flatnonzero((n_relevant > 0) & (n_relevant < lists.lengths))
    return _taken(lists, wanted)


def _taken(lists: RankedLists, wanted: NDArray[np.int64]) -> RankedLists:
    codes, query_ptr = _rows(lists.codes, lists.query_ptr, wanted)
    pool_codes, pool_ptr = _rows(lists.pool_codes, lists.pool_ptr, wanted)
    return RankedLists(codes, query_ptr, lists.levels, pool_codes, pool_ptr)


def _rows(codes: Any, ptr: Offsets, wanted: NDArray[np.int64]) -> tuple[Any, Offsets]:
    lengths = np.diff(ptr)
    new_ptr = np.concatenate(([0], np.cumsum(lengths[wanted]))).astype(np.int64)
    is_wanted = np.zeros(len(lengths), np.bool_)
    is_wanted[wanted] = True
    return codes[np.repeat(is_wanted, lengths)], new_ptr


def _own_pools(lists: RankedLists) -> RankedLists:
    """The same lists, each the whole of what could be found."""
    return RankedLists.of_documents(lists.levels[lists.codes], lists.query_ptr)


def _n_relevant(lists: RankedLists) -> Values:
    """Relevant documents in each list."""
    own = _own_pools(lists)
    return own.pool_count(own.levels >= RELEVANT)


def _n_incomplete(lists: RankedLists) -> int:
    """Lists that miss a relevant document of their pool."""
    return int((lists.pool_count(lists.levels >= RELEVANT) > _n_relevant(lists)).sum())


def _errors(lists: RankedLists, measure: Measure, n_top: int) -> tuple[Values, Values, Values]:
    """(the value of each list; its errors, actual and inferred PC (n, 4), NaN where nothing was found; the
    chance of every place)."""
    own = _own_pools(lists)
    values = measure.of_lists(own)
    chance, is_found = _inferred(own, measure, values)
    errors, is_relevant = np.empty((own.n_queries, 4)), own.levels[own.codes] >= RELEVANT
    over_chunks(curve_errors, own.n_queries, own.query_ptr, is_relevant, chance, n_top, errors, smallest=64)
    errors[~is_found] = np.nan
    return values, errors, chance


def _of_systems(
    kept: Systems, measure: Measure, n_top: int, watch: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    for name, lists in kept.items():
        watch(name)
        if lists.n_queries:
            values, errors, _ = _errors(lists, measure, n_top)
            is_found = np.isfinite(errors[:, 0])
            if not is_found.any():
                continue
            rms, mae, pc, inferred_pc = errors[is_found].mean(axis=0).tolist()
            means = {"value": float(values[is_found].mean()), "pc": pc, "inferred_pc": inferred_pc}
            system = {"system": name, "measure": str(measure), "n_lists": int(is_found.sum())}
            yield {**system, **means, "rms": rms, "mae": mae, "list_rms": errors[:, 0]}


def _summary(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """What one measure tells over all systems."""
    weights = np.array([row["n_lists"] for row in rows])
    value, pc, inferred = (np.array([row[name] for row in rows]) for name in ("value", "pc", "inferred_pc"))
    return {
        "rms": float(np.average([row["rms"] for row in rows], weights=weights)),
        "mae": float(np.average([row["mae"] for row in rows], weights=weights)),
        "rms_to_pc": float(np.sqrt(np.mean((value - pc) ** 2))),
        "tau_to_pc": _tau(value, pc),
        "rms_of_inferred_pc": float(np.sqrt(np.mean((inferred - pc) ** 2))),
        "tau_of_inferred_pc": _tau(inferred, pc),
    }


def _tau(x: Values, y: Values) -> float | None:
    """Kendall's τ_b, where both tell systems apart."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(stats.kendalltau(np.round(x, _DIGITS), np.round(y, _DIGITS)).statistic)


def _example(
    dataset: str, kept: Systems, measures: list[Measure], rows: list[dict[str, Any]]
) -> pl.DataFrame:
    """The list whose error by the first measure is in the middle, of those that make a curve one can read."""
    first = [row for row in rows if row["measure"] == str(measures[0])]
    places = [(row["system"], q, error) for row in first for q, error in enumerate(row["list_rms"].tolist())]
    places = [place for place in places if np.isfinite(place[2])]
    counts = {name: _n_relevant(lists) for name, lists in kept.items()}
    every = sorted((error, name, q) for name, q, error in places)
    readable = [place for place in every if 5 <= counts[place[1]][place[2]] <= 20] or every
    _, name, query = readable[len(readable) // 2]
    one = _taken(kept[name], np.array([query]))
    labels = one.levels[one.codes]
    relevant = (labels >= RELEVANT).astype(np.float64)
    curves = {"actual": relevant}
    curves |= {f"from {measure}": _errors(one, measure, 1)[2] for measure in measures}
    frames = [_curve(title, chance, relevant) for title, chance in curves.items()]
    about = (
        f"{name} on list {query + 1} of {dataset}: {len(labels)} documents, {int(relevant.sum())} relevant"
    )
    return pl.concat(frames).with_columns(about=pl.lit(about))


def _curve(title: str, chance: Values, relevant: Values) -> pl.DataFrame:
    found, ranks = np.cumsum(chance), np.arange(1, len(chance) + 1)
    curve = {"recall": found / relevant.sum(), "precision": found / ranks}
    frame = pl.DataFrame({"curve": [title] * len(ranks), "rank": ranks, **curve})
    return frame.filter(pl.Series(relevant > 0)) if title == "actual" else frame
