"""The report of a comparison on disk: `report.html`, and beside it its tables and figures for papers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import vl_convert

from pomona.report.drawings import drawings_of, for_file, stems_of
from pomona.report.names import datasets_of, file_names
from pomona.report.page import page
from pomona.report.table import to_csv, to_latex, to_markdown
from pomona.report.tables import tables_of

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings

_FORMATS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def write_report(findings: Findings, directory: str | Path) -> Path:
    """Write `report.html`, `tables/` (CSV, Markdown, LaTeX) and `figures/` (SVG, PDF).

    The same findings give the same bytes.
    """
    folder = Path(directory)
    names = file_names(datasets_of(findings))
    drawings = drawings_of(findings)
    for below in ("tables", "figures"):
        (folder / below).mkdir(parents=True, exist_ok=True)
    for dataset, table in tables_of(findings):
        stem = table.name if dataset is None else f"{names[dataset]}-{table.name}"
        for ending, form in _FORMATS.items():
            (folder / "tables" / f"{stem}.{ending}").write_text(form(table), encoding="utf-8")
    for stem, drawing in stems_of(drawings).items():
        svg = vl_convert.vegalite_to_svg(for_file(drawing.spec))
        (folder / "figures" / f"{stem}.svg").write_text(svg, encoding="utf-8")
        (folder / "figures" / f"{stem}.pdf").write_bytes(_in_order(vl_convert.svg_to_pdf(svg)))
    report = folder / "report.html"
    report.write_text(page(findings, drawings), encoding="utf-8")
    return report


def _in_order(pdf: bytes) -> bytes:
    """The PDF with each list of resources sorted: the converter writes them in an order of chance."""
    return re.sub(
        rb"(?:\n +/[a-z]+\d+ \d+ 0 R(?=\n))+",
        lambda found: b"".join(sorted(re.findall(rb"\n[^\n]+", found.group()))),
        pdf,
    )
