"""Write a model for another engine: LightGBM, XGBoost, Elasticsearch, OpenSearch, Solr, Vespa, ONNX, C …"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pomona.cli import options as option
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.rankers.base import Ranker

_OPTIONS = ("engine_version", "feature_map", "nonnegative", "model_name", "store", "raw")
"""Of `Ranker.exported`, each an option of the verbs that write models."""


def export(
    context: typer.Context,
    model: option.Model,
    format: Annotated[str, option.FORMAT],
    out: option.Output = None,
    engine_version: option.EngineVersion = None,
    feature_map: option.FeatureMap = None,
    nonnegative: option.Nonnegative = False,
    model_name: option.ModelName = "pomona",
    store: option.Store = None,
    raw: option.Raw = False,
    as_json: option.Json = False,
) -> None:
    """Write a model in the form that another engine reads; what cannot be the same there is said.

    \b
    Example:  pomona export model.pomona --format lightgbm -o model.txt
              pomona export model.pomona -f opensearch --engine-version 3.5 \\
                  --feature-map names.csv -o m.json
    """
    from pomona.rankers.loading import load_model

    write_export(load_model(model), format, out, context, as_json=as_json)


def write_export(
    ranker: Ranker, format: str, out: Path | None, context: typer.Context, *, as_json: bool
) -> None:
    """Export by the options of a verb, and say what was written and what cannot be the same."""
    from pomona import _registry
    from pomona._arrays import whole_file
    from pomona.cli.output import print_json, said_as_notes

    entry = _registry.find("trees/formats", format, "format of models")
    if out is None and as_json:
        raise InputError("with --json the model needs a file of its own: add -o FILE")
    with said_as_notes(is_quiet=as_json) as notes:
        content = ranker.exported(entry.name, **{name: context.params[name] for name in _OPTIONS})
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
        print_json({**told, "notes": notes} if notes else told)
    elif out is not None:
        what = f"{n_trees} trees over {ranker.n_features_in_}" if n_trees else f"{ranker.n_features_in_}"
        typer.echo(f"{what} features: {out}")
