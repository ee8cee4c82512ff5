"""Whether a model is locally optimal: random directions around its parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.experiments.analysis.optimality import LocalOptimality


def optimality(
    model: option.Model,
    data: Annotated[list[Path], typer.Argument(help="Files that the model is judged by, each by itself.")],
    measure: option.Measures = None,
    directions: Annotated[int, typer.Option(help="How many random directions.")] = 460,
    steps: Annotated[str, typer.Option(help="How far along each, with commas between.")] = (
        "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"
    ),
    epsilon: Annotated[float, typer.Option(help="What counts as clearly better.")] = 0.003,
    relative: Annotated[bool, typer.Option("--relative", help="Steps are shares of ‖w‖.")] = False,
    seed: option.Seed = 0,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    out: option.ReportDirectory = None,
    as_json: option.Json = False,
) -> None:
    """Look for better parameters around those of a model (Donmez, Svore & Burges 2009).

    All weights of a linear ranker, weights and biases of a network or leaf values of a forest are moved by
    each step in each direction, and the data judged again. Counted is how many points are better than the
    model, and how many by more than epsilon. When none is, the model is epsilon-optimal: with 460
    directions, at most 1 % of all have a better point with a confidence of 99 %.

    The ranking of a linear model does not depend on the length of its weights, which is scaled to 1 first.
    Ctrl-C ends the search with the directions that are done.

    \b
    Example:  pomona optimality model.pomona train.txt test.txt -m p@10
              pomona optimality net.pomona train.txt -m ap,p@10 --relative \\
                  --out report
    """
    from pomona.cli.inputs import distinct, read_for_model
    from pomona.cli.output import finish_analysis, progress_bars, report_for
    from pomona.experiments.analysis.optimality import local_optimality
    from pomona.rankers.loading import load_model

    options: dict[str, Any] = {
        "n_directions": directions,
        "steps": _numbers(steps),
        "epsilon": epsilon,
        "relative": relative,
        "seed": seed,
    }
    distinct([str(path) for path in data])
    ranker = load_model(model)
    found: dict[str, dict[str, LocalOptimality]] = {}
    interrupted = False
    for path in data:
        documents = read_for_model(path, ranker, option.named_columns(label, qid, doc_id), labelled=True)
        for wanted in option.split_measures(measure) or [str(ranker.parsed_measure)]:
            with progress_bars(str(path), [wanted], is_quiet=as_json) as watch:
                hear = partial(_hear, watch, wanted, directions)
                one = local_optimality(ranker, documents, wanted, **options, watch=hear)
            if relative and one.was_scaled:
                raise typer.BadParameter("--relative has no effect: the weights were scaled to length 1")
            found.setdefault(str(path), {})[one.measure] = one
            interrupted = one.interrupted
            if interrupted:
                break
        if interrupted:
            break
    report = report_for(
        out,
        "optimality",
        found,
        title="Is the model locally optimal?",
        question="Is any direction better?",
        summary=f"{model} ({type(ranker).__name__}) on {', '.join(found)}",
        datasets=list(found),
    )
    tables = _tables(found)
    if not as_json:
        _print(type(ranker).__name__, found, tables["optimality"])
    finish_analysis(tables, report, out, as_json=as_json)
    if interrupted:
        typer.echo("pomona: interrupted; the directions that were done are counted", err=True)
        raise typer.Exit(130)


def _hear(watch: Callable[[str, float], None], measure: str, directions: int, n_done: int) -> None:
    watch(measure, n_done / directions)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"found --steps {text!r}, expected numbers with commas between, e.g. 0.1,0.5"
        ) from None


def _print(kind: str, found: dict[str, dict[str, LocalOptimality]], table: Any) -> None:
    from pomona.cli.output import print_frame

    one = next(one for of_data in found.values() for one in of_data.values())
    typer.echo(f"{kind}: {one.n_parameters} {one.what}, ‖w‖ = {one.norm:.4g}", nl=False)
    if one.was_scaled:
        typer.echo(", scaled to 1 first (no ranking depends on it)", nl=False)
    typer.echo(f"; steps {'are shares of ‖w‖' if one.is_relative else 'are absolute'}; ε = {one.epsilon:g}\n")
    print_frame(table.drop("parameters", "norm"))


def _tables(found: dict[str, dict[str, LocalOptimality]]) -> dict[str, Any]:
    import polars as pl

    every = [(data, one) for data, of_data in found.items() for one in of_data.values()]
    by_step = [
        one.by_step.select(pl.lit(data).alias("data"), pl.lit(one.measure).alias("measure"), pl.all())
        for data, one in every
        if len(one.values)
    ]
    return {
        "optimality": pl.DataFrame([{"data": data, **one.row()} for data, one in every]),
        "steps": pl.concat(by_step) if by_step else pl.DataFrame(),
    }
