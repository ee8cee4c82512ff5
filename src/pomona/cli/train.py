"""Fit a ranker and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pomona.errors import InputError, UnknownNameError


def train(
    ranker: Annotated[str, typer.Argument(help="A name of `pomona list rankers`.")],
    data: Annotated[Path, typer.Argument(help="Training data: LETOR file or table.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    valid: Annotated[
        Path | None, typer.Option("--valid", help="Validation data, for early stopping.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="A parameter; repeat.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines; no progress bar.")] = False,
) -> None:
    """Fit a ranker to labelled data and write the model.

    Ctrl-C stops the training and writes the best model so far.

    \b
    Example:  pomona train lambdamart train.txt --valid vali.txt -s measure=letor4:ndcg@10 -o model.pomona
              pomona train mart train.txt -s n_trees=200 -s learning_rate=0.05 -o mart.pomona
    """
    import time
    import warnings

    from pomona._jit import is_first_run
    from pomona._registry import find
    from pomona.cli.inputs import read_data
    from pomona.cli.output import print_json

    fitted = find("rankers", ranker, "ranker").load()()
    chosen = parsed_settings(fitted.get_params(deep=False), settings or [])
    if "verbose" in fitted.get_params(deep=False):
        chosen.setdefault("verbose", not as_json)
    fitted.set_params(**chosen)
    if out.parent != Path() and not out.parent.is_dir():
        raise InputError("no such directory to write the model to", out.parent)
    training, held_out = read_data(data), None if valid is None else read_data(valid)
    if hasattr(fitted, "n_trees") and is_first_run("trees/grower.py") and not as_json:
        typer.echo("compiling, some 20 seconds the first time …", err=True)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        fitted.fit(training, valid=held_out)
    seconds = time.perf_counter() - started
    fitted.save(out)
    facts: dict[str, Any] = {"ranker": fitted.name, "model": str(out), "seconds": round(seconds, 3)}
    if hasattr(fitted, "best_iteration_"):
        facts["trees" if hasattr(fitted, "n_trees") else "iterations"] = fitted.best_iteration_
    if held_out is not None:
        facts["valid"] = {str(fitted.measure): fitted.score(held_out)}
    if as_json:
        print_json(facts)
        return
    for warning in caught:
        typer.echo(f"note: {warning.message}", err=True)
    judged = "".join(f", validation {name} {value:.4f}" for name, value in facts.get("valid", {}).items())
    kept = "".join(f"{facts[unit]} {unit}, " for unit in ("trees", "iterations") if unit in facts)
    typer.echo(f"{fitted.name}: {kept}{seconds:.1f} s{judged}; model in {out}")


def parsed_settings(defaults: dict[str, Any], settings: list[str]) -> dict[str, Any]:
    """`name=value` texts as parameters, each of the kind of its default."""
    parsed: dict[str, Any] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"found --set {text!r}, expected NAME=VALUE")
        if name not in defaults:
            raise UnknownNameError("parameter", name, defaults)
        parsed[name] = _value(name, value, defaults[name])
    return parsed


def _value(name: str, text: str, default: Any) -> Any:
    lowered = text.lower()
    if lowered in ("none", "null"):
        return None
    if isinstance(default, bool):
        if lowered not in ("true", "false"):
            raise InputError(f"found {name}={text}, expected true or false")
        return lowered == "true"
    if isinstance(default, str):
        return text
    if "," in text:
        return tuple(_number(name, part) for part in text.split(","))
    value = _number(name, text)
    if isinstance(default, int) and not isinstance(value, int):
        raise InputError(f"found {name}={text}, expected an integer")
    return value


def _number(name: str, text: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(f"found {name}={text}, expected a number")
