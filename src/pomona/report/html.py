"""A report on disk: a page, and beside it its tables and figures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from pomona.experiments.findings import Findings
from pomona.report.comparison import comparison_report
from pomona.report.draw import Draw, drawing
from pomona.report.encoding import for_file, vega_lite
from pomona.report.file import own_folder, write_anew
from pomona.report.page import page
from pomona.report.section import Report
from pomona.report.table import to_csv, to_latex, to_markdown

_FORMATS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def write_report(
    findings: Findings, directory: str | Path, draw: Draw | None = None, only: Sequence[str] = ()
) -> Path:
    """Write the report of a comparison: all of it, or `only` some sections."""
    return write_page(comparison_report(findings, only), directory, draw)


def write_page(report: Report, directory: str | Path, draw: Draw | None = None) -> Path:
    """Write `report.html`, `tables/` (CSV, Markdown, LaTeX) and `figures/` (SVG, PDF).

    The same report gives the same bytes. With `draw`, of a `drawing` of the figures' folder that was begun
    earlier, figures are complete when that ends.
    """
    folder = Path(directory)
    tables, figures = own_folder(folder / "tables"), own_folder(folder / "figures")
    with drawing(figures) if draw is None else nullcontext(draw) as draw:
        for figure in report.figures:
            draw(figure.stem, for_file(figure.spec if figure.paper is None else vega_lite(figure.paper)))
        for numbers in report.tables:
            for ending, form in _FORMATS.items():
                write_anew(tables / f"{numbers.stem}.{ending}", form(numbers.table))
        text = page(report)
    path = folder / "report.html"
    write_anew(path, text)
    return path
