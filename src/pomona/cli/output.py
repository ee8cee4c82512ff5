"""What the verbs print: aligned text tables, and JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they must be: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, ["─" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        typer.echo("  ".join(cells).rstrip())
