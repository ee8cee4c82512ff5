"""The report of a comparison once more: some of its sections, or slices by a column of yours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pomona._parameters import split_outside
from pomona.cli.options import By, Json, Qid, QueryTable, ReportDirectory
from pomona.errors import InputError


def report(
    directory: Annotated[Path, typer.Argument(help="What `pomona compare`, `study` or `demo` wrote.")],
    only: Annotated[
        list[str] | None,
        typer.Option(help="Sections, by name; separate by commas. An invalid name prints the list."),
    ] = None,
    by: By = None,
    queries: QueryTable = None,
    qid: Qid = None,
    out: ReportDirectory = None,
    as_json: Json = False,
) -> None:
    """Write DIRECTORY/report.html anew from what was kept; nothing is trained or judged again.

    Some sections (--only) go to DIRECTORY/report-only, and the full report stays. With --out the report goes
    to another directory, which a comparison needs that is read-only.

    Queries are always sliced by their numbers of documents and of relevant documents; with --queries also
    by its columns, or those that --by names. A column with many
    numbers is cut at its quartiles, one with many texts (the query itself, say) by its number of words.

    \b
    Example:  pomona report mq2008-comparison
              pomona report pomona-demo --only headline,results,slices
              pomona report runs --queries queries.csv --by market
              pomona report /archive/mq2008 -o report
    """
    from pomona._arrays import refuse_unwritable
    from pomona.cli.inputs import query_columns
    from pomona.cli.output import print_json
    from pomona.experiments.findings import find
    from pomona.experiments.refit import index_models
    from pomona.experiments.results import read_results
    from pomona.report.file import refuse_foreign
    from pomona.report.html import begun_report
    from pomona.report.section import chosen_sections

    names = [name.strip() for text in only or [] for name in split_outside(text)]
    wanted = [section.name for section in chosen_sections("comparison", names)]
    if only and not names:
        raise typer.BadParameter("--only names no section: an invalid name prints the list")
    if queries is None:
        for name, value in (("--by", by), ("--qid", qid)):
            if value:
                raise typer.BadParameter(f"{name} needs --queries, a table with a row a query")
    given = {} if queries is None else query_columns(queries, by or [], qid)
    columns = {name: {str(key): value for key, value in of.items()} for name, of in given.items()}
    if queries is not None and "slices" not in wanted:
        raise typer.BadParameter(
            "--queries has no effect without the section slices, which --only leaves out"
        )
    results = read_results(directory)
    place = out or (directory / "report-only" if names else directory)
    if out is None:
        try:
            refuse_unwritable(place)
        except InputError as error:
            raise InputError(f"{error}: give --out, a directory for the report") from None
    refuse_foreign(place, is_shared=place == directory)
    known = set(results.values["qid"])
    if columns and not known & next(iter(columns.values())).keys():
        raise InputError(
            f"has no query of {directory} (as {min(known)!r} is one): check its query ids", queries
        )
    index_models(results)
    with begun_report(place) as begun:
        findings = find(results, by=columns)
        begun.write(findings, names)
    path = place / "report.html"
    if as_json:
        print_json({"report": str(path), "sections": wanted, "warnings": findings.warnings})
        return
    for warning in findings.warnings:
        typer.echo(f"note: {warning}", err=True)
    typer.echo(f"report: {path}")
