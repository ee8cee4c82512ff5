"""Watch a ranker learn: what happens to the documents of a query, step by step."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pomona.cli.options import QUERY, Data, DocId, Json, Label, Qid, ReportDirectory, Settings, named_columns
from pomona.errors import InputError

_COUNTS = ("n_trees", "n_epochs", "n_rounds")
_PUBLISHED = {"normalize": False, "truncation": None, "noise": 0}


def trace(
    ranker: Annotated[str, typer.Argument(help="One that learns in steps: a boosted forest, a network.")],
    data: Data,
    query: Annotated[list[str] | None, QUERY] = None,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Trees or epochs to learn [50].", show_default=False),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Record every so many iterations.")] = 1,
    settings: Settings = None,
    out: ReportDirectory = None,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Record and draw score, place and force of every document of a query while a ranker learns.

    Several --query are recorded, each by itself; without, one is chosen. The directory has the linked picture
    (report.html), the numbers for each iteration and document (trace.parquet: iteration, qid, doc, row,
    label, score, rank, lambda, weight) and the measure of the query and of all training queries
    (trace-measures.parquet). Lambdas are the published ones (normalize=false, truncation=none, noise=0),
    unless set otherwise.

    \b
    Example:  pomona trace lambdamart train.txt --query 18219 \\
                  -s measure=err@20 -s n_leaves=10 -o watch
              pomona trace mart train.txt --query 18219 --query 18220 \\
                  --iterations 100 -o watch
    """
    from pomona._registry import find
    from pomona.cli.output import finish_analysis, print_frame, report_for, said_as_notes
    from pomona.cli.train import parsed_settings
    from pomona.data.read import read
    from pomona.experiments.analysis.trace import watched
    from pomona.rankers.trace import Trace
    from pomona.report.file import own_folder

    cls = find("rankers", ranker, "ranker").load()
    if not cls.is_traceable:
        raise InputError(f"{cls.name} shows no steps: expected a boosted forest or a network, as lambdamart")
    chosen = _parameters(cls, parsed_settings(cls, settings or []), iterations)
    fitted = cls(**{"verbose": not as_json, **chosen})
    record = Trace(query or None, every=every)
    training = read(data, **named_columns(label, qid, doc_id))
    if out is not None:
        own_folder(out)
    with said_as_notes():
        fitted.fit(training, trace=record)
    if not query:
        n_documents = record.documents.filter(iteration=0).height
        typer.echo(f"note: no query was named, chose {record.qids[0]} ({n_documents} documents)", err=True)
    found = watched(record)
    if not as_json:
        print_frame(found.gains)
    if out is not None:
        record.write(out)
    how = ", ".join(f"{name}={value}" for name, value in chosen.items())
    report = report_for(
        out,
        "trace",
        found,
        title=cls.__name__,
        question="what happens to documents while it learns",
        summary=f"{data.name} · {training.n_queries} training queries · {how}",
    )
    finish_analysis({"gains": found.gains, "journeys": found.journeys}, report, out, as_json=as_json)
    if fitted.interrupted_:
        raise typer.Exit(130)


def _parameters(cls: Any, given: dict[str, Any], iterations: int | None) -> dict[str, Any]:
    """The parameters of the ranker: those given, as many iterations as asked, and lambdas as published."""
    known = cls().get_params(deep=False)
    count = next(name for name in _COUNTS if name in known)
    if iterations is not None and count in given:
        raise InputError(f"found --iterations {iterations} and {count}={given[count]}: give one of them")
    published = {name: value for name, value in _PUBLISHED.items() if name in known}
    return {count: iterations or 50, **published, **given}
