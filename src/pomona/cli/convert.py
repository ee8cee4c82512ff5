"""Convert a model of any trainer for any engine, or an engine's feature log to training data."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pomona.cli.export import (
    EngineVersion,
    FeatureMap,
    FormatName,
    ModelName,
    Nonnegative,
    Raw,
    Store,
    write_export,
)
from pomona.cli.options import Json, Output
from pomona.errors import InputError

Source = Annotated[
    Path, typer.Argument(help="A model of Pomona, LightGBM, XGBoost, CatBoost or RankLib, known by content.")
]

Judgments = Annotated[
    Path | None, typer.Argument(help="For a feature log: Quepid's CSV, TREC qrels or the plugin's list.")
]
Undefined = Annotated[
    float | None,
    typer.Option(help="Of a log: the value of what it leaves out, nan or 0 [as the engine serves it]."),
]
Unjudged = Annotated[
    float | None, typer.Option(help="Of a log: the label of documents without a judgment [left out].")
]
LogName = Annotated[str | None, typer.Option(help="Of a log: which one, where a response holds several.")]


def convert(
    source: Source,
    judgments: Judgments = None,
    format: FormatName = "letor",
    out: Output = None,
    engine_version: EngineVersion = None,
    feature_map: FeatureMap = None,
    nonnegative: Nonnegative = False,
    model_name: ModelName = "pomona",
    store: Store = None,
    raw: Raw = False,
    undefined: Undefined = None,
    unjudged: Unjudged = None,
    log_name: LogName = None,
    as_json: Json = False,
) -> None:
    """Read the model of any trainer, and write it in the form that another engine reads.

    The format `pomona` is Pomona's own, which every verb reads. With JUDGMENTS, SOURCE is a feature log of
    Elasticsearch, OpenSearch or Solr (or a table), and OUT becomes LETOR text of what joined.

    \b
    Example:  pomona convert lightgbm.txt -f opensearch -o model.json
              pomona convert xgboost.ubj -f pomona -o model.pomona
              pomona convert hits.json judgments.csv -o train.letor
    """
    from pomona.cli.output import print_json
    from pomona.rankers.base import load_model

    if judgments is not None:
        return _convert_log(source, judgments, out, undefined, unjudged, log_name, as_json)
    if format.lower() == "letor":
        raise InputError("say what the model shall become: add -f FORMAT (`pomona list formats`)")
    with _notes():
        ranker = load_model(source)
    if format.lower() != "pomona":
        options = {
            "engine_version": engine_version,
            "feature_map": feature_map,
            "nonnegative": nonnegative,
            "model_name": model_name,
            "store": store,
            "raw": raw,
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


@contextmanager
def _notes() -> Iterator[None]:
    """Say what a reader warns of."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        yield
    for note in notes:
        typer.echo(f"note: {note.message}", err=True)


def _convert_log(
    source: Path,
    judgments: Path,
    out: Path | None,
    undefined: float | None,
    unjudged: float | None,
    log_name: str | None,
    as_json: bool,
) -> None:
    from pomona.cli.output import print_json
    from pomona.data.compression import plain_name
    from pomona.data.letor_writer import write_letor
    from pomona.data.logs import read_log, writable

    if out is None:
        raise InputError("training data need a file: add -o FILE")
    with _notes():
        data = read_log(source, judgments, undefined=undefined, unjudged=unjudged, log_name=log_name)
        write_letor(writable(data), out)
    names = out.with_name(plain_name(out).rpartition(".")[0] + ".features.json")  # where `pm.read` looks
    names.write_text(json.dumps(dict(enumerate(data.feature_names, 1)), ensure_ascii=False))
    told = {"queries": data.n_queries, "documents": data.n_docs, "features": data.n_features}
    if as_json:
        print_json({**told, "file": str(out), "feature_names": list(data.feature_names)})
    else:
        typer.echo(f"{', '.join(f'{n} {what}' for what, n in told.items())}: {out}")
