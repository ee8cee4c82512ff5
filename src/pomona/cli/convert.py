"""Convert a model of any trainer for any engine."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from pomona.cli.export import (
    EngineVersion,
    FeatureMap,
    FormatName,
    ModelName,
    Nonnegative,
    Store,
    write_export,
)
from pomona.cli.options import Json, Output
from pomona.errors import InputError

Source = Annotated[
    Path, typer.Argument(help="A model of Pomona, LightGBM, XGBoost, CatBoost or RankLib, known by content.")
]


def convert(
    source: Source,
    format: FormatName,
    out: Output = None,
    engine_version: EngineVersion = None,
    feature_map: FeatureMap = None,
    nonnegative: Nonnegative = False,
    model_name: ModelName = "pomona",
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Read the model of any trainer, and write it in the form that another engine reads.

    The format `pomona` is Pomona's own, which every verb reads.

    \b
    Example:  pomona convert lightgbm.txt -f opensearch -o model.json
              pomona convert xgboost.ubj -f pomona -o model.pomona
    """
    from pomona.cli.output import print_json
    from pomona.rankers.base import load_model

    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        ranker = load_model(source)
    for note in notes:
        typer.echo(f"note: {note.message}", err=True)
    if format.lower() != "pomona":
        options = {
            "engine_version": engine_version,
            "feature_map": feature_map,
            "nonnegative": nonnegative,
            "model_name": model_name,
            "store": store,
        }
        write_export(ranker, format, out, options, as_json=as_json)
        return
    if out is None:
        raise InputError("Pomona's own model is binary: add -o FILE")
    ranker.save(out)
    if as_json:
        print_json({"format": "pomona", "file": str(out), "features": ranker.n_features_in_})
    else:
        typer.echo(f"{ranker.n_features_in_} features: {out}")
