"""Write a model for another engine: LightGBM, XGBoost, RankLib, Solr, C."""

from __future__ import annotations

from typing import Annotated

import typer

from pomona.cli.options import Json, Model, Output
from pomona.errors import InputError


def export(
    model: Model,
    format: Annotated[
        str, typer.Option("--format", "-f", help="One of the models of `pomona list formats`.")
    ],
    out: Output = None,
    as_json: Json = False,
) -> None:
    """Write a forest in the form that another engine reads; its scores there are those of `pomona score`.

    \b
    Example:  pomona export model.pomona --format lightgbm -o model.txt
    """
    from pomona import _registry
    from pomona.cli.output import print_json
    from pomona.rankers.base import load_model
    from pomona.rankers.forests.forest_ranker import ForestRanker

    entry = _registry.find("trees/formats", format, "format of models")
    if out is None and as_json:
        raise InputError("with --json the model needs a file of its own: add -o FILE")
    ranker = load_model(model)
    if not isinstance(ranker, ForestRanker):
        raise InputError(f"a model of {ranker.name} has no trees, and only trees can be exported", model)
    if out is None:
        typer.echo(ranker.exported(entry.name), nl=False)
        return
    ranker.export(out, entry.name)
    forest = ranker.whole_forest()
    if as_json:
        print_json(
            {"format": entry.name, "file": str(out), "trees": forest.n_trees, "features": forest.n_features}
        )
        return
    typer.echo(f"{forest.n_trees} trees over {forest.n_features} features: {out}")
    if not entry.load().reads_undefined:
        typer.echo(
            f"note: {entry.name} knows no undefined values; what a document lacks is 0 there", err=True
        )
