"""Any table of numbers as LaTeX, Markdown or HTML, the best of each column marked."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pomona.cli.options import Json, Output, refuse_unused
from pomona.errors import InputError, UnknownNameError


class Format(StrEnum):
    """What a table can be written as."""

    md = "md"
    tex = "tex"
    html = "html"


class Best(StrEnum):
    """How the best of a column is marked."""

    bold = "bold"
    none = "none"


def table(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV or TSV file; its first row are the heads.")],
    format: Annotated[Format, typer.Option("--format", "-f", help="What to write.")] = Format.md,
    best: Annotated[Best, typer.Option(help="How the best of each column is marked.")] = Best.bold,
    digits: Annotated[int, typer.Option(min=0, max=15, help="The most decimals.")] = 4,
    lower: Annotated[
        list[str] | None,
        typer.Option("--lower", metavar="COLUMN", help="Less is better in this column; repeat, or `all`."),
    ] = None,
    title: Annotated[str, typer.Option(help="A caption.")] = "",
    out: Output = None,
    as_json: Json = False,
) -> None:
    """Write a table for a paper or a page. Columns of numbers are rounded alike and aligned; an empty cell, a
    dash or NA is a dash. LaTeX wants the package booktabs. `#` starts a comment.
    With --json, the numbers of the file as they are.

    \b
    Example:
      pomona table results.csv --format tex -o results.tex
      pomona table times.csv --lower seconds --digits 2
    """
    from pomona.cli.inputs import read_cells
    from pomona.cli.output import print_json
    from pomona.report.csv_table import table_of_texts
    from pomona.report.file import write_anew
    from pomona.report.table import to_html, to_latex, to_markdown

    if as_json:
        refuse_unused(context, "with --json, which gives the numbers as they are", "file title as_json")
    if best is Best.none:
        refuse_unused(context, "with --best none", "file format best digits title out")
    head, rows = read_cells(file)
    if repeated := sorted({name for name in head if head.count(name) > 1}):
        raise InputError(f"has two columns {repeated[0]!r}, expected heads that differ", file)
    for name in lower or ():
        if name not in (*head, "all"):
            raise UnknownNameError("column", name, head)
    is_lower = head if "all" in (lower or ()) else lower or ()
    made = table_of_texts(
        head,
        [cells for _, cells in rows],
        title=title,
        digits=digits,
        lower=is_lower,
        marks_best=best is Best.bold,
    )
    if as_json:
        heads = [column.title for column in made.columns]
        values = [dict(zip(heads, (cell.value for cell in row.cells), strict=True)) for row in made.rows]
        print_json({"title": title, "rows": values})
        return
    written = {Format.md: to_markdown, Format.tex: to_latex, Format.html: to_html}[format](made)
    if out is None:
        typer.echo(written, nl=False)
    else:
        write_anew(out, written)
