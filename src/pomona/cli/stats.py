"""The dataset table: queries, documents, features, query lengths, labels, undefined values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pomona.data.dataset import Dataset
    from pomona.data.statistics import Statistics


def stats(
    data: Annotated[list[str], typer.Argument(help="Files, fold directories or names of collections.")],
    parts: Annotated[bool, typer.Option("--parts", help="One row for each part of the data.")] = False,
    joined: Annotated[bool, typer.Option("--joined", help="Add a row for all data together.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, unrounded.")] = False,
) -> None:
    """Print one row of statistics for each dataset. Features counts the distinct features that occur: a
    number that a sparse file never mentions does not count, a feature that is always 0 does. Mode is the
    most frequent number of documents of a query (the smallest of equals). Mean label is divided by the
    largest label. Undefined says whether a line leaves out, or marks as missing, a feature.

    \b
    Example:
        pomona stats mq2007 mq2008 --joined
        pomona stats Fold1/train.txt Fold1/vali.txt --json
    """
    from pomona.data.catalog import load_parts
    from pomona.data.statistics import describe

    rows: dict[str, Statistics] = {}
    everything: list[Dataset] = []
    for source in data:
        found = load_parts(source, undefined=float("nan"))
        everything += found.values()
        if parts and len(found) > 1:
            rows.update({f"{source} {name}": describe(part) for name, part in found.items()})
        else:
            rows[source] = describe(*found.values())
    if joined:
        rows["joined"] = describe(*everything)
    if as_json:
        typer.echo(json.dumps([{"data": name, **row.to_json()} for name, row in rows.items()], indent=2))
    else:
        _print_table(rows)


def _print_table(rows: dict[str, Statistics]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("Data", box=None, pad_edge=False)
    for title in next(iter(rows.values())).row():
        table.add_column(title, justify="right")
    for name, row in rows.items():
        table.add_row(name, *row.row().values())
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no width to wrap at
        console = Console(width=200)
    console.print(table)
