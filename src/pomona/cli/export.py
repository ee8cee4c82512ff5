"""Write a model for another engine: LightGBM, XGBoost, Elasticsearch, OpenSearch, Solr, Vespa, ONNX, C …"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli.options import Json, Model, Output
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.rankers.base import Ranker

FormatName = Annotated[
    str, typer.Option("--format", "-f", help="One of the models of `pomona list formats`.")
]
EngineVersion = Annotated[
    str | None, typer.Option(help="Of the engine, where versions differ, e.g. 3.5 [the newest known].")
]
FeatureMap = Annotated[
    Path | None, typer.Option(help="CSV: a feature of the model, its name in the engine; checked.")
]
Nonnegative = Annotated[bool, typer.Option("--nonnegative", help="Shift scores so that none is below 0.")]
ModelName = Annotated[str, typer.Option(help="What the engine shall call the model.")]
Store = Annotated[str | None, typer.Option(help="Its feature store (Solr) or feature set (Elasticsearch).")]

Raw = Annotated[bool, typer.Option("--raw", help="For the plugins: XGBoost's own JSON (xgboost+json+raw).")]


def export(
    model: Model,
    format: FormatName,
    out: Output = None,
    engine_version: EngineVersion = None,
    feature_map: FeatureMap = None,
    nonnegative: Nonnegative = False,
    model_name: ModelName = "pomona",
    store: Store = None,
    raw: Raw = False,
    as_json: Json = False,
) -> None:
    """Write a model in the form that another engine reads; what cannot be the same there is said.

    \b
    Example:  pomona export model.pomona --format lightgbm -o model.txt
              pomona export model.pomona -f opensearch --engine-version 3.5 --feature-map names.csv -o m.json
    """
    from pomona.rankers.loading import load_model

    options = {
        "engine_version": engine_version,
        "feature_map": feature_map,
        "nonnegative": nonnegative,
        "model_name": model_name,
        "store": store,
        "raw": raw,
    }
    write_export(load_model(model), format, out, options, as_json=as_json)


def write_export(
    ranker: Ranker, format: str, out: Path | None, options: dict[str, Any], *, as_json: bool
) -> None:
    """Export, and say what was written and what cannot be the same."""
    from pomona import _registry
    from pomona._arrays import whole_file
    from pomona.cli.output import print_json

    entry = _registry.find("trees/formats", format, "format of models")
    if out is None and as_json:
        raise InputError("with --json the model needs a file of its own: add -o FILE")
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        content = ranker.exported(entry.name, **options)
    if out is None:
        if isinstance(content, bytes):
            raise InputError(f"{entry.name} is binary: add -o FILE")
        typer.echo(content, nl=False)
    else:
        with whole_file(out) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    n_trees = getattr(ranker.portable(), "n_trees", 0)
    if as_json:
        told = {"format": entry.name, "file": str(out), "trees": n_trees, "features": ranker.n_features_in_}
        print_json({**told, "notes": [str(note.message) for note in notes]} if notes else told)
        return
    if out is not None:
        what = f"{n_trees} trees over {ranker.n_features_in_}" if n_trees else f"{ranker.n_features_in_}"
        typer.echo(f"{what} features: {out}")
    for note in notes:
        typer.echo(f"note: {note.message}", err=True)
