"""How many queries must be judged to show a difference, and what can be shown now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona._types import Values


def power(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA OLD NEW | OLD.run NEW.run | TABLE",
            help="A pilot: data and two files of scores; with --qrels two TREC runs; with --columns a table.",
        ),
    ],
    measure: option.Measure = "ndcg@10",
    qrels: option.Qrels = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="The file is a table of values a query: the columns OLD,NEW, or one of differences."
        ),
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="What is to be shown; the pilot’s own if left out.")
    ] = None,
    power: Annotated[float, typer.Option(help="How likely it shall be found.")] = 0.8,
    alpha: option.Alpha = 0.05,
    simulations: Annotated[int, typer.Option(help="How often queries are drawn from the pilot.")] = 2000,
    seed: option.Seed = 0,
    convention: option.Convention = None,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    out: option.ReportDirectory = None,
    as_json: option.Json = False,
) -> None:
    """From a pilot, tell how many queries a paired t-test needs for a difference, and what it can show now.

    The formula takes the differences for normal; the simulation draws queries from the pilot itself.

    \b
    Example:  pomona power test.txt old.txt new.txt -m ndcg@10 --difference 0.01
              pomona power --qrels qrels.txt bm25.run dense.run -m ap --power 0.9
              pomona power pilot.csv --columns old,new
    """
    from pomona.cli.inputs import are_trec
    from pomona.cli.output import finish_analysis, print_frame, report_for
    from pomona.experiments.analysis.power import FEW
    from pomona.experiments.analysis.power import power as analyse

    if simulations < 1:
        raise InputError(f"found {simulations} simulations, expected at least 1")
    used = "files difference power alpha simulations seed out as_json"
    n_left_out = 0
    if columns is not None:
        option.refuse_unused(context, "with --columns", f"{used} columns")
        pilot = _of_table(files, columns)
    else:
        if qrels is None and are_trec(files):
            qrels, *files = files
        names = "qrels" if qrels is not None else "label qid doc_id"
        how = "with DATA and scores" if qrels is None else "with runs"
        option.refuse_unused(context, how, f"{used} measure convention {names}")
        option.refuse_unused_convention("--convention", convention, [measure])
        named = option.named_columns(label, qid, doc_id)
        pilot, n_left_out = _of_systems(files, qrels, measure, convention, named)
    options: dict[str, Any] = {"power": power, "alpha": alpha, "n_simulations": simulations, "seed": seed}
    found = analyse(pilot, difference=difference, **options)
    if not as_json:
        typer.echo(f"{found.answer}\n")
        print_frame(found.curve)
        if n_left_out:
            typer.echo(f"\nnote: judged queries that a run lacks are left out: {n_left_out}")
        if found.n_queries < FEW:
            typer.echo(f"\na pilot of fewer than {FEW} queries tells little about the spread of all")
    report = report_for(
        out,
        "power",
        found,
        title="How many queries?",
        question="How many queries must be judged?",
        summary=", ".join(path.name for path in files),
    )
    finish_analysis(found.tables, report, out, as_json=as_json)


def _of_systems(
    files: list[Path], qrels: Path | None, measure: str, convention: str | None, columns: dict[str, Any]
) -> tuple[Values, int]:
    """The differences of two systems, as `pomona duel` has them, and how many queries a run lacks."""
    from pomona.cli.inputs import check_runs
    from pomona.experiments.analysis.duel import duel, duel_of_runs

    n_expected = 3 if qrels is None else 2
    if len(files) != n_expected:
        what = "DATA OLD NEW" if qrels is None else "two runs beside the judgments (--qrels)"
        raise InputError(f"found {len(files)} files, expected {what}")
    old, new = files[-2:]
    if qrels is not None:
        check_runs(files)
        found = duel_of_runs(qrels, {"old": old, "new": new}, measure, convention=convention)
    else:
        from pomona.cli.inputs import read_scores
        from pomona.data.read import read

        data = read(files[0], **columns)
        scores = {"old": read_scores(old, data.n_docs), "new": read_scores(new, data.n_docs)}
        found = duel(data, scores, measure, convention=convention)
    d: Values = found.differences("new", "old")["difference"].to_numpy()
    return d, found.n_left_out


def _of_table(files: list[Path], columns: str) -> Values:
    """The differences in a table of values a query."""
    import numpy as np

    from pomona.cli.inputs import read_cells

    if len(files) != 1:
        raise InputError(f"found {len(files)} files, expected one table of values for --columns")
    names, rows = read_cells(files[0])
    wanted = [name.strip() for name in columns.split(",")]
    for name in wanted:
        if name not in names:
            raise InputError(f"no column {name!r}: found {', '.join(names)}", files[0])
    if len(wanted) > 2:
        raise InputError(f"found {len(wanted)} columns, expected OLD,NEW or one of differences")
    series = []
    for name in wanted:
        place, numbers = names.index(name), []
        for line, row in rows:
            try:
                numbers.append(float(row[place]))
            except ValueError:
                raise InputError(f"found {row[place]!r}, expected a number", files[0], line) from None
        series.append(np.array(numbers))
    return np.round(series[1] - series[0], 12) if len(series) == 2 else series[0]
