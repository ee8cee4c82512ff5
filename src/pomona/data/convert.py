"""Data from one format to another: what `read` reads, or a TREC run with its judgments, written anew.

    letor       `label qid:Q 1:v 2:v … #docid = D`, the rows in their order
    svmlight    the same without comments, query ids whole numbers
    lightgbm    lines without qid, and FILE.query with the number of rows of each query; FILE.weight
    xgboost     the same with FILE.group
    csv tsv jsonl parquet arrow     columns label, qid, doc_id and sample_weight (if known), features
    qrels       `qid 0 docid label`, TREC's judgments: those of documents that are judged

Names of features are written beside text that has no place for them (`FILE.features.json`), where `read`
looks for them. A document that is not judged has the label nan in LETOR text and an empty one in a table. Of
a run with its judgments a table has every judged document, those that were not retrieved with an empty score.

Formats are known by the ending of a name; any other name is LETOR text. Text may be compressed.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pomona._extras import naming_extras
from pomona._types import Values
from pomona.data.categories import refuse_categories
from pomona.data.compression import open_to_write, pieces, plain_name, read_bytes
from pomona.data.dataset import Dataset
from pomona.data.frame_column import check_column, numbers_of
from pomona.data.letor import read_letor
from pomona.data.letor_writer import write_letor
from pomona.data.read import check_names_beside, query_file, read, with_names_beside, write_names
from pomona.data.table import SUFFIXES as TABLES
from pomona.data.table import WEIGHT, dataset_of_frame, ids_among, is_table, read_frame
from pomona.data.trec import JudgedRun, judged_run, pooled_run, read_qrels, read_run
from pomona.errors import InputError, UnknownNameError

PAIRS = {"lightgbm": ".query", "xgboost": ".group"}
"""Formats of two files, and how the name of the second ends."""
_ENDINGS = {".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".qrels": "qrels"}
_ENDINGS |= {ending: ending[1:] for ending in TABLES}
_ALIASES = {"ndjson": "jsonl", "feather": "arrow", "ipc": "arrow"}
FORMATS = ("letor", "svmlight", "lightgbm", "xgboost", "csv", "tsv", "jsonl", "parquet", "arrow", "qrels")

_LINE = re.compile(rb"^[^\s#:]+[ \t]+(?:qid:\S+|\d+:\S+)")
_QUERY = re.compile(rb"^(\S+) qid:\S+", re.MULTILINE)


@dataclass(frozen=True)
class Documents:
    """Documents to write, and of a run the score of each, NaN where it was not retrieved.

    The one feature of a run is its score in float32, which can tie documents that the run tells apart.
    """

    data: Dataset
    scores: Values | None = None


def is_data(path: Path) -> bool:
    """Whether a file holds documents: it is called a table, or its first line reads as LETOR text."""
    if is_table(path):
        return True
    start = next(pieces(path), b"").split(b"\n")
    lines = (line.strip() for line in start)
    first = next((line for line in lines if line and not line.startswith(b"#")), None)
    return first is None or bool(_LINE.match(first))  # reading an empty file says that it is one


def format_of(path: Path, given: str | None = None) -> str:
    """The format that was named, or that the ending of a name tells.

    >>> format_of(Path("a.csv.gz")), format_of(Path("train.txt")), format_of(Path("-"), "xgboost")
    ('csv', 'letor', 'xgboost')
    """
    name = (
        given.lower() if given is not None else _ENDINGS.get(Path(plain_name(path)).suffix.lower(), "letor")
    )
    name = _ALIASES.get(name, name)
    if name not in FORMATS:
        raise UnknownNameError("format of data", name, FORMATS)
    return name


def convert(
    source: str | Path,
    out: str | Path,
    format: str | None = None,
    *,
    qrels: str | Path | None = None,
    unjudged: float | None = None,
    **columns: Any,
) -> list[Path]:
    """Read data and write them in another format; gives the files that were written.

    Parameters
    ----------
    source : what `read` reads; with `qrels`, TREC's judgments, a run.
    format : one of `FORMATS`; by the name of `out` if left out.
    unjudged : the label to write for documents that are not judged (NaN).
    columns : the `label`, `qid` and `doc_id` of a table.
    """
    documents = read_documents(
        Path(source), qrels=None if qrels is None else Path(qrels), unjudged=unjudged, **columns
    )
    return write_documents(documents, Path(out), format)


def read_documents(
    path: Path, *, qrels: Path | None = None, unjudged: float | None = None, **columns: Any
) -> Documents:
    """Any data that `read` reads, with the weights beside it; or, with `qrels`, a TREC run and its pool."""
    if qrels is not None:
        if columns:
            raise InputError(f"a run has no columns: leave {', '.join(columns)} out", path)
        found = Documents(*pooled_run(read_qrels(qrels), read_run(path)))
    else:
        found = Documents(_read_weighted(path, columns))
    if unjudged is None:
        return found
    if not np.isfinite(unjudged):
        raise InputError(f"unjudged must be a finite label, found {unjudged}")
    y = np.where(np.isnan(found.data.y), np.float32(unjudged), found.data.y)
    return replace(found, data=found.data.replace(y=y))


def has_scores(path: Path) -> bool:
    """Whether a file is a table with a column `score`, as is written of a run."""
    return is_table(path) and path.is_file() and "score" in read_frame(path, "qid", None).columns


def read_judged_table(path: Path, **columns: Any) -> JudgedRun:
    """A table with a column `score`, as is written of a run: a document without one was not retrieved."""
    qid, doc_id = columns.get("qid", "qid"), columns.get("doc_id")
    frame = read_frame(path, qid, doc_id)
    label = columns.get("label", "label")
    doc_id = ids_among(frame.columns, label, qid, doc_id)
    try:
        check_column("score", frame.columns, "score")
        special = dict.fromkeys([label, qid, *([doc_id] if doc_id else []), "score"])
        for use, name in (("label", label), ("qid", qid), ("doc_id", doc_id)):
            if name is not None:
                check_column(name, frame.columns, use)
        import narwhals as nw

        table = nw.from_native(frame.select(list(special)))
        data = dataset_of_frame(table, label=label, qid=qid, doc_id=doc_id)
        return judged_run(data, numbers_of(table.get_column("score"), "score"))
    except InputError as error:
        raise error if error.file else InputError(str(error), path) from None


def _read_weighted(path: Path, columns: Mapping[str, Any]) -> Dataset:
    """Data that `read` reads, with the weights in a file beside it, where it refuses one."""
    beside = path.with_name(path.name + ".weight")
    if not beside.is_file() or is_table(path):
        return read(path, **columns)
    data = with_names_beside(read_letor(path, query_file=query_file(path)), path)
    try:
        weights = np.array([float(word) for word in read_bytes(beside).split()])
    except ValueError:
        raise InputError("expected a number a line", beside) from None
    if len(weights) == data.n_queries != data.n_docs:
        weights = data.to_input_order(np.repeat(weights, data.query_lengths))
    if len(weights) != data.n_docs or not np.isfinite(weights).all():
        raise InputError(f"found {len(weights)} weights for {data.n_docs} documents", beside)
    try:
        return data.replace(weight=weights)
    except InputError as error:
        raise InputError(str(error), beside) from None


def write_documents(documents: Documents, path: Path, format: str | None = None) -> list[Path]:
    """Write documents, and give the files that were written."""
    data, kind = documents.data, format_of(path, format)
    refuse_categories(data, "convert")
    if kind in (*PAIRS, "svmlight") and np.isnan(data.y).any():
        raise InputError(
            f"{int(np.isnan(data.y).sum())} documents are not judged, and {kind} has a label for each: give "
            "them one (unjudged), or leave them out",
            path,
        )
    if kind in (*PAIRS, "letor", "svmlight"):
        check_names_beside(data, path)
    if kind in PAIRS:
        return _write_pair(data, path, PAIRS[kind])
    if kind in ("letor", "svmlight"):
        if data.weight is not None:
            raise InputError(
                f"{kind} has no place for weights: convert to lightgbm, xgboost or a table", path
            )
        write_letor(data if kind == "letor" else _bare(data, _whole_numbers(data)), path)
        return [path, *write_names(data, path)]
    if kind == "qrels":
        _write_qrels(data, path)
    else:
        _write_table(documents, path, kind)
    return [path]


def _bare(data: Dataset, qid: NDArray[Any]) -> Dataset:
    """The documents with these query ids, without ids of their own and comments."""
    return Dataset(data.X, data.y, qid, feature_names=data.feature_names)


def _whole_numbers(data: Dataset) -> NDArray[Any]:
    """The query id of every row as a whole number."""
    if data.qids.dtype.kind in "iu":
        return data.qid
    warnings.warn("query ids are no whole numbers: numbered from 1 in their order", stacklevel=4)
    return data.to_input_order(np.repeat(np.arange(1, data.n_queries + 1), data.query_lengths))


def _write_pair(data: Dataset, path: Path, ending: str) -> list[Path]:
    """Lines without queries, gathered, and their numbers of rows beside them."""
    data = data.gathered()
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "data")  # whose query ids are left out of the lines
        write_letor(_bare(data, np.repeat(np.arange(data.n_queries), data.query_lengths)), plain)
        with open_to_write(path) as stream:
            for lines in _whole_lines(plain):
                stream.write(_QUERY.sub(rb"\1", lines))
    written = [path, path.with_name(path.name + ending)]
    _write_lines(written[1], data.query_lengths.tolist())
    if data.weight is not None:
        written.append(path.with_name(path.name + ".weight"))
        _write_lines(written[2], data.weight.tolist())
    return [*written, *write_names(data, path)]


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while lines := file.readlines(1 << 22):
            yield b"".join(lines)


def _write_lines(path: Path, values: list[Any]) -> None:
    with open_to_write(path) as stream:
        stream.write("".join(f"{value!r}\n" for value in values).encode())


def _write_qrels(data: Dataset, path: Path) -> None:
    """TREC's judgments: one whole number a judged document, which needs an id."""
    is_judged = ~np.isnan(data.y)
    judged = np.flatnonzero(is_judged).tolist()
    if not judged:
        raise InputError("no document is judged, so there are no judgments to write", path)
    ids = [""] * data.n_docs if data.doc_ids is None else list(data.doc_ids)
    if not all(ids[row] for row in judged):
        raise InputError(
            "qrels name documents by their ids, and some have none: name the column (doc_id)", path
        )
    if (data.y[is_judged] != np.floor(data.y[is_judged])).any():
        raise InputError("qrels have whole numbers as labels, found a fraction", path)
    qids = data.qid.tolist()
    rows = [(str(qids[row]), ids[row], int(data.y[row])) for row in judged]
    if any(len(word.split()) != 1 for *words, _ in rows for word in words):
        raise InputError("an id is empty or holds a space, which qrels cannot", path)
    seen: set[tuple[str, str]] = set()
    for qid, doc, _ in rows:
        if (qid, doc) in seen:
            raise InputError(f"document {doc!r} stands twice in query {qid}, which qrels cannot", path)
        seen.add((qid, doc))
    text = "".join(f"{qid} 0 {doc} {label}\n" for qid, doc, label in rows)
    with open_to_write(path) as stream:
        stream.write(text.encode(errors="surrogateescape"))


@naming_extras()
def _write_table(documents: Documents, path: Path, kind: str) -> None:
    """A row a document, in the order in which they came; an undefined feature or label is null."""
    import polars as pl

    data = documents.data
    y = data.y
    is_whole = bool((np.isnan(y) | (y == np.floor(y))).all())
    labels = pl.Series(y, nan_to_null=True)
    columns: dict[str, Any] = {"label": labels.cast(pl.Int64) if is_whole else labels}
    columns["qid"] = data.qid
    if data.doc_ids is not None:
        columns["doc_id"] = list(data.doc_ids)
    if data.weight is not None:
        columns[WEIGHT] = data.weight
    taken = set(columns) & set(data.feature_names)
    if taken:
        raise InputError(
            f"a feature is called {taken.pop()!r}, as a column that every table has: rename it", path
        )
    _refuse_what_reads_otherwise(data, path, kind)
    X = data.X
    columns |= {name: X[:, j] for j, name in enumerate(data.feature_names)}
    if documents.scores is not None:
        columns["score"] = documents.scores
    frame = pl.DataFrame(columns, nan_to_null=True)
    with open_to_write(path) as stream:
        writers: dict[str, Any] = {
            "csv": frame.write_csv,
            "tsv": lambda to: frame.write_csv(to, separator="\t"),
            "jsonl": frame.write_ndjson,
            "parquet": frame.write_parquet,
            "arrow": frame.write_ipc,
        }
        writers[kind](stream)


def _refuse_what_reads_otherwise(data: Dataset, path: Path, kind: str) -> None:
    """Refuse what a text format has no way to write, so that other data would be read."""
    if kind == "jsonl" and np.isinf(data.X).any():
        raise InputError("JSON has no infinite value, and a feature has one: convert to another format", path)
    if kind not in ("csv", "tsv"):
        return
    for what, ids in (("query", data.qids.tolist()), ("document", data.doc_ids or ())):
        for one in map(str, ids):
            if one != one.strip(" ") or any(sign < " " for sign in one):
                raise InputError(
                    f"{what} id {one!r} begins or ends with a blank or holds a control character, which are "
                    f"not read back from {kind}: convert to another format",
                    path,
                )


@contextlib.contextmanager
def from_stream(stream: IO[bytes], format: str | None) -> Iterator[Path]:
    """What a stream holds, as a file that `read` knows by its name."""
    ending = f".{format}" if format is not None and f".{format}" in TABLES else ".txt"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"stdin{ending}")
        with path.open("wb") as file:
            while piece := stream.read(1 << 20):
                file.write(piece)
        yield path


def to_stream(documents: Documents, stream: IO[bytes], format: str | None) -> None:
    """Write documents to a stream: a format of one file."""
    kind = format_of(Path("-"), format)
    if kind in PAIRS:
        raise InputError(f"{kind} has two files: give the name of the first by -o")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "stdout")
        write_documents(documents, path, kind)
        stream.write(path.read_bytes())
