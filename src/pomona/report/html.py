"""A report on disk: a page, and beside it its tables and figures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from pomona.experiments.findings import Findings
from pomona.report.comparison import comparison_report
from pomona.report.draw import Draw, drawing
from pomona.report.encoding import for_file, vega_lite
from pomona.report.file import own_folder, write_anew
from pomona.report.page import page
from pomona.report.section import Figure, Report
from pomona.report.table import to_csv, to_latex, to_markdown

_FORMATS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def write_report(
    findings: Findings, directory: str | Path, draw: Draw | None = None, only: Sequence[str] = ()
) -> Path:
    """Write the report of a comparison: all of it, or `only` some sections.

    With `draw`, of a `drawing` of the figures' folder that was begun earlier, figures are complete when that
    ends.
    """
    figures = own_folder(Path(directory) / "figures")
    with drawing(figures) if draw is None else nullcontext(draw) as draw:
        report = comparison_report(findings, only, draw=partial(_draw, draw))
        return _write(report, Path(directory))


def write_page(report: Report, directory: str | Path) -> Path:
    """Write `report.html`, `tables/` (CSV, Markdown, LaTeX) and `figures/` (SVG, PDF).

    The same report gives the same bytes.
    """
    with drawing(own_folder(Path(directory) / "figures")) as draw:
        for figure in report.figures:
            _draw(draw, figure)
        return _write(report, Path(directory))


def _draw(draw: Draw, figure: Figure) -> None:
    draw(figure.stem, for_file(figure.spec if figure.paper is None else vega_lite(figure.paper)))


def _write(report: Report, folder: Path) -> Path:
    """Write the page and the tables."""
    tables = own_folder(folder / "tables")
    for numbers in report.tables:
        for ending, form in _FORMATS.items():
            write_anew(tables / f"{numbers.stem}.{ending}", form(numbers.table))
    path = folder / "report.html"
    write_anew(path, page(report))
    return path
