"""A report on disk: a page, and beside it its tables and figures for papers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pomona.experiments.findings import Findings
from pomona.report.comparison import comparison_report
from pomona.report.draw import Draw, drawing
from pomona.report.encoding import for_file, vega_lite
from pomona.report.file import new_report, write_new
from pomona.report.page import page
from pomona.report.section import Figure, Report
from pomona.report.table import to_csv, to_latex, to_markdown

_FORMATS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


class Begun(NamedTuple):
    """A report that is being written: where it will be, where its files are until it is whole, what draws."""

    directory: Path
    folder: Path
    draw: Draw

    def write(self, findings: Findings, only: Sequence[str] = ()) -> None:
        """Write the report of a comparison: all of it, or `only` some sections."""
        draw = partial(_draw, self.draw)
        _write(comparison_report(findings, only, draw=draw), self.folder, _models(findings, self.directory))


@contextlib.contextmanager
def begun_report(directory: str | Path) -> Iterator[Begun]:
    """Get ready to draw for the report of a comparison, which takes its place at the end."""
    with new_report(directory, is_shared=True) as folder, drawing(folder / "figures") as draw:
        yield Begun(Path(directory), folder, draw)


def write_report(findings: Findings, directory: str | Path, only: Sequence[str] = ()) -> Path:
    """Write the report of a comparison: all of it, or `only` some sections."""
    with begun_report(directory) as begun:
        begun.write(findings, only)
    return Path(directory) / "report.html"


def write_page(report: Report, directory: str | Path, *, is_shared: bool = False) -> Path:
    """Write `report.html`, `tables/` (CSV, Markdown, LaTeX) and `figures/` (SVG, PDF).

    The same report gives the same bytes.

    is_shared : whether files that are not of the report may lie in the directory.
    """
    with (
        new_report(directory, is_shared=is_shared) as folder,
        drawing(folder / "figures") as draw,
    ):
        for figure in report.figures:
            _draw(draw, figure)
        _write(report, folder)
    return Path(directory) / "report.html"


def _draw(draw: Draw, figure: Figure) -> None:
    draw(figure.stem, for_file(figure.spec if figure.paper is None else vega_lite(figure.paper)))


def _models(findings: Findings, directory: Path) -> str:
    """Where the models of a comparison lie, from its report."""
    home = findings.results.directory
    if home is None or home.resolve() == directory.resolve():
        return ""
    try:
        return quote(Path(os.path.relpath(home.resolve(), directory.resolve())).as_posix()) + "/"
    except ValueError:  # on another drive
        return home.resolve().as_uri() + "/"


def _write(report: Report, folder: Path, models: str = "") -> None:
    """Write the page and the tables."""
    for numbers in report.tables:
        for ending, form in _FORMATS.items():
            write_new(folder / "tables" / f"{numbers.stem}.{ending}", form(numbers.table))
    # Links to models are from the comparison's directory. No text has a quote that is not escaped.
    write_new(folder / "report.html", page(report).replace('href="models/', f'href="{models}models/'))
