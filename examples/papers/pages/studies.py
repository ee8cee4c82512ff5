"""Modrý 2014, sections 5.4 to 5.8: the studies, as the report of each shows them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from common import Comparison, Parts, shown, table

from pomona.report.digits import fixed, signed
from pomona.report.names import datasets_of, measure_title
from pomona.report.section import Figure, Numbers, compose, sections_of
from pomona.report.table import to_markdown

TOLD = {
    "overfit": ("overfitting",),
    "size": ("study",),
    "noise": ("study",),
    "search": ("grid",),
    "cutoff": ("grid",),
}
"""The sections of the report that answer each study."""
MOST_ROWS = 12
"""Longer tables are left to the report."""


def study(of: Comparison, folder: Path, name: str, data: str = "") -> str:
    """Every figure and every short table of the sections that answer a study; `data` is in names of files."""
    sections = [one for one in sections_of("comparison") if one.name in TOLD[name]]
    texts: list[str] = []
    for composed in compose(sections, of.findings, datasets_of(of.findings)):
        told = None
        for dataset, part in composed.parts:
            if dataset is not None and dataset != told:
                texts.append(f"### {dataset}")
                told = dataset
            if isinstance(part, Figure):
                texts.append(shown(part.chart, folder, f"thesis-{name}{data}-{part.stem}"))
                texts.append(part.caption)
            elif isinstance(part, Numbers) and len(part.table.rows) <= MOST_ROWS:
                texts.append(to_markdown(part.table).rstrip())
    return "\n\n".join(texts) or "(There is nothing to tell.)"


Points = dict[float, dict[str, Any]]
"""The points of a curve by the value of the variable."""


def curves_of(of: Comparison) -> Iterator[tuple[list[str], Points]]:
    """Dataset, method and points of every curve of the main measure."""
    found = of.findings.study.filter(measure=of.findings.main)
    for (dataset, series), curve in found.group_by("dataset", "series", maintain_order=True):
        yield [str(dataset), str(series)], {row["x"]: row for row in curve.iter_rows(named=True)}


def size_table(of: Comparison, folder: Path) -> str:
    """The main measure with few and with all of the training queries, and how many are enough."""
    enough = {
        (row["dataset"], row["series"]): row["x"]
        for row in of.findings.enough.filter(measure=of.findings.main).iter_rows(named=True)
    }
    rows = []
    for (dataset, series), points in curves_of(of):
        means = [points[x]["mean"] if x in points else None for x in (0.05, 0.2, 1.0)]
        gain = None if means[0] is None or means[2] is None else means[2] - means[0]
        least = f"{100 * enough[dataset, series]:.3g} %"
        rows.append([dataset, series, *map(fixed, means), signed(gain), least])
    title = measure_title(of.findings.main)
    heads = [f"{title} with 5 %", "20 %", "all", "all − 5 %", "not significantly below all from"]
    return table(["dataset", "method", *heads], rows, n_texts=2)


def noise_table(of: Comparison, folder: Path) -> str:
    """What changed labels cost of the main measure, in percent, and what becomes of the pairs."""
    shares, rows = (0.005, 0.05, 0.2, 0.5), []
    for names, points in curves_of(of):
        most, losses = points[max(points)], [_loss(points[x]) if x in points else "" for x in shares]
        pairs = [fixed(100 * (most[name] or 0.0), 1) for name in ("pairs_turned", "pairs_equal")]
        rows.append([*names, fixed(points[0.0]["mean"]) if 0.0 in points else "", *losses, *pairs])
    heads = [f"loss at {100 * x:.3g} %" for x in shares]
    pairs = ["pairs turned, %", "made equal, %"]
    note = "▼ ▲: significantly below or above no noise, Holm's correction over the levels of a curve."
    without = f"{measure_title(of.findings.main)} without noise"
    return table(["dataset", "method", without, *heads, *pairs], rows, n_texts=2) + f"\n\n{note}"


def _loss(point: dict[str, Any]) -> str:
    mark = ("▼" if point["loss"] > 0 else "▲") if point["is_significant"] else ""
    return signed(point["loss"], 2) + mark


_OTHER_GRADES = {
    "five grades": tuple(TOLD),
    "wcl2r": ("overfit", "size"),
}
"""The studies that are also made of collections of other grades, by the ends of their names."""


def _parts() -> Parts:
    parts: Parts = {f"thesis {name}": (f"thesis_{name}", partial(study, name=name)) for name in TOLD}
    tables = {"size": size_table, "noise": noise_table}
    parts |= {f"thesis {name} table": (f"thesis_{name}", write) for name, write in tables.items()}
    for data, names in _OTHER_GRADES.items():
        for name in names:
            source = f"thesis_{name}_{data.replace(' ', '_')}"
            write = partial(study, name=name, data=f"-{data.replace(' ', '-')}")
            parts[f"thesis {name} {data}"] = (source, write)
            if name in tables:
                parts[f"thesis {name} {data} table"] = (source, tables[name])
    return parts


PARTS: Parts = _parts()
