"""How quality depends on data and parameters: training size, noise, overfitting, cut-off, search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError

_SIZES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_NOISE = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
_LEAVES = (5, 10, 15)
_GRID = {"learning_rate": (0.02, 0.05, 0.1, 0.2, 0.3), "n_leaves": (3, 7, 15, 31)}
_CUTOFFS = (2, 5, 10, 20, 30, 50)


class Kind(StrEnum):
    """What is studied."""

    size = "size"
    noise = "noise"
    overfit = "overfit"
    cutoff = "cutoff"
    search = "search"


def study(
    kind: Annotated[Kind, typer.Argument(help="What is varied.", metavar="size|noise|overfit|cutoff|search")],
    data: Annotated[
        list[str], typer.Argument(help="Collections, fold directories, files, or simulate(queries=300).")
    ],
    rankers: option.Rankers = None,
    measure: option.Measures = None,
    values: Annotated[
        str | None,
        typer.Option(help="Of the variable, with commas: shares, leaves or cut-offs; of `search`, leaves."),
    ] = None,
    rates: Annotated[str | None, typer.Option(help="Learning rates that `search` tries.")] = None,
    trees: Annotated[int | None, typer.Option(help="Trees of each forest.")] = None,
    draws: Annotated[int | None, typer.Option(min=1, help="How often sizes and noise are drawn [3].")] = None,
    folds: option.Folds = None,
    seeds: option.Seeds = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the spec and do nothing.")] = False,
    out: option.WorkDirectory = None,
    jobs: option.Jobs = None,
    as_json: option.Json = False,
) -> None:
    """Compare a ranker with itself: with less data, wrong labels, more trees, other measures or parameters.

    \b
    size      quality against the share of the training queries
    noise     against the share of training labels that are wrong
    overfit   every part of the data after each tree, by the number of leaves
    cutoff    trained for the measure at several cut-offs k
    search    a grid of learning rates × leaves

    The rankers are lambdamart, of size and noise also mart, unless others are named; without names λ is not
    damped (normalize=false), as in the thesis these studies come from. The first measure is the main one
    [ndcg@10]. Forests have 100 trees, or --trees; of `overfit` ten times as many. The spec of the study is
    shown, and kept as DIR/spec.toml: to change more than the options can, edit it and give it to
    `pomona compare`. It resumes in that directory, and reports.

    \b
    Example:
        pomona study size mq2008 --rankers "lambdamart,adarank" --draws 5
        pomona study noise mq2008 --values 0,0.01,0.1,0.5
        pomona study overfit mq2008 --values 5,31 -m err@20
        pomona study search "simulate(queries=500)" --dry-run
    """
    from pomona.cli.compare import integers, present
    from pomona.cli.output import print_json
    from pomona.cli.progress import Progress
    from pomona.experiments.spec_options import dataset_table, ranker_tables
    from pomona.experiments.spec_reader import spec_of

    if trees is not None and trees < 1:
        raise InputError(f"found --trees {trees}, expected at least 1")
    if rates is not None and kind is not Kind.search:
        raise typer.BadParameter(f"--rates is of `study search`, `study {kind.value}` has no learning rates")
    if draws is not None and kind not in (Kind.size, Kind.noise):
        raise typer.BadParameter(f"--draws is of `study size` and `noise`, {kind.value} draws nothing")
    if dry_run and (out is not None or jobs is not None):
        raise typer.BadParameter("--dry-run does nothing, so --out and --jobs have no use with it")
    shared = {"folds": integers("folds", folds)} if folds else {}
    # Without rankers of the user's the study is the thesis', whose λ is not damped.
    methods = ranker_tables(rankers or _RANKERS.get(kind, _UNDAMPED))
    tables: dict[str, Any] = {
        "name": f"{kind.value} {' '.join(data)}",
        "measures": option.split_measures(measure) or ["ndcg@10"],
        "seeds": integers("seeds", seeds) or [0],
        "bounds": False,
        "dataset": [{**dataset_table(text), **shared} for text in data],
        "ranker": [_with_trees(table, 100 if trees is None else trees) for table in methods],
    }
    if trees is not None and all(table.get("n_trees") != trees for table in tables["ranker"]):
        raise typer.BadParameter("--trees is of forests, and no ranker here takes it: leave it out")
    _labelled(tables["ranker"])
    main = tables["measures"][0]
    _VARIED[kind](tables, main, _numbers("values", values), _numbers("rates", rates), draws or 3)
    spec = spec_of(tables)
    text = spec.to_toml()
    if dry_run:
        print_json({"spec": text}) if as_json else typer.echo(text, nl=False)
        return
    out = out or Path(re.sub(r"[^\w.+-]+", "-", f"{spec.name}-study").strip("-"))
    watch = Progress(spec.main, preface=f"# the study as a file:\n\n{text}", is_quiet=as_json)
    present(spec, out, watch, n_jobs=jobs)


def _size(tables: dict[str, Any], main: str, values: Any, rates: Any, draws: int) -> None:
    values = values or _SIZES
    _vary(tables, "train_fraction", values, draws if min(values) < 1 else 1)


def _noise(tables: dict[str, Any], main: str, values: Any, rates: Any, draws: int) -> None:
    values = values or _NOISE
    _vary(tables, "label_noise", values, draws if max(values) > 0 else 1)


def _vary(tables: dict[str, Any], variable: str, values: Any, draws: int) -> None:
    for table in tables["dataset"]:
        table |= {"each": {variable: list(values)}, "draw": list(range(draws))}


def _overfit(tables: dict[str, Any], main: str, values: Any, rates: Any, draws: int) -> None:
    for table in tables["dataset"]:
        table |= {"curves": ["train", "valid", "test"]}
    _each(tables, n_leaves=_whole_numbers(values or _LEAVES))
    for table in tables["ranker"]:
        table |= {"n_trees": 10 * table["n_trees"], "early_stopping": "none"}


def _cutoff(tables: dict[str, Any], main: str, values: Any, rates: Any, draws: int) -> None:
    tables["norm_performance"] = True
    plain = main.partition("@")[0]
    # Every k below the truncation would otherwise be trained as that one.
    for table in tables["ranker"]:
        table |= {"truncation": "none"} if _has(table, "truncation") else {}
    _each(tables, measure=[f"{plain}@{k}" for k in _whole_numbers(values or _CUTOFFS)])


def _search(tables: dict[str, Any], main: str, values: Any, rates: Any, draws: int) -> None:
    tables["norm_performance"] = True
    leaves = _whole_numbers(values or _GRID["n_leaves"])
    _each(tables, learning_rate=list(rates or _GRID["learning_rate"]), n_leaves=leaves)


_VARIED = {
    Kind.size: _size,
    Kind.noise: _noise,
    Kind.overfit: _overfit,
    Kind.cutoff: _cutoff,
    Kind.search: _search,
}
_UNDAMPED = "lambdamart(normalize=false)"
_RANKERS = {Kind.size: f"{_UNDAMPED},mart", Kind.noise: f"{_UNDAMPED},mart"}


def _each(tables: dict[str, Any], **varied: list[Any]) -> None:
    for table in tables["ranker"]:
        for name in varied:
            if not _has(table, name):
                raise InputError(f"{table['ranker']} has no parameter {name}, which this study varies")
            table.pop(name, None)
        label = table.pop("label", None)
        table |= {"each": varied}
        if label is not None:
            table["label"] = f"{label} {' '.join(f'{{{name}}}' for name in varied)}"


def _has(table: dict[str, Any], name: str) -> bool:
    from pomona.experiments.spec import ranker_class

    return name in ranker_class(table["ranker"])().get_params(deep=False)


def _with_trees(table: dict[str, Any], trees: int) -> dict[str, Any]:
    """A forest of the size that is asked for, unless the ranker says its own."""
    return {**({"n_trees": trees} if _has(table, "n_trees") else {}), **table}


def _labelled(tables: list[dict[str, Any]]) -> None:
    """Rankers called by their class, where no other is of the same."""
    from pomona.experiments.spec import ranker_class

    names = [ranker_class(table["ranker"]).__name__ for table in tables]
    for table, name in zip(tables, names, strict=True):
        if names.count(name) == 1:
            table.setdefault("label", name)


def _whole_numbers(values: Sequence[float]) -> list[int]:
    if broken := [value for value in values if value != int(value)]:
        raise InputError(f"found --values {broken[0]:g}, expected whole numbers, as in 5,31")
    return [int(value) for value in values]


def _numbers(name: str, text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"found --{name} {text}, expected numbers, as in 0.1,0.5") from None
