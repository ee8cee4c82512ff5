"""Convert data among formats, an engine's feature log to training data, or a model for any engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.cli.export import write_export
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.data.dataset import Dataset

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
LogName = Annotated[str | None, typer.Option(help="Of a log: which one, where a response holds several.")]


_USED = {
    "of a feature log": "judgments out undefined unjudged log_name",
    "of standard input": "format out from_format qrels label qid doc_id unjudged split seed",
    "of a TREC run": "format out qrels unjudged",
    "of data": "format out label qid doc_id unjudged split seed",
    "of a model": "format out engine_version feature_map nonnegative model_name store raw",
    "of a model in Pomona's own format": "format out",
}
"""The options that have an effect on the conversion of each kind of source."""


def convert(
    context: typer.Context,
    source: Source,
    judgments: Judgments = None,
    format: Annotated[str | None, option.FORMAT] = None,
    out: option.Output = None,
    from_format: Annotated[
        str | None, typer.Option(help="What standard input holds: csv, parquet … [letor].")
    ] = None,
    qrels: option.Qrels = None,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    engine_version: option.EngineVersion = None,
    feature_map: option.FeatureMap = None,
    nonnegative: option.Nonnegative = False,
    model_name: option.ModelName = "pomona",
    store: option.Store = None,
    raw: option.Raw = False,
    undefined: option.Undefined = None,
    unjudged: option.Unjudged = None,
    log_name: LogName = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Shares of training, perhaps validation, and test queries, as 0.6,0.2,0.2: OUT is then a "
            "directory, in which train, vali and test are written."
        ),
    ] = None,
    seed: option.Seed = 0,
    as_json: option.Json = False,
) -> None:
    """Read data, or the model of any trainer, and write it in another form.

    Data become letor, svmlight, lightgbm, xgboost, csv, tsv, jsonl, parquet, arrow or qrels. Those for
    LightGBM and XGBoost are two files, OUT and OUT.query or OUT.group (and OUT.weight, where IN has one). The
    model format `pomona` is Pomona's own, which every verb reads. With JUDGMENTS, IN is a feature log of
    Elasticsearch, OpenSearch or Solr (or a table), and OUT becomes LETOR text of what joined; what the log
    leaves out is then as the engine serves it, unless --undefined says otherwise.

    \b
    Example:  pomona convert train.txt -o train.parquet
              pomona convert train.csv --label grade --qid query -f lightgbm \\
                  -o train.lgb
              pomona convert all.csv --split 0.6,0.2,0.2 -o folder -f csv
              pomona convert run.txt --qrels qrels.txt -o run.csv
              zcat log.csv.gz | pomona convert - --from-format csv -o - > t.txt
              pomona convert lightgbm.txt -f opensearch -o model.json
              pomona convert hits.json judgments.csv -o train.letor
    """
    from pomona.cli.inputs import check_runs
    from pomona.cli.output import print_json, said_as_notes
    from pomona.data.convert import is_data
    from pomona.rankers.loading import load_model

    is_stream = str(source) == "-"
    holds_data = is_stream or qrels is not None or (source.is_file() and is_data(source))
    kind = "of a model in Pomona's own format" if (format or "").lower() == "pomona" else "of a model"
    if holds_data:
        kind = "of standard input" if is_stream else "of a TREC run" if qrels is not None else "of data"
    kind = "of a feature log" if judgments is not None else kind
    option.refuse_unused(context, f"on the conversion {kind}", f"source as_json {_USED[kind]}")
    if judgments is not None:
        return _convert_log(source, judgments, out, undefined, unjudged, log_name, as_json)
    if qrels is not None and not is_stream:
        check_runs([source])
    seeded = context.get_parameter_source("seed")
    if split is None and seeded is not None and seeded.name == "COMMANDLINE":
        raise typer.BadParameter("--seed has no effect without --split: leave it out")
    if holds_data:
        _convert_data(
            source,
            out,
            format,
            from_format,
            None if split is None else (option.shares("split", split), seed),
            {"qrels": qrels, "unjudged": unjudged, **option.named_columns(label, qid, doc_id)},
            as_json=as_json,
        )
        return
    if format is None:
        raise InputError("a model needs --format: one of `pomona list formats`", source)
    with said_as_notes():
        ranker = load_model(source)
    if format.lower() != "pomona":
        write_export(ranker, format, out, context, as_json=as_json)
        return
    if out is None:
        raise InputError("Pomona's own model is binary: add -o FILE")
    ranker.save(out)
    if as_json:
        print_json({"format": "pomona", "file": str(out), "features": ranker.n_features_in_})
    else:
        typer.echo(f"{ranker.n_features_in_} features: {out}")


def _convert_log(
    source: Path,
    judgments: Path,
    out: Path | None,
    undefined: float | None,
    unjudged: float | None,
    log_name: str | None,
    as_json: bool,
) -> None:
    from pomona.cli.output import print_json, said_as_notes
    from pomona.data.letor_writer import write_letor
    from pomona.data.logs import read_log, writable
    from pomona.data.read import write_names

    if out is None:
        raise InputError("training data need a file: add -o FILE")
    with said_as_notes():
        data = read_log(source, judgments, undefined=undefined, unjudged=unjudged, log_name=log_name)
        write_letor(writable(data), out)
        write_names(data, out)
    if as_json:
        print_json({**_sizes(data), "file": str(out), "feature_names": list(data.feature_names)})
    else:
        typer.echo(f"{_in_words(_sizes(data))}: {out}")


def _convert_data(
    source: Path,
    out: Path | None,
    format: str | None,
    from_format: str | None,
    split: tuple[list[float], int] | None,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    import sys

    from pomona.cli.output import print_json
    from pomona.data.convert import format_of, from_stream, read_documents, to_stream, write_documents

    to_stdout = out is None or str(out) == "-"
    if to_stdout and as_json:
        raise InputError("with --json the data need a file of their own: add -o FILE")
    if str(source) == "-":
        with from_stream(sys.stdin.buffer, from_format) as path:
            documents = read_documents(path, **options)
    else:
        documents = read_documents(source, **options)
    if split is not None:
        files = _split(documents.data, None if to_stdout else out, format, *split)
    elif out is None or to_stdout:
        to_stream(documents, sys.stdout.buffer, format)
        return
    else:
        files = [str(path) for path in write_documents(documents, out, format)]
    sizes = _sizes(documents.data)
    if as_json:
        print_json({"format": format_of(Path(files[0]), format), "files": files, **sizes})
    else:
        typer.echo(f"{_in_words(sizes)}: {', '.join(files)}")


def _split(data: Dataset, out: Path | None, format: str | None, shares: list[float], seed: int) -> list[str]:
    """Write parts of whole queries into a directory, under the names by which a fold is read."""
    from pomona.data.convert import Documents, write_documents

    if out is None or out.is_file():
        raise InputError("--split writes train, vali and test: add -o DIRECTORY", out)
    kind = (format or "letor").lower()
    ending = "txt" if kind in ("letor", "svmlight", "lightgbm", "xgboost") else kind
    parts = data.split(shares, seed)
    names = ("train", "vali", "test") if len(parts) == 3 else ("train", "test")
    if any(part.n_queries == 0 for part in parts):
        raise InputError(f"{data.n_queries} queries are too few for these shares: a part would be empty")
    out.mkdir(parents=True, exist_ok=True)
    written = [
        write_documents(Documents(part), out / f"{name}.{ending}", kind)
        for name, part in zip(names, parts, strict=True)
    ]
    return [str(path) for paths in written for path in paths]


def _sizes(data: Dataset) -> dict[str, int]:
    return {"queries": data.n_queries, "documents": data.n_docs, "features": data.n_features}


def _in_words(sizes: dict[str, int]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sizes.items())
