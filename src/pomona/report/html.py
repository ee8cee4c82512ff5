"""The report of a comparison on disk: `report.html`, and beside it its tables and figures for papers."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from pomona.report.draw import Draw, drawing
from pomona.report.drawings import drawings_of, for_file, stems_of
from pomona.report.names import datasets_of, file_names
from pomona.report.page import page
from pomona.report.table import to_csv, to_latex, to_markdown
from pomona.report.tables import tables_of

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings

_FORMATS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def write_report(findings: Findings, directory: str | Path, draw: Draw | None = None) -> Path:
    """Write `report.html`, `tables/` (CSV, Markdown, LaTeX) and `figures/` (SVG, PDF).

    The same findings give the same bytes. With `draw`, of a `drawing` of the figures' folder that was begun
    earlier, figures are complete when that ends.
    """
    folder = Path(directory)
    names = file_names(datasets_of(findings))
    for below in ("tables", "figures"):
        (folder / below).mkdir(parents=True, exist_ok=True)
    with drawing(folder / "figures") if draw is None else nullcontext(draw) as draw:
        drawings = drawings_of(findings)
        for stem, of in stems_of(drawings).items():
            draw(stem, for_file(of.spec))
        for dataset, table in tables_of(findings):
            stem = table.name if dataset is None else f"{names[dataset]}-{table.name}"
            for ending, form in _FORMATS.items():
                (folder / "tables" / f"{stem}.{ending}").write_text(form(table), encoding="utf-8")
        text = page(findings, drawings)
    report = folder / "report.html"
    report.write_text(text, encoding="utf-8")
    return report
