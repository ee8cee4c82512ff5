"""What the verbs print: aligned text tables, and JSON for machines."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import polars as pl

    from pomona.report.section import Report


def print_json(value: Any) -> None:
    """One JSON document on standard output; what is not finite, which JSON has no word for, is null."""
    is_plain = (sys.stdout.encoding or "utf-8").lower() not in ("utf-8", "utf8")
    typer.echo(json.dumps(_finite(value), ensure_ascii=is_plain, indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextlib.contextmanager
def said_as_notes(*, is_quiet: bool = False) -> Iterator[list[str]]:
    """Print what the body warns of on standard error, after it; what is yielded has it then."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    notes += [str(one.message) for one in caught]
    for note in () if is_quiet else notes:
        typer.echo(f"note: {note}", err=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they must be: the first to the left, the others to the right.

    Nothing is cut. Columns that a terminal has no room for stand below, behind the first column once more.
    """
    from rich.cells import cell_len

    texts = [[_on_one_line(text) for text in row] for row in (head, *rows)]
    widths = [max(cell_len(row[i]) for row in texts) for i in range(len(head))]
    for number, columns in enumerate(_blocks(widths)):
        if number:
            typer.echo()
        for row in (texts[0], ["─" * width for width in widths], *texts[1:]):
            blanks = [" " * (widths[i] - cell_len(row[i])) for i in columns]
            others = (blank + row[i] for i, blank in zip(columns[1:], blanks[1:], strict=True))
            typer.echo("  ".join([row[0] + blanks[0], *others]).rstrip())


def _on_one_line(text: str) -> str:
    """A cell without signs that would break the line or move the cursor.

    >>> _on_one_line("a\\tb\\nc")
    'a b c'
    """
    return "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text)


def _blocks(widths: Sequence[int]) -> list[list[int]]:
    """The columns that fit side by side, each time with the first."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else math.inf
    blocks = [[0]]
    used = widths[0]
    for i, width in enumerate(widths[1:], 1):
        if used + 2 + width > room and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(i)
        used += 2 + width
    return blocks


def print_frame(frame: pl.DataFrame, *, digits: int = 4) -> None:
    """A table of an analysis: numbers with so many digits, a dash for what is unknown."""
    rows = [[_cell(value, digits) for value in row] for row in frame.iter_rows()]
    print_table([name.replace("_", " ") for name in frame.columns], rows)


def _cell(value: Any, digits: int) -> str:
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def report_for(out: Path | None, kind: str, findings: Any, **words: Any) -> Report | None:
    """The report of an analysis (`report_of`) where a directory is given for it; else nothing is loaded."""
    if out is None:
        return None
    from pomona.report.section import report_of

    return report_of(kind, findings, **words)


def finish_analysis(
    tables: Mapping[str, pl.DataFrame],
    report: Report | None,
    out: Path | None,
    *,
    as_json: bool,
    is_shared: bool = False,
) -> None:
    """What every analysis does at the end: its report, if a directory is given, and its tables for machines.

    The report's folder has every table as CSV, Markdown and LaTeX and every figure as SVG and PDF.

    is_shared : whether files that are not of the report may lie there.
    """
    path = None
    if report is not None and out is not None:
        from pomona.report.html import write_page

        path = write_page(report, out, is_shared=is_shared)
    if as_json:
        document: dict[str, Any] = {name: table.to_dicts() for name, table in tables.items()}
        print_json({"report": str(path), **document} if path else document)
    elif path:
        typer.echo(f"\nreport: {path}")


@contextlib.contextmanager
def progress_bars(
    title: str, stages: Sequence[str], *, is_quiet: bool = False
) -> Iterator[Callable[[str, float], None]]:
    """Bars on standard error, one a stage; what is yielded takes a stage and the share of it that is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    is_off = is_quiet or not console.is_terminal
    columns = TextColumn(title), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=is_off) as bar:
        tasks = {stage: bar.add_task(stage, total=1.0, visible=False) for stage in stages}
        yield lambda stage, share: bar.update(tasks[stage], completed=share, visible=True)
