"""How much a measure tells: relevance inferred from its value alone, by the principle of maximum entropy.

Yilmaz & Robertson 2009, 3.2–3.3: of a list, only its length, its numbers of documents of each label and the
value of a measure are told. The distribution of largest entropy that fits gives every rank a chance of
relevance, and so a precision–recall curve. The nearer it comes to the actual curve, the more the value told.

A list may miss relevant documents: they stand at infinity. Measures divide by all R relevant documents of the
query and by its ideal, as `evaluate` does; the chances sum to the relevant documents that the list holds.
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
from pomona._types import Values
from pomona.errors import InputError
from pomona.experiments.analysis._entropy_kernels import curve_errors, infer_positions, infer_precisions
from pomona.experiments.analysis.ranked_system import taken
from pomona.measures.base import Measure
from pomona.measures.closed_form import POSITION, PRECISION, ClosedForm
from pomona.measures.judge import mean_in_order
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.measures.parse import measure as parse_measure

RELEVANT = 1.0
"""The smallest relevant label."""
MEASURES = ("ap", "ndcg", "p@10")
_DIGITS = 6
"""By which systems are told apart: what is inferred is no more exact."""


def infer_relevance(
    measure: str | Measure, value: float, labels: ArrayLike, *, judged: ArrayLike | None = None
) -> Values:
    """The chance of each rank to hold a relevant document, given the value of a measure and nothing else.

    Parameters
    ----------
    measure : average precision, or a sum over ranks such as `ndcg`, `p@10`, `rbp(p=0.8)`.
    value : what the list is worth by it.
    labels : those of the documents, in any order: only how many there are of each is used. From 1 on they are
        relevant.
    judged : labels of all documents that were judged for the query, where the list misses some: measures
        divide by all relevant documents, while the chances sum to those in the list.

    >>> infer_relevance("ap", 0.9, [1, 1, 0, 0, 0]).round(4).tolist()
    [0.8578, 0.5547, 0.3079, 0.1727, 0.1069]
    >>> infer_relevance("p@2", 0.5, [1, 1, 0, 0]).round(4).tolist()
    [0.5, 0.5, 0.5, 0.5]
    >>> infer_relevance("ap", 0.45, [1, 1, 0, 0, 0], judged=[1, 1, 1, 1, 0, 0, 0]).round(4).tolist()
    [0.8578, 0.5547, 0.3079, 0.1727, 0.1069]
    """
    one, ordered = parse_measure(measure), _labels(labels)
    if not ordered.size:
        raise InputError("there are no labels, expected those of the documents of a list")
    pool = ordered if judged is None else _labels(judged)
    _check_pool(ordered, pool)
    worst, best = (_one_list(ranked, pool) for ranked in (ordered, ordered[::-1]))
    _usable_form(one, worst)
    least, largest = (float(one.of_lists(lists)[0]) for lists in (worst, best))
    if not least - 1e-9 <= value <= largest + 1e-9:
        raise InputError(f"{one} of these labels lies between {least:g} and {largest:g}, found {value:g}")
    chance, (is_found,) = _inferred(worst, one, np.array([float(value)]))
    if not is_found:
        raise InputError(
            f"no distribution was found with {one} = {value:g}, which is near its least, {least:g}"
        )
    return chance


def _labels(labels: ArrayLike) -> Values:
    """Labels in rising order; one that is NaN is of a document that was not judged, as one below 0 is."""
    given = np.asarray(labels, np.float64).ravel()
    if np.isinf(given).any():
        raise InputError("a label is infinite, expected finite numbers")
    return np.sort(np.where(np.isnan(given), -1.0, given))


def _check_pool(labels: Values, pool: Values) -> None:
    """Every judged document of a list must be one of the query's."""
    for label in np.unique(labels[labels >= 0]):
        in_list, in_pool = int((labels == label).sum()), int((pool == label).sum())
        if in_list > in_pool:
            raise InputError(
                f"the list has {in_list} documents of label {label:g}, judged has {in_pool}: "
                "give the labels of all judged documents, those of the list included"
            )


def _one_list(labels: Values, pool: Values) -> RankedLists:
    """A ranked list, and all documents that were judged for its query."""
    scores, ends = -np.arange(float(len(labels))), np.array([0, len(labels)])
    return ScoredQueries(labels, scores, ends, None, pool, np.array([0, len(pool)])).ranked()


def _inferred(lists: RankedLists, measure: Measure, values: Values) -> tuple[Values, NDArray[np.bool_]]:
    """(n_docs,) The chance of every place of every list to hold a relevant document; (n,) if it was found."""
    form = _usable_form(measure, lists)
    out = np.empty(len(lists.codes)), np.empty(lists.n_queries)
    n_relevant = _n_relevant(lists)
    # A list whose value no order changes tells nothing: every rank is as good as another.
    tells = (form.normalizer > 0) & np.isfinite(form.normalizer) & (n_relevant > 0)
    target = values * np.where(tells, form.normalizer, 0.0)
    if form.kind == PRECISION:
        counts = np.where(tells, n_relevant, 0).astype(np.int64)
        own_value = np.divide(target, n_relevant, out=np.zeros(len(target)), where=tells)
        over_chunks(infer_precisions, lists.n_queries, lists.query_ptr, counts, own_value, *out, smallest=8)
    else:
        is_relevant = lists.levels >= RELEVANT
        rules = (lists.codes, lists.query_ptr, form.level_values, is_relevant, form.weight, target)
        over_chunks(infer_positions, lists.n_queries, *rules, *out, smallest=8)
    even = np.repeat(n_relevant / np.maximum(lists.lengths, 1), lists.lengths)
    is_found = np.isfinite(out[1]) | ~tells if form.kind == PRECISION else np.ones(lists.n_queries, np.bool_)
    return np.where(np.repeat(tells, lists.lengths), out[0], even), is_found


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
        lists with a curve; over systems, RMS and Kendall's τ between mean measure and mean PC, and between
        inferred and actual mean PC; numbers of lists with a curve, of those without (none or all of their
        documents relevant), of those that no distribution was found for, and of those that miss a relevant
        document of their query.
    systems : one row a dataset, system and measure: its mean value and mean PC over all its `n_queries`
        lists, as `evaluate` has them, its mean inferred PC, and the mean errors of its `n_lists` curves.
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
    parsed = {str(one): one for one in map(parse_measure, measures)}
    summary, systems, example = [], [], pl.DataFrame()
    for dataset, given in datasets.items():
        has_curve = {name: _has_curve(lists) for name, lists in given.items()}
        n_all = sum(lists.n_queries for lists in given.values())
        n_usable = sum(int(usable.sum()) for usable in has_curve.values())
        if not n_usable:
            raise InputError(
                f"none of the {n_all} lists of {dataset} has both relevant and irrelevant documents: "
                "nothing could be inferred"
            )
        rows = [row for one in parsed.values() for row in _of_systems(given, has_curve, one, n_top, watch)]
        systems += [{"dataset": dataset, **row} for row in rows]
        n_incomplete = sum(_n_incomplete(given[name], usable) for name, usable in has_curve.items())
        for one in parsed:
            own = [row for row in rows if row["measure"] == one]
            n_found = sum(row["n_lists"] for row in own)
            counts = {"n_lists": n_found, "n_unsolved": n_usable - n_found, "n_incomplete": n_incomplete}
            counts["n_left_out"] = n_all - n_usable
            summary.append({"dataset": dataset, "measure": one, **_summary(own), **counts})
        if example.is_empty():
            example = _example(dataset, given, list(parsed.values()), rows)
    columns = ("dataset", "system", "measure", "value", "pc", "inferred_pc", "rms", "mae")
    return Informativeness(
        list(parsed),
        n_top,
        pl.DataFrame(summary, infer_schema_length=None),
        pl.DataFrame(systems, infer_schema_length=None).select(*columns, "n_lists", "n_queries"),
        example,
    )


def _has_curve(lists: RankedLists) -> NDArray[np.bool_]:
    """Which lists hold both relevant and irrelevant documents, so that there is something to infer."""
    n_relevant = _n_relevant(lists)
    return (n_relevant > 0) & (n_relevant < lists.lengths)


def _n_relevant(lists: RankedLists) -> Values:
    """Relevant documents in each list."""
    own = RankedLists.of_documents(lists.levels[lists.codes], lists.query_ptr)
    return own.pool_count(own.levels >= RELEVANT)


def _n_incomplete(lists: RankedLists, wanted: NDArray[np.bool_]) -> int:
    """How many of the wanted lists miss a relevant document of their query."""
    misses = lists.pool_count(lists.levels >= RELEVANT) > _n_relevant(lists)
    return int((misses & wanted).sum())


def _errors(lists: RankedLists, measure: Measure, n_top: int) -> tuple[Values, Values, Values]:
    """(the value of each list; its errors, actual and inferred PC (n, 4), NaN where nothing was found; the
    chance of every place)."""
    values = measure.of_lists(lists)
    chance, is_found = _inferred(lists, measure, values)
    errors, is_relevant = np.empty((lists.n_queries, 4)), lists.levels[lists.codes] >= RELEVANT
    over_chunks(
        curve_errors, lists.n_queries, lists.query_ptr, is_relevant, chance, n_top, errors, smallest=64
    )
    errors[~is_found, :2], errors[~is_found, 3] = np.nan, np.nan
    return values, errors, chance


def _of_systems(
    given: Systems,
    has_curve: Mapping[str, NDArray[np.bool_]],
    measure: Measure,
    n_top: int,
    watch: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    for name, lists in given.items():
        watch(name)
        if not lists.n_queries:
            continue
        values, errors, _ = _errors(lists, measure, n_top)
        is_found = np.isfinite(errors[:, 3])
        curves = errors[has_curve[name] & is_found, :2]
        # Where all or none of a list is relevant, its inferred PC is the actual one.
        pc, inferred_pc = errors[:, 2], errors[is_found, 3]
        rms, mae = curves.mean(axis=0).tolist() if len(curves) else (None, None)
        yield {
            "system": name,
            "measure": str(measure),
            "value": mean_in_order(values),
            "pc": float(pc.mean()),
            "inferred_pc": float(inferred_pc.mean()) if len(inferred_pc) else None,
            "rms": rms,
            "mae": mae,
            "n_lists": len(curves),
            "n_queries": lists.n_queries,
            "pc_of_found": float(pc[is_found].mean()) if len(inferred_pc) else None,
            "list_rms": np.where(has_curve[name], errors[:, 0], np.nan),
        }


def _summary(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """What one measure tells over all systems."""
    value, pc = (np.array([row[name] for row in rows]) for name in ("value", "pc"))
    found = [row for row in rows if row["inferred_pc"] is not None]
    inferred, of_found = (np.array([row[name] for row in found]) for name in ("inferred_pc", "pc_of_found"))
    with_curves = [row for row in rows if row["n_lists"]]
    n_lists = np.array([row["n_lists"] for row in with_curves])
    rms, mae = (
        float(np.average([row[name] for row in with_curves], weights=n_lists)) if with_curves else None
        for name in ("rms", "mae")
    )
    return {
        "rms": rms,
        "mae": mae,
        "rms_to_pc": float(np.sqrt(np.mean((value - pc) ** 2))),
        "tau_to_pc": _tau(value, pc),
        "rms_of_inferred_pc": float(np.sqrt(np.mean((inferred - of_found) ** 2))) if found else None,
        "tau_of_inferred_pc": _tau(inferred, of_found),
    }


def _tau(x: Values, y: Values) -> float | None:
    """Kendall's τ_b, where both tell systems apart."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(stats.kendalltau(np.round(x, _DIGITS), np.round(y, _DIGITS)).statistic)


def _example(
    dataset: str, given: Systems, measures: list[Measure], rows: list[dict[str, Any]]
) -> pl.DataFrame:
    """The list whose error by the first measure is in the middle, of those that make a curve one can read."""
    first = [row for row in rows if row["measure"] == str(measures[0])]
    places = [(row["system"], q, error) for row in first for q, error in enumerate(row["list_rms"].tolist())]
    every = sorted((error, name, q) for name, q, error in places if np.isfinite(error))
    if not every:  # nothing was found by the first measure
        every = [
            (0.0, name, q)
            for name, lists in given.items()
            for q in np.flatnonzero(_has_curve(lists)).tolist()
        ]
    counts = {name: _n_relevant(lists) for name, lists in given.items()}
    readable = [place for place in every if 5 <= counts[place[1]][place[2]] <= 20] or every
    _, name, query = readable[len(readable) // 2]
    one = taken(given[name], np.array([query]))
    labels, (n_relevant,) = one.levels[one.codes], one.pool_count(one.levels >= RELEVANT).tolist()
    relevant = (labels >= RELEVANT).astype(np.float64)
    curves = {"actual": relevant}
    for measure in measures:
        _, errors, chance = _errors(one, measure, 1)
        if np.isfinite(errors[0, 0]):
            curves[f"from {measure}"] = chance
    frames = [_curve(title, chance, relevant, n_relevant) for title, chance in curves.items()]
    about = (
        f"{name} on list {query + 1} of {dataset}: {len(labels)} documents, {int(relevant.sum())} relevant"
    )
    if n_relevant > relevant.sum():
        about += f" of {n_relevant:g}"
    return pl.concat(frames).with_columns(about=pl.lit(about))


def _curve(title: str, chance: Values, relevant: Values, n_relevant: float) -> pl.DataFrame:
    found, ranks = np.cumsum(chance), np.arange(1, len(chance) + 1)
    curve = {"recall": found / n_relevant, "precision": found / ranks}
    frame = pl.DataFrame({"curve": [title] * len(ranks), "rank": ranks, **curve})
    return frame.filter(pl.Series(relevant > 0)) if title == "actual" else frame
