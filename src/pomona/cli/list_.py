"""List what there is: rankers, measures, conventions, datasets, formats."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pomona.cli.options import Json
from pomona.errors import UnknownNameError

if TYPE_CHECKING:
    from pomona._registry import Entry


class Kind(StrEnum):
    """What can be listed."""

    rankers = "rankers"
    measures = "measures"
    conventions = "conventions"
    datasets = "datasets"
    formats = "formats"


_FORMATS = {
    "letor": "data: LETOR / SVMlight text: label qid:Q 1:v 2:v … #comment; plain, .gz, .bz2, .xz, .zst",
    "table": "data: columns label and qid, or those you name: .csv .tsv .jsonl, also packed; .parquet .arrow",
    "trec": "data: TREC qrels and run files",
}


def list(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    name: Annotated[
        str | None, typer.Argument(help="Only this one; of a ranker all there is to know.")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="All about all rankers (or NAME), as docs/rankers.md.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List what Pomona has, one line each.

    \b
    Example:
      pomona list measures
      pomona list rankers adarank
    """
    from pomona.cli.output import print_json

    if markdown and as_json:
        raise typer.BadParameter("--markdown is no JSON: leave one of them out")
    if kind is Kind.rankers and (name or markdown):
        _tell_rankers(name, markdown=markdown, as_json=as_json)
        return
    if markdown:
        raise typer.BadParameter("--markdown is of rankers: pomona list rankers --markdown")
    rows = _rows(kind)
    if name is not None:
        if name not in rows:
            raise UnknownNameError(kind.value.removesuffix("s"), name, rows)
        rows = {name: rows[name]}
    if as_json:
        print_json(rows)
        return
    width = max((len(name) for name in rows), default=0)
    for name, summary in rows.items():
        typer.echo(f"{name.ljust(width)}  {summary}")


def _tell_rankers(name: str | None, *, markdown: bool, as_json: bool) -> None:
    """One ranker for the terminal or for machines, or one or all of them as a page."""
    from pomona._registry import entries
    from pomona.cli.output import print_json
    from pomona.rankers.sheet import json_of, markdown_of, sheet_of, text_of

    if markdown:
        names = entries("rankers") if name is None else [name]
        typer.echo(markdown_of(map(sheet_of, names)), nl=False)
    elif as_json:
        print_json(json_of(sheet_of(str(name))))
    else:
        typer.echo(text_of(sheet_of(str(name))))


def _rows(kind: Kind) -> dict[str, str]:
    if kind is Kind.conventions:
        from pomona.measures.conventions import CONVENTIONS

        return {name: convention.summary for name, convention in CONVENTIONS.items()}
    if kind is Kind.datasets:
        from pomona.data.catalog import available

        return {
            entry.name: f"{entry.description} ({'here' if here else 'not here'})"
            for entry, here in available()
        }
    from pomona._registry import entries

    if kind is Kind.formats:
        models = {name: f"model: {entry.summary}" for name, entry in entries("trees/formats").items()}
        return {**_FORMATS, "pomona": "model: what `pomona train` writes and `pomona score` reads", **models}
    return {name: _described(entry) for name, entry in entries(kind.value).items()}


def _described(entry: Entry) -> str:
    model = f"user model: {entry.user_model}" if entry.user_model else ""
    more = ", ".join(part for part in (entry.family, entry.optimizes, entry.paper, model) if part)
    return f"{entry.summary} ({more})" if more else entry.summary
