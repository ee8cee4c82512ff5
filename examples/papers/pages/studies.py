"""Modrý 2014, sections 5.4 to 5.8: the studies, as the report of each shows them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from common import Comparison, Parts, shown

from pomona.report.names import datasets_of
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


def study(of: Comparison, folder: Path, name: str) -> str:
    """Every figure and every short table of the sections that answer a study."""
    sections = [one for one in sections_of("comparison") if one.name in TOLD[name]]
    texts: list[str] = []
    for composed in compose(sections, of.findings, datasets_of(of.findings)):
        told = None
        for dataset, part in composed.parts:
            if dataset is not None and dataset != told:
                texts.append(f"### {dataset}")
                told = dataset
            if isinstance(part, Figure):
                texts.append(shown(part.chart, folder, f"thesis-{name}-{part.stem}"))
                texts.append(part.caption)
            elif isinstance(part, Numbers) and len(part.table.rows) <= MOST_ROWS:
                texts.append(to_markdown(part.table).rstrip())
    return "\n\n".join(texts) or "(There is nothing to tell.)"


PARTS: Parts = {f"thesis {name}": (f"thesis_{name}", partial(study, name=name)) for name in TOLD}
