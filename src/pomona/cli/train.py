"""Fit a ranker and save it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from pomona._parameters import checked_parameters, read_parameters
from pomona.cli.options import (
    Dask,
    Data,
    DocId,
    Json,
    Label,
    NewModel,
    Qid,
    Settings,
    UnjudgedInTraining,
    Valid,
    named_columns,
)
from pomona.errors import InputError


def train(
    ranker: Annotated[str, typer.Argument(help="A name of `pomona list rankers`.")],
    data: Data,
    out: NewModel,
    valid: Valid = None,
    base_model: Annotated[
        Path | None, typer.Option(help="A model whose scores a boosted forest adds its trees to.")
    ] = None,
    settings: Settings = None,
    dask: Dask = None,
    weight: Annotated[
        str | None, typer.Option(help="A column of tables: the weight of each document, and no feature.")
    ] = None,
    unjudged: UnjudgedInTraining = None,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Fit a ranker to labelled data and write the model.

    Values are written as in a spec: n_trees=200, hidden=[64, 32], early_stopping=none, measure=err@20.

    Ctrl-C stops the training and writes the best model so far; the exit status is then 130.

    With --dask the workers of a cluster read and learn (forests): the data are files that they can read, a
    pattern in quotes for several.

    \b
    Example:  pomona train lambdamart train.txt --valid vali.txt \\
                  -s measure=letor4:ndcg@10 -o model.pomona
              pomona train mart train.csv.gz --label grade -s n_trees=200 \\
                  -o mart.pomona
              pomona train lambdamart train.txt --base-model linear.pomona \\
                  -o model.pomona
              pomona train lambdamart "train-*.parquet" --dask tcp://host:8786 \\
                  -o model.pomona
              pomona train lambdarank train.txt -s "hidden=[64, 32]" \\
                  -s valid_measure=ap -o net.pomona
    """
    import logging
    import time

    import numpy as np

    from pomona._registry import find
    from pomona.cli.inputs import read_with_validation
    from pomona.cli.output import print_json, said_as_notes

    cls = find("rankers", ranker, "ranker").load()
    chosen = parsed_settings(cls, settings or [])
    if "verbose" in cls().get_params(deep=False):
        chosen.setdefault("verbose", not as_json)
    fitted = cls(**chosen)
    if out.parent != Path() and not out.parent.is_dir():
        raise InputError("no such directory to write the model to", out.parent)
    if out.is_dir():
        raise InputError("found a directory, expected the name of a file to write the model to", out)
    start: dict[str, Any] = {} if unjudged is None else {"unjudged": unjudged}
    if base_model is not None:
        from pomona.rankers.loading import load_model

        if not getattr(cls, "starts_from_scores", False):
            raise InputError(f"{cls.name} cannot start from the scores of a model: leave --base-model out")
        start["base_model"] = load_model(base_model)
    columns, n_unjudged = named_columns(label, qid, doc_id), 0
    training: Any = data
    held_out: Any = valid
    if dask is None:
        training, held_out = read_with_validation(data, valid, columns, weight=weight)
        n_unjudged = int(np.isnan(training.y).sum())
        if unjudged is not None and not n_unjudged:
            raise typer.BadParameter(f"--unjudged has no effect: every document of {data} has a label")
    else:
        if weight is not None:
            raise InputError("a cluster reads no weights: leave --weight out")
        start |= _on_cluster(cls, dask, columns)
    if as_json:
        logging.getLogger("pomona").setLevel(logging.ERROR)  # nothing about compiling
    started = time.perf_counter()
    with said_as_notes(is_quiet=as_json), start.get("client") or nullcontext():
        fitted.fit(training, valid=held_out, **start)
    seconds = time.perf_counter() - started
    fitted.save(out)
    facts: dict[str, Any] = {"ranker": fitted.name, "model": str(out), "seconds": round(seconds, 3)}
    if n_unjudged:
        facts["n_not_judged"] = n_unjudged
    if hasattr(fitted, "best_iteration_"):
        is_forest = hasattr(fitted, "n_trees")  # which may keep more trees than the best round had
        kept = getattr(getattr(fitted, "model_", None), "n_trees", None) if is_forest else None
        facts["trees" if is_forest else "iterations"] = kept or fitted.best_iteration_
    measure = str(fitted.measure or fitted.parsed_measure)  # an ensemble may leave it to its members
    if held_out is not None and dask is None:
        facts["valid"] = {measure: fitted.score(held_out)}
    elif held_out is not None:
        facts["valid"] = {measure: fitted.evals_["valid"][fitted.best_iteration_ - 1]}
    if as_json:
        print_json(facts)
    else:
        # Workers hold the validation queries, and have judged rounds, not the mean of them that is kept.
        where = " in the best round" if dask is not None and getattr(fitted, "averaged", False) else ""
        valid_facts = facts.get("valid", {}).items()
        judged = "".join(f", validation {name} {value:.4f}{where}" for name, value in valid_facts)
        units = (unit for unit in ("trees", "iterations") if unit in facts)
        kept = "".join(f"{facts[unit]} {unit if facts[unit] != 1 else unit[:-1]}, " for unit in units)
        typer.echo(f"{fitted.name}: {kept}{seconds:.1f} s{judged}; model in {out}")
        if n_unjudged:
            how = "label 0" if unjudged == "irrelevant" else "weight 0 (--unjudged irrelevant: label 0)"
            typer.echo(f"note: {n_unjudged} of {training.n_docs} documents are not judged: {how}", err=True)
    if getattr(fitted, "interrupted_", False):
        raise typer.Exit(130)


def _on_cluster(cls: Any, address: str, columns: dict[str, str]) -> dict[str, Any]:
    """How a ranker is fitted by the cluster at an address."""
    from pomona.experiments.cluster import connected

    if not getattr(cls, "trains_on_clusters", False):
        raise InputError(f"{cls.name} is no forest that a cluster could train: leave --dask out")
    if "doc_id" in columns:
        raise InputError("a cluster reads no document ids: leave --doc-id out")
    names = {"y": columns.get("label"), "qid": columns.get("qid")}
    return {"client": connected(address), **names}


def parsed_settings(cls: type, settings: list[str]) -> dict[str, Any]:
    """`name=value` texts as parameters of a ranker."""
    for text in settings:
        if "=" not in text:
            raise InputError(f"found --set {text!r}, expected NAME=VALUE")
    pairs = (text.partition("=")[::2] for text in settings)
    return checked_parameters(cls, read_parameters(cls, pairs))
