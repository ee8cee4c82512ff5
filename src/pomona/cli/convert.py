"""Convert data among formats, an engine's feature log to training data, or a model for any engine."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from pomona.cli.export import (
    EngineVersion,
    FeatureMap,
    ModelName,
    Nonnegative,
    Raw,
    Store,
    write_export,
)
from pomona.cli.options import DocId, Json, Label, Output, Qid, named_columns
from pomona.errors import InputError

Source = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="Data (LETOR text, a table, a LightGBM or XGBoost pair, a TREC run; - for standard input) or a "
        "model (Pomona, LightGBM, XGBoost, CatBoost, RankLib), known by content.",
    ),
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
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            "--to",
            help="What to write: of data letor, svmlight, lightgbm, xgboost, csv, tsv, jsonl, parquet, arrow "
            "or qrels (by the name of OUT if left out); of models one of `pomona list formats`.",
        ),
    ] = None,
    out: Output = None,
    from_format: Annotated[
        str | None, typer.Option("--from", help="What standard input holds: csv, parquet … [letor].")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC judgments: IN is a run.")] = None,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
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
    """Read data, or the model of any trainer, and write it in another form.

    Data for LightGBM and XGBoost are two files, OUT and OUT.query or OUT.group (and OUT.weight, where IN has
    one). The model format `pomona` is Pomona's own, which every verb reads. With JUDGMENTS, IN is a feature
    log of Elasticsearch, OpenSearch or Solr (or a table), and OUT becomes LETOR text of what joined.

    \b
    Example:  pomona convert train.txt -o train.parquet
              pomona convert train.csv --label grade --qid query --to lightgbm -o train.lgb
              pomona convert run.txt --qrels qrels.txt -o run.csv
              zcat log.csv.gz | pomona convert - --from csv -o - > train.txt
              pomona convert lightgbm.txt -f opensearch -o model.json
              pomona convert hits.json judgments.csv -o train.letor
    """
    from pomona.cli.output import print_json
    from pomona.data.convert import is_data
    from pomona.rankers.loading import load_model

    if judgments is not None:
        return _convert_log(source, judgments, out, undefined, unjudged, log_name, as_json)
    if str(source) == "-" or qrels is not None or (source.is_file() and is_data(source)):
        _convert_data(
            source, out, format, from_format, qrels, named_columns(label, qid, doc_id), as_json=as_json
        )
        return
    if format is None:
        raise InputError("a model needs --format: one of `pomona list formats`", source)
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


def _convert_data(
    source: Path,
    out: Path | None,
    format: str | None,
    from_format: str | None,
    qrels: Path | None,
    columns: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    import sys

    from pomona.cli.output import print_json
    from pomona.data.convert import format_of, from_stream, read_weighted, to_stream, write_data

    if str(source) == "-":
        with from_stream(sys.stdin.buffer, from_format) as path:
            documents = read_weighted(path, qrels=qrels, **columns)
    else:
        documents = read_weighted(source, qrels=qrels, **columns)
    if out is None or str(out) == "-":
        to_stream(documents, sys.stdout.buffer, format)
        return
    files = [str(path) for path in write_data(documents, out, format)]
    data = documents.data
    if as_json:
        sizes = {"queries": data.n_queries, "documents": data.n_docs, "features": data.n_features}
        print_json({"format": format_of(out, format), "files": files, **sizes})
    else:
        sizes_in_words = f"{data.n_queries} queries, {data.n_docs} documents, {data.n_features} features"
        typer.echo(f"{sizes_in_words}: {', '.join(files)}")
