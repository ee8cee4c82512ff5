"""Which ranker is best, and is the difference real: cross-validated comparison, statistics, report."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona._parameters import split_outside
from pomona.cli import options as option
from pomona.cli.progress import Progress
from pomona.errors import InputError, PomonaError

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings
    from pomona.experiments.results import Results
    from pomona.experiments.spec import Spec

_ROLES = {"train", "vali", "valid", "test"}
# What a spec does not say.
_ANYHOW = (
    *("data", "out", "jobs", "dask", "retry", "verify", "report", "as_json"),
    *("refit_best", "all_trials", "mlflow"),
)


def compare(
    context: typer.Context,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC.toml | DATA…",
            help="A spec; or collections, fold directories and files to be cross-validated.",
        ),
    ],
    rankers: option.Rankers = None,
    measure: option.Measures = None,
    conventions: Annotated[
        str | None, typer.Option(help="Whose rules: names of `pomona list conventions`, or `all`.")
    ] = None,
    folds: option.Folds = None,
    n_folds: option.FoldCount = None,
    seeds: option.Seeds = None,
    valid: option.Valid = None,
    test: Annotated[
        str | None, typer.Option(help="Test file; DATA is then the training file, to which --valid belongs.")
    ] = None,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    baseline: Annotated[str | None, typer.Option(help="The ranker to compare all with [the first].")] = None,
    trials: Annotated[
        int | None, typer.Option(help="Search parameters on the validation queries, so many tries a run.")
    ] = None,
    norm_performance: Annotated[
        bool | None, typer.Option("--norm-performance", help="Also show NormPerformance (Modrý 2014).")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds per run (set-up gets 120 s more).")
    ] = None,
    out: option.WorkDirectory = None,
    refit_best: Annotated[
        bool,
        typer.Option(
            "--refit-best",
            help="Then train the best on all queries: DIR/best.pomona, or the file of --out MODEL.pomona.",
        ),
    ] = False,
    all_trials: Annotated[
        bool, typer.Option("--all-trials", help="Print every trial of a search, not only what it chose.")
    ] = False,
    mlflow: Annotated[
        str | None, typer.Option(metavar="URI", help="Log it to MLflow: a server, or sqlite:///mlflow.db.")
    ] = None,
    jobs: option.Jobs = None,
    dask: option.Dask = None,
    retry: Annotated[bool, typer.Option("--retry", help="Do failed runs again.")] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check every file of every finished run; do damaged runs again."),
    ] = False,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Skip the report; run again to write it.")
    ] = True,
    as_json: option.Json = False,
) -> None:
    """Train every ranker on every fold, judge them, test the differences, and write a report.

    The first measure is the main one. What is done is kept: after an interruption the same command goes on
    where it stopped, also on another machine to which the directory was copied. A ranker that can be trained
    towards a measure is trained towards the main one, unless it says otherwise, as in
    lambdamart(measure=err@20). Parameters that are given stay out of the search. DIR/spec.toml has all this
    as a file; a file of this name that you wrote or edited stays as it is, and DIR/spec.resolved.toml has it.
    A ranker of your own is named by its file and class, as in mine.py:MyRanker. Runs are known by their data,
    parameters and code: what changed is done anew, what did not is kept. The directory can move, with the
    data or without: the data are looked for beside it, then where they were.

    \b
    Example:
        pomona compare mq2008 --rankers lambdamart,mart -m ndcg@10,ap \\
            --out mq2008
        pomona compare mq2008 --rankers "mart,lambdarank(hidden=[64, 32])"
        pomona compare mq2008 --rankers "mart,less=mart(without=[f39, f40])"
        pomona compare mq2008 --rankers "'my rankers/mine.py:R'(depth=3),mart"
        pomona compare spec.toml --jobs 4 --mlflow sqlite:///mlflow.db
        pomona compare mq2008 --rankers lambdamart,mart --trials 20 \\
            --refit-best -o best.pomona
    """
    from pomona.experiments.data_spec import Files
    from pomona.experiments.spec import read_spec
    from pomona.experiments.spec_options import spec_from_options

    if all_trials and as_json:
        raise typer.BadParameter("--all-trials prints a table, and --json has every trial: give one of them")
    if all_trials and not report:
        raise typer.BadParameter("--all-trials goes with the answer, which --no-report leaves out")
    if dask is not None and jobs is not None:
        raise typer.BadParameter("--jobs is of this machine, and --dask works on a cluster: give one of them")
    preface = ""
    if data[0].endswith(".toml"):
        options = context.params.items()
        given = [
            f"--{name.replace('_', '-')}"
            for name, value in options
            if value not in (None, [], ()) and name not in _ANYHOW
        ]
        if len(data) > 1 or given:
            more = ", ".join([*data[1:], *given])
            raise InputError(f"the spec says what to compare, so {more} must go into it", data[0])
        spec = read_spec(data[0])
    else:
        _refuse_parts(data, test, valid)
        if rankers is None:
            raise InputError("no ranker is named: add --rankers lambdamart,mart or so (pomona list rankers)")
        spec = spec_from_options(
            data,
            rankers,
            valid=None if valid is None else str(valid),
            test=test,
            folds=integers("folds", folds),
            columns=option.named_columns(label, qid, doc_id),
            n_trials=trials,
            measures=option.split_measures(measure) or None,
            conventions=conventions and split_outside(conventions),
            seeds=integers("seeds", seeds),
            n_folds=n_folds,
            time_limit=time_limit,
            norm_performance=norm_performance,
            baseline=baseline,
        )
        preface = f"# the same as a file:\n\n{spec.to_toml()}"
    if mlflow is not None:
        if not report:
            raise InputError("--mlflow logs the report, which --no-report leaves out: give one of them")
        from pomona.experiments.tracking import connect

        connect(mlflow)  # which is to fail before the work is done, not after
    model = out if refit_best and out is not None and out.suffix == ".pomona" else None
    if out is None or model is not None:
        home = Path(data[0]).parent  # perhaps the directory that the spec was written to
        is_store = data[0].endswith(".toml") and (home / "store.sqlite").is_file()
        out = home if is_store else Path(f"{re.sub(r'[ /]', '-', spec.name)}-comparison")
    if all_trials and spec.search is None:
        raise typer.BadParameter("--all-trials shows a search, and there is none: add --trials 20")
    model = model or out / "best.pomona"
    if refit_best:
        _refuse_model(model, out)
        first = spec.datasets[0].source  # the best of the first dataset is trained
        if isinstance(first, Files) and first.valid is None and spec.search is None:
            raise InputError(
                "--refit-best needs validation queries, by which the best is chosen: give --valid FILE"
            )
    watch = Progress(spec.main, preface=preface, is_quiet=as_json)
    how: dict[str, Any] = {"n_jobs": jobs, "dask": dask, "retry": retry, "verify": verify}
    results = present(spec, out, watch, report=report, all_trials=all_trials, **how)
    if refit_best:
        _refit(results, model, is_quiet=as_json)
    if mlflow is not None:
        from pomona.experiments.tracking import log_to_mlflow

        typer.echo(f"MLflow run: {log_to_mlflow(results, mlflow)} in {mlflow}", err=as_json)


def _refuse_model(model: Path, directory: Path) -> None:
    """Refuse a file for the best model that cannot be written, before the work, not after."""
    from pomona._arrays import refuse_unwritable

    if model.is_dir():
        raise InputError("found a directory, expected the name of a file to write the best model to", model)
    if model.parent == directory:
        if model.exists() and not (directory / "store.sqlite").is_file():
            raise InputError("is there and no work of this comparison: name another by --out", model)
    elif not model.parent.is_dir():
        raise InputError("no such directory to write the best model to", model.parent)
    else:
        refuse_unwritable(model.parent)


def _refit(results: Results, path: Path, *, is_quiet: bool) -> None:
    """Train the best ranker on everything, and save it."""
    from pomona.experiments.refit import refit_best

    found = refit_best(results)
    found.ranker.save(path)
    typer.echo(f"{found.sentence}: {path}", err=is_quiet)


def present(
    spec: Spec,
    directory: Path,
    watch: Progress,
    *,
    report: bool = True,
    prepare: Callable[[], None] | None = None,
    all_trials: bool = False,
    **how: Any,
) -> Results:
    """Run a comparison in sight of the user, and, if wanted, write its report and print the answer.

    `prepare` is called while the runs are done: what it leaves in the directory, the report can show.
    `all_trials` prints what searches tried, too.
    """
    from pomona.cli.output import print_json
    from pomona.experiments.refit import index_models

    ready: Future[None] = Future()
    if report:
        from pomona.report.file import refuse_foreign

        refuse_foreign(directory, is_shared=True)
        Thread(target=_get_ready, args=(watch, prepare, ready), daemon=True).start()
    results = _watched(spec, directory, watch, how)
    states = results.runs["state"].to_list()
    if "done" not in [s for s, b in zip(states, results.runs["is_bound"], strict=True) if not b]:
        reasons = results.runs["reason"].drop_nulls().to_list()
        raise PomonaError(f"every run failed, the first because: {reasons[0]}")
    index_models(results)
    counts = {state: states.count(state) for state in sorted(set(states))}
    if not report:
        ended = ", ".join(f"{count} runs {state}" for state, count in counts.items())
        text = f"{ended} in {directory}; the same command without --no-report writes the report"
        print_json({"runs": counts, "directory": str(directory)}) if watch.is_quiet else typer.echo(text)
        return results
    from pomona.experiments.findings import find
    from pomona.report.html import begun_report

    with begun_report(directory) as begun:  # gets ready while the statistics are computed
        findings = find(results)
        ready.result()
        begun.write(findings)
    path = directory / "report.html"
    if watch.is_quiet:
        print_json(
            {
                "report": str(path),
                "runs": counts,
                "main": findings.main,
                "baseline": findings.baseline,
                "table": findings.quality.to_dicts(),
                "costs": findings.costs.to_dicts(),
                "warnings": findings.warnings,
                "trials": results.trials.to_dicts(),
                "spec": spec.to_toml(),
            }
        )
        return results
    _print_answer(findings)
    _print_search(results, spec.main, all_trials=all_trials)
    for warning in findings.warnings:
        typer.echo(f"note: {warning}", err=True)
    typer.echo(f"\nreport: {path}")
    return results


def _get_ready(watch: Progress, prepare: Callable[[], None] | None, ready: Future[None]) -> None:
    """Load, bundle and compile what the report needs, and prepare it, once all processes have work."""
    watch.has_begun.wait()
    try:
        from pomona.report.page import vega
        from pomona.report.section import sections_of
        from pomona.stats.paired import compare_pair

        sections_of("comparison")
        vega()
        compare_pair(range(20), range(20), n_resamples=100)
        if prepare is not None:
            prepare()
        ready.set_result(None)
    except BaseException as error:
        ready.set_exception(error)


def _print_search(results: Results, main: str, *, all_trials: bool) -> None:
    """What searches chose, or all that they tried: a line a run, or a trial."""
    import polars as pl

    from pomona.cli.output import print_frame

    if results.trials.is_empty():
        return
    n_trials = len(results.trials)
    shown = results.trials if all_trials else results.trials.filter(pl.col("is_chosen"))
    what = f"all {n_trials} trials" if all_trials else f"chosen of {n_trials} trials (all: --all-trials)"
    typer.echo(f"\n{what}, by {main} of the validation queries\n")
    words = pl.col("parameters").map_elements(_in_words, return_dtype=pl.String)
    columns = ["dataset", "ranker", "fold", "seed", "trial", "value", "parameters"]
    print_frame(shown.with_columns(words).select([*columns, "is_chosen"] if all_trials else columns))


def _in_words(parameters: str) -> str:
    given = json.loads(parameters).items()
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in given)


def _watched(spec: Spec, directory: Path, watch: Progress, how: Mapping[str, Any]) -> Results:
    from contextlib import nullcontext

    from rich.live import Live

    from pomona.experiments.compare import compare as run_comparison

    how = {**how, "command": shlex.join(["pomona", *sys.argv[1:]])}
    is_live = watch.console.is_terminal and not watch.is_quiet
    try:
        with Live(watch, console=watch.console, transient=True) if is_live else nullcontext():
            return run_comparison(spec, directory, watch=watch, **how)
    except KeyboardInterrupt:
        kept = f"{watch.n_done} of {watch.n_runs} runs are done and kept in {directory}"
        when = f"; {kept}. The same command goes on from there" if watch.n_runs else " before the first run"
        typer.echo(f"\npomona: stopped{when}.", err=True)
        raise typer.Exit(130) from None


def _print_answer(findings: Findings) -> None:
    """One table a dataset: rankers by the main measure, the best first."""
    from pomona.cli.output import print_table
    from pomona.report.sections.headline import sentences_of

    _print_studies(findings)
    sentences = sentences_of(findings)
    measures = findings.measures[: len(findings.results.spec.measures)]  # under the first convention
    for (dataset,), table in findings.quality.group_by("dataset", maintain_order=True):
        by_measure = {
            (row["ranker"], row["measure"]): f"{row['mean']:.4f}{row['mark'] or ' '}"
            for row in table.to_dicts()
        }
        costs = findings.costs.filter(dataset=dataset)
        seconds = dict(zip(costs["ranker"], costs["train_seconds"], strict=True))
        # As in the report, means of other queries than the others' stand last.
        ranked = table.filter(measure=findings.main).sort("is_comparable", "mean", descending=True)["ranker"]
        rows = [
            [
                ranker,
                *(by_measure.get((ranker, measure), "") for measure in measures),
                f"{seconds[ranker]:.2f}" if seconds.get(ranker) is not None else "",
            ]
            for ranker in ranked
        ]
        typer.echo(f"\n{dataset}\n")
        print_table(["ranker", *measures, "train s"], rows)
        typer.echo(
            f"▲ ▼ significantly above or below {findings.baseline}\n\n{' '.join(sentences[str(dataset)])}"
        )


def _print_studies(findings: Findings) -> None:
    """What studies found, by the main measure: a line a value of the variable."""
    from pomona.cli.output import print_frame

    main = findings.study.filter(measure=findings.main)
    shown = ("series", "x", "n_train_docs", "n_draws", "mean", "low", "high", "difference", "is_significant")
    for (dataset, variable), table in main.group_by("dataset", "variable", maintain_order=True):
        typer.echo(f"\n{dataset}: {findings.main} by {variable}\n")
        print_frame(table.select(*shown).rename({"x": str(variable)}))
    overfitting = findings.overfitting
    for (dataset,), table in overfitting.group_by("dataset", maintain_order=True):
        typer.echo(f"\n{dataset}: test queries after every iteration\n")
        names = ("ranker", "measure", "chosen", "last", "at_chosen", "at_last", "difference", "low", "high")
        print_frame(table.select(*names, "is_significant"))


def _refuse_parts(data: Sequence[str], test: str | None, valid: Path | None) -> None:
    """Training, validation and test files are parts of one dataset, not three datasets; a spec is none."""
    specs = [text for text in data if text.endswith(".toml")]
    if specs:
        raise InputError("is a spec, which says all that is compared: give it alone, or data alone", specs[0])
    if valid is not None and test is None:
        raise InputError("--valid goes with a training file and --test, found no --test: add it")
    stems = [Path(text).name.partition(".")[0].lower() for text in data]
    if test is not None and len(data) > 1:
        raise InputError(f"--test goes with one training file, found {len(data)}: {', '.join(data)}")
    if len(data) > 1 and set(stems) <= _ROLES:
        raise InputError(
            f"found {', '.join(data)} as {len(data)} datasets: give the directory they lie in, "
            "or the training file with --valid and --test"
        )


def integers(name: str, text: str | None) -> list[int] | None:
    """The whole numbers of an option."""
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"found --{name} {text}, expected whole numbers, as in 1,2,3") from None
