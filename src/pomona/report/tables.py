"""The tables, one function each: findings in, rows out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import polars as pl

from pomona.report.digits import MISSING, fixed, p_value, signed, significant
from pomona.report.names import comparable_of, datasets_of, measure_title, rankers_of
from pomona.report.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings


def tables_of(findings: Findings) -> list[tuple[str | None, Table]]:
    """Every table that has rows, with its dataset (none: it is about all)."""
    of_dataset: list[Callable[[Findings, str], Table]] = [
        results,
        cutoffs,
        conventions,
        order_changes,
        pairs,
        costs,
        variance,
    ]
    every: list[tuple[str | None, Table]] = [
        (dataset, table(findings, dataset)) for dataset in datasets_of(findings) for table in of_dataset
    ]
    every += [(None, winning(findings)), (None, data(findings))]
    return [(dataset, table) for dataset, table in every if table.rows]


def results(findings: Findings, dataset: str) -> Table:
    """Rankers × measures, and what they cost: the best first, then the bounds, then those that failed."""
    found = findings.table.filter(dataset=dataset)
    cells = {(row["ranker"], row["measure"]): row for row in found.iter_rows(named=True)}
    order = rankers_of(findings, dataset)
    bounds = found.filter(is_bound=True)["ranker"].unique(maintain_order=True).to_list()
    full = comparable_of(findings, dataset) if order else []
    best = {
        measure: max((cells[r, measure]["mean"] for r in full if (r, measure) in cells), default=None)
        for measure in findings.measures
    }
    norms = {row["ranker"]: row["norm"] for row in found.iter_rows(named=True)}
    spent = {row["ranker"]: row for row in _of(findings.costs, dataset)}
    rows = []
    for ranker in (*order, *bounds):
        is_bound = ranker in bounds
        measured = []
        for measure in findings.measures:
            cell = cells.get((ranker, measure))
            if cell is None:
                measured.append(Cell(None, MISSING))
            elif is_bound:
                measured.append(Cell(cell["mean"], fixed(cell["mean"])))
            else:
                is_best = ranker in full and cell["mean"] == best[measure]
                mark = cell["mark"] or ""
                measured.append(
                    Cell(cell["mean"], fixed(cell["mean"]), cell["low"], cell["high"], mark, is_best)
                )
        cost = {} if is_bound else spent.get(ranker, {})
        row = (
            _text(ranker),
            *measured,
            _fixed(norms[ranker]),
            _significant(cost.get("train_seconds")),
            _significant(cost.get("score_microseconds")),
            _significant(_scaled(cost.get("peak_memory"), 1e6)),
        )
        rows.append(Row(row, "bound" if is_bound else "", _remark(ranker, findings, cost)))
    for ranker, cost in spent.items():
        if ranker not in order and ranker not in bounds:
            empty = (Cell(None, MISSING),) * (len(findings.measures) + 4)
            rows.append(
                Row((_text(ranker), *empty), "failed", f"failed: {cost['reason'] or 'no run finished'}")
            )
    columns = (
        Column("Ranker", is_number=False),
        *(Column(measure_title(measure), has_interval=True) for measure in findings.measures),
        Column("AVG_Norm"),
        Column("Train (s)"),
        Column("Score (µs/doc)"),
        Column("Memory (MB)"),
    )
    return Table("results", f"Results on {dataset}", columns, tuple(rows))


def cutoffs(findings: Findings, dataset: str) -> Table:
    """NDCG at cut-offs 1 to 10 of every ranker under every convention."""
    found = {
        (row["ranker"], row["convention"], row["k"]): row["mean"] for row in _of(findings.cutoffs, dataset)
    }
    ks = sorted({k for _, _, k in found})
    judges = list(dict.fromkeys(convention for _, convention, _ in found))
    rows = [
        Row((_text(ranker), _text(judge), *(_fixed(found.get((ranker, judge, k))) for k in ks)))
        for judge in judges
        for ranker in rankers_of(findings, dataset)
    ]
    columns = (Column("Ranker", False), Column("Judged by", False), *(Column(f"@{k}") for k in ks))
    return Table("cutoffs", f"NDCG by cut-off on {dataset}", columns, tuple(rows))


def conventions(findings: Findings, dataset: str) -> Table:
    """What a ranker was trained with × what it is judged by: the mean, and the rank under that judge."""
    found = {
        (row["ranker"], row["measure"], row["judged_with"]): row for row in _of(findings.conventions, dataset)
    }
    trained = {row["ranker"]: row["trained_with"] for row in found.values()}
    judges = list(dict.fromkeys(judge for _, _, judge in found))
    measures = list(dict.fromkeys(measure for _, measure, _ in found))
    rows = []
    for measure, ranker in itertools.product(measures, rankers_of(findings, dataset)):
        if ranker in trained:
            cells = [found.get((ranker, measure, judge)) for judge in judges]
            pairs = [
                (_fixed(c["mean"]), _count(c["rank"])) if c else (_fixed(None), _count(None)) for c in cells
            ]
            named = (_text(ranker), _text(trained[ranker] or MISSING), _text(measure_title(measure)))
            rows.append(Row((*named, *itertools.chain(*pairs))))
    judged = itertools.chain(*((Column(judge), Column(f"rank ({judge})")) for judge in judges))
    columns = (Column("Ranker", False), Column("Trained with", False), Column("Measure", False), *judged)
    return Table("conventions", f"Trained with × judged by, on {dataset}", columns, tuple(rows))


def order_changes(findings: Findings, dataset: str) -> Table:
    """Pairs of rankers that two conventions put in opposite orders."""
    rows = [
        Row(
            (
                _text(row["better"]),
                _text(row["worse"]),
                _text(measure_title(row["measure"])),
                _text(row["convention_1"]),
                _signed(row["difference_1"]),
                _text(row["convention_2"]),
                _signed(row["difference_2"]),
            )
        )
        for row in _of(findings.order_changes, dataset)
    ]
    columns = (
        Column("Ranker", False),
        Column("against", False),
        Column("Measure", False),
        Column("ahead by", False),
        Column("difference"),
        Column("behind by", False),
        Column("difference there"),
    )
    return Table("order-changes", f"Where two conventions disagree on {dataset}", columns, tuple(rows))


def pairs(findings: Findings, dataset: str) -> Table:
    """Every pair of rankers under every measure: difference, tests, corrections, wins."""
    rows = [
        Row(
            (
                _text(pair["a"]),
                _text(pair["b"]),
                _text(measure_title(pair["measure"])),
                Cell(pair["difference"], signed(pair["difference"]), pair["low"], pair["high"]),
                Cell(pair["effect"], signed(pair["effect"], 2)),
                *(_p(pair[test]) for test in _TESTS),
                Cell("yes" if pair["agree"] else "no", "yes" if pair["agree"] else "no"),
                _count(pair["wins"]),
                _count(pair["ties"]),
                _count(pair["losses"]),
                _fixed(pair["detectable"]),
            )
        )
        for pair in _of(findings.pairs, dataset)
    ]
    columns = (
        Column("Ranker", False),
        Column("minus", False),
        Column("Measure", False),
        Column("Difference", has_interval=True),
        Column("Effect d_z"),
        *(Column(title) for title in _TESTS.values()),
        Column("Tests agree", False),
        Column("Wins"),
        Column("Ties"),
        Column("Losses"),
        Column("Detectable"),
    )
    return Table("pairs", f"Every pair of rankers on {dataset}", columns, tuple(rows))


_TESTS = {
    "t_p": "p (t)",
    "wilcoxon_p": "p (Wilcoxon)",
    "sign_p": "p (sign)",
    "randomization_p": "p (randomization)",
    "holm_p": "p (Holm)",
    "bh_p": "p (BH)",
}


def costs(findings: Findings, dataset: str) -> Table:
    """What each ranker needs, and whether it is on a Pareto front."""
    fronts = {row["ranker"]: row for row in _of(findings.fronts, dataset)}
    spent = {row["ranker"]: row for row in _of(findings.costs, dataset)}
    rows = []
    for ranker in rankers_of(findings, dataset):
        cost, front = spent.get(ranker, {}), fronts.get(ranker, {})
        rows.append(
            Row(
                (
                    _text(ranker),
                    _fixed(front.get("mean")),
                    _significant(cost.get("train_seconds")),
                    _text("yes" if front.get("on_train_front") else ""),
                    _significant(cost.get("score_microseconds")),
                    _text("yes" if front.get("on_score_front") else ""),
                    _significant(_scaled(cost.get("peak_memory"), 1e6)),
                    _significant(_scaled(cost.get("model_bytes"), 1e3)),
                    _significant(cost.get("best_iteration")),
                    _count(cost.get("n_done")),
                    _count(cost.get("n_failed")),
                )
            )
        )
    columns = (
        Column("Ranker", False),
        Column(measure_title(findings.main)),
        Column("Train (s)"),
        Column("on the training front", False),
        Column("Score (µs/doc)"),
        Column("on the scoring front", False),
        Column("Memory (MB)"),
        Column("Model (kB)"),
        Column("Best iteration"),
        Column("Runs done"),
        Column("failed"),
    )
    return Table("costs", f"Costs on {dataset}", columns, tuple(rows))


def variance(findings: Findings, dataset: str) -> Table:
    """Shares of the variance of every measure by its source."""
    sources = ("queries", "folds", "seeds", "residual")
    rows = [
        Row(
            (
                _text(row["ranker"]),
                _text(measure_title(row["measure"])),
                *(_fixed(row[source], 3) for source in sources),
            )
        )
        for row in _of(findings.variance, dataset)
    ]
    columns = (Column("Ranker", False), Column("Measure", False), *(Column(source) for source in sources))
    return Table("variance", f"Shares of the variance on {dataset}", columns, tuple(rows))


def winning(findings: Findings) -> Table:
    """Winning numbers over all datasets and measures."""
    rows = [
        Row(
            (
                _text(row["ranker"]),
                _count(row["winning"]),
                _count(row["ideal"]),
                _fixed(row["normalized"], 3),
                _text("Pareto-optimal" if row["is_pareto"] else "rank 2" if row["is_rank2"] else ""),
            )
        )
        for row in findings.winning.sort("normalized", descending=True, maintain_order=True).iter_rows(
            named=True
        )
    ]
    columns = (
        Column("Ranker", False),
        Column("Winning number"),
        Column("Ideal"),
        Column("Normalized"),
        Column("Front", False),
    )
    return Table("winning", "Winning numbers over datasets and measures", columns, tuple(rows))


def data(findings: Findings) -> Table:
    """The datasets: how many queries, documents, features, what labels."""
    frame = findings.results.datasets
    names = [name for name in frame.columns if name not in ("dataset", "digest")]
    rows = [
        Row((_text(row["dataset"]), *(_number(row[name]) for name in names)))
        for row in frame.iter_rows(named=True)
    ]
    columns = (Column("Dataset", False), *(Column(name.replace("_", " ")) for name in names))
    return Table("datasets", "The data", columns, tuple(rows))


def _of(frame: pl.DataFrame, dataset: str) -> list[dict[str, Any]]:
    return frame.filter(dataset=dataset).to_dicts()


def _remark(ranker: str, findings: Findings, cost: dict[str, Any]) -> str:
    remarks = ["baseline"] if ranker == findings.baseline else []
    if cost.get("n_failed"):
        n = cost["n_failed"] + cost["n_done"]
        remarks.append(f"{cost['n_failed']} of {n} runs failed: {cost['reason']}")
    return ", ".join(remarks)


def _text(text: str) -> Cell:
    return Cell(text, text)


def _fixed(value: float | None, digits: int = 4) -> Cell:
    return Cell(value, fixed(value, digits))


def _signed(value: float | None) -> Cell:
    return Cell(value, signed(value))


def _significant(value: float | None) -> Cell:
    return Cell(value, significant(value))


def _count(value: float | None) -> Cell:
    return Cell(value, MISSING if value is None else f"{value:g}")


def _p(value: float | None) -> Cell:
    return Cell(value, p_value(value))


def _number(value: Any) -> Cell:
    """A fact of a dataset: counts as they are, other numbers with three digits."""
    if isinstance(value, bool):
        return _text("yes" if value else "no")
    if isinstance(value, float):
        return Cell(value, f"{value:.0f}" if value == int(value) else significant(value))
    return Cell(value, MISSING if value is None else str(value))


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit
