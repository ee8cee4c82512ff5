"""The best ranker that can be found in a given time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.experiments.analysis.best import BestFindings

_REPORT_SECONDS, _REPORT_SHARE = 2.5, 0.1
"""What writing the report takes on a machine that is not busy, and the most of the time it is given."""


def best(
    data: option.Data,
    time: Annotated[
        str,
        typer.Option("--time", "-t", help="How long it may take: 90s, 10m, 1h30m; 5 is 5 s."),
    ] = "10m",
    valid: option.Valid = None,
    measure: option.Measure = "ndcg@10",
    latency: Annotated[
        str | None, typer.Option(help="The most that scoring a document may take, e.g. 20us.")
    ] = None,
    formats: Annotated[
        str, typer.Option(help="Formats that the model can be exported to, e.g. solr or lightgbm,onnx.")
    ] = "",
    folds: option.FoldCount = None,
    seed: option.Seed = 0,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    out: option.WorkDirectory = None,
    as_json: option.Json = False,
) -> None:
    """Find the best ranker for some data in a given time, and say how good it is.

    Tries linear rankers, boosted trees, random forests and networks, the quick ones first, then changes of
    the best; gives most of the time to what is promising; and weighs what helps into one model. Nothing needs
    to be chosen. Keep the test queries out of DATA: the estimate comes from queries that chose nothing.
    Without --valid, queries are held out in turn.

    DIR/model.pomona [DATA-best] is an ordinary model (pomona score, pomona export). DIR/report.html shows
    what was tried, quality against time and latency, and what the model consists of. Everything tried is kept
    in DIR/trials: the same command again goes on from there, and Ctrl-C gives the best so far. On Windows, a
    training that is at the end of its time is stopped without a result instead of keeping what it has.

    \b
    Example:  pomona best train.txt --time 10m
              pomona best train.txt --valid vali.txt --time 1h -m err@20 \\
                  --out tonight
              pomona best clicks.parquet --label grade --time 5m --latency 20us
              pomona best train.txt --formats solr --out solr
    """
    from time import monotonic, process_time

    began, work = monotonic(), process_time()
    from pomona import cli
    from pomona.cli.inputs import read_with_validation
    from pomona.cli.output import finish_analysis, report_for
    from pomona.experiments.analysis.best import BestFindings
    from pomona.experiments.best.best_ranker import BestRanker
    from pomona.experiments.best.duration import in_words, seconds_of
    from pomona.report.file import refuse_foreign

    if valid is not None and folds is not None:
        raise typer.BadParameter("--n-folds cuts DATA where there is no --valid: give one of them")
    name = data.name.partition(".")[0]
    total = seconds_of(time)
    out = out or Path(f"{name}-best")
    if out.exists() and not out.is_dir():
        raise InputError("found a file, expected a directory to write model and report to", out)
    refuse_foreign(out, is_shared=True)
    model = out / "model.pomona"
    if model.exists() and not (out / "trials" / "store.sqlite").is_file():
        raise InputError("is there and no work of this command: give --out, another directory", model)
    if time.strip()[-1:].isdigit():
        typer.echo(f"note: --time {time} is {in_words(total)} (as in 90s, 10m, 1h30m)", err=True)
    columns = option.named_columns(label, qid, doc_id)
    training, held_out = read_with_validation(data, valid, columns)
    now = monotonic()
    slowness = max(1.0, (now - began) / max(process_time() - work, 1e-3))
    report_seconds = min(slowness * _REPORT_SECONDS, _REPORT_SHARE * total)
    left = total - (now - (cli.started or began)) - report_seconds
    if left <= 0:
        raise InputError(f"reading the data took longer than --time {time}: give more")
    ranker = BestRanker(
        time=left,
        measure=measure,
        latency=latency,
        formats=formats,
        n_folds=5 if folds is None else folds,
        directory=out / "trials",
        seed=seed,
        verbose=not as_json,
    )
    ranker.fit(training, valid=held_out)
    ranker.save(model)
    findings = BestFindings.of(ranker, str(data), None if valid is None else str(valid))
    report = report_for(
        out,
        "best",
        findings,
        title=f"The best ranker for {name}",
        question="Which ranker is best?",
        summary=_summary(training, held_out, findings),
    )
    if not as_json:
        _print(findings, out)
    tables = {"summary": findings.summary, "members": findings.members, "trials": findings.trials}
    finish_analysis(tables, report, out, as_json=as_json, is_shared=True)
    if findings.was_interrupted:
        raise typer.Exit(130)


def _summary(training: Any, held_out: Any, findings: BestFindings) -> str:
    more = "" if held_out is None else f", {held_out.n_queries} validation queries"
    what = f"{training.n_queries} queries, {training.n_docs} documents, {training.n_features} features"
    return f"{findings.data}: {what}{more}; {findings.measure}"


def _print(findings: BestFindings, out: Path) -> None:
    import polars as pl

    from pomona.cli.output import print_frame
    from pomona.experiments.best.duration import in_words

    found, estimate = findings.conclusion, findings.conclusion.estimate
    shown = findings.members.select(
        "recipe", "weight", pl.col("value").alias(findings.measure), "microseconds"
    )
    print_frame(shown)
    has_interval = estimate.low == estimate.low
    interval = f" [{estimate.low:.4f}, {estimate.high:.4f}]" if has_interval else ""
    typer.echo(
        f"\n{findings.measure} {estimate.mean:.4f}{interval} to be expected, by {estimate.n_queries} queries "
        "that chose nothing"
    )
    if found.is_partial:
        typer.echo("the time did not suffice to judge anything by all folds: give more, and it goes on")
    typer.echo(
        f"{findings.trials.height} recipes tried in {in_words(findings.spent)}; {found.form}; "
        f"{found.microseconds:.3g} µs a document"
    )
    typer.echo(f"model: {out / 'model.pomona'}")
