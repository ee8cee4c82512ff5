"""Feature logs of search engines, joined with judgments: training data as the engine will serve them.

    Elasticsearch, OpenSearch   responses with `_ltrlog`: one, `{query: response, …}`, those of `_msearch`, or
                                a response or hit a line, each with its `qid` (or `query`)
    Solr                        responses with `[features]`, JSON or CSV, dense or sparse
    frames and tables           a row a document: its query, its id, its features (as eland's users keep them)

A feature whose query did not match has no value in a log. It is NaN for Elasticsearch and OpenSearch, which
serve it so, and 0 where Solr's sparse form leaves it out; `undefined` says otherwise, for versions that do.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._machine import require_memory
from pomona.data.compression import first_line, plain_name, read_bytes
from pomona.data.dataset import Dataset
from pomona.data.judgments import (
    DOCUMENT_COLUMNS,
    LABEL_COLUMNS,
    QUERY_COLUMNS,
    Judgments,
    plain_column,
    read_judgments,
)
from pomona.data.table import features_of_frame, is_table, read_frame
from pomona.data.text import TextColumn
from pomona.errors import InputError

_PAIRS = re.compile(r"[^=,]+=[^=,]+(?:,[^=,]+=[^=,]+)*")
_BYTES_A_BYTE = 12  # of text, in memory as Python's objects
_EXTRA = "extra_logging"
_NUMBERS_FIRST = ("qid", "queryid", "query", "querytext")


@dataclass(frozen=True, slots=True)
class Log:
    """The features of documents as they were logged, a row each."""

    queries: Sequence[str]
    documents: Sequence[str]
    X: NDArray[np.float64]
    feature_names: Sequence[str]


def read_log(
    source: Any,
    judgments: str | os.PathLike[str],
    *,
    undefined: float | None = None,
    unjudged: float | None = None,
    log_name: str | None = None,
    feature_names: Sequence[str] | None = None,
) -> Dataset:
    """Training data from an engine's feature log and a judgment list; a warning counts what did not join.

    Parameters
    ----------
    source : the log's file, or a data frame.
    judgments : Quepid's CSV, TREC qrels, or the plugin's list (`read_judgments`).
    undefined : the value of features that have none in the log; None for what the engine serves.
    unjudged : the label of logged documents without a judgment; None leaves them out.
    log_name : which log of the plugin, where a response holds several.
    feature_names : the features and their order; as they come in the log when left out.
    """
    is_frame = hasattr(type(source), "columns")
    log = frame_log(source) if is_frame else log_of_file(Path(source), undefined, log_name)
    return joined(log, read_judgments(judgments), unjudged, feature_names)


def joined(
    log: Log, judgments: Judgments, unjudged: float | None = None, names: Sequence[str] | None = None
) -> Dataset:
    """The logged documents that are judged; a warning counts the others, and judgments that found none."""
    pairs = list(zip(log.queries, log.documents, strict=True))
    labels = [judgments.labels.get(pair, unjudged) for pair in pairs]
    kept = [row for row in _distinct(log, pairs) if labels[row] is not None]
    n_found = sum(pair in judgments.labels for pair in set(pairs))
    if not n_found:
        raise InputError(
            f"no logged document is judged: the log has {_some(pairs)}, the judgments "
            f"{_some(judgments.labels) or 'none'}; do they belong together?",
            judgments.file,
        )
    if notes := list(_notes(judgments, pairs, n_found, unjudged)):
        warnings.warn("; ".join(notes), stacklevel=3)
    X, names = _in_order(log, names)
    return Dataset(
        X[kept],
        np.array([labels[row] for row in kept], np.float64),
        _whole_numbers([log.queries[row] for row in kept]),
        doc_ids=[log.documents[row] for row in kept],
        feature_names=names,
    )


def writable(data: Dataset) -> Dataset:
    """The same data for LETOR text, which holds no blank in a query id: such queries are numbered from 1.

    The text of the query then stands in the comment of its documents.
    """
    queries = [str(qid) for qid in data.qids]
    if not any(re.search(r"[\s#]", query) for query in queries):
        return data
    order, data = data.input_order, data.gathered()
    texts = np.repeat(np.array(queries, object), data.query_lengths)
    of_rows = zip(data.doc_ids or (), texts, strict=True)
    comments = [f"docid = {document} query = {query}" for document, query in of_rows]
    return Dataset.from_parts(
        data.X,
        data.y,
        data.query_ptr,
        np.arange(1, data.n_queries + 1),
        doc_ids=data.doc_ids,
        comments=TextColumn.of(comments),
        feature_names=data.feature_names,
        input_order=order,
    )


def frame_log(frame: Any) -> Log:
    """The log in a data frame: a column of queries, one of document ids, and the features."""
    import narwhals as nw

    table = nw.from_native(frame, pass_through=False)
    table = table.collect() if isinstance(table, nw.LazyFrame) else table
    query, document = _id_columns(table.columns)
    X, names = features_of_frame(table.drop([query, document]).to_native(), np.float64)
    queries, documents = (list(map(str, table.get_column(name).to_list())) for name in (query, document))
    return Log(queries, documents, X, names)


def _id_columns(columns: Sequence[str]) -> tuple[str, str]:
    """The columns of queries and of document ids."""
    known = {plain_column(str(name)): name for name in columns}
    query, document, label = (
        next((known[name] for name in candidates if name in known), None)
        for candidates in (_NUMBERS_FIRST, DOCUMENT_COLUMNS, LABEL_COLUMNS)
    )
    if query is None or document is None:
        missing = _NUMBERS_FIRST if query is None else DOCUMENT_COLUMNS
        raise InputError(f"found no column called {' or '.join(missing)}: name it so")
    if label:
        raise InputError(f"column {label!r} looks like a judgment, and would become a feature: drop it")
    return query, document


def log_of_file(path: Path, undefined: float | None = None, log_name: str | None = None) -> Log:
    """The log in a file, known by its content."""
    if is_table(path) and "json" not in plain_name(path) and not _is_solr_table(path):
        try:
            ids = _id_columns(_header(path)) if plain_name(path).endswith((".csv", ".tsv")) else ("", "")
            return frame_log(read_frame(path, *ids))
        except InputError as error:
            raise error if error.file else InputError(str(error), path) from None
    content = read_bytes(path)
    require_memory(_BYTES_A_BYTE * len(content), path)
    try:
        if content.lstrip()[:1] in (b"{", b"["):
            hits = _hits_of_json(_documents_of(content), log_name)
        else:
            hits = _hits_of_csv(content.decode("utf-8-sig"))
        return _log_of_hits(list(hits), undefined)
    except InputError as error:
        raise InputError(str(error), path) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"cannot be read as a log: {error}", path) from None


Hit = tuple[str, str, Mapping[str, float | None], float]
"""Query, document, features, and what those are that have no value."""


def _log_of_hits(hits: Sequence[Hit], undefined: float | None) -> Log:
    names = list(dict.fromkeys(name for _, _, features, _ in hits for name in features))
    if not names:
        raise InputError("found no logged feature, expected `_ltrlog` or `[features]` in the hits")
    require_memory(8 * len(hits) * len(names), what="the table of features")
    place = {name: j for j, name in enumerate(names)}
    X = np.empty((len(hits), len(names)))
    for row, (_, _, features, absent) in enumerate(hits):
        X[row] = absent if undefined is None else undefined
        for name, value in features.items():
            if value is not None:
                X[row, place[name]] = value
    return Log([hit[0] for hit in hits], [hit[1] for hit in hits], X, names)


def _documents_of(content: bytes) -> Any:
    """What JSON holds; of several lines of JSON, a list."""
    try:
        return json.loads(content)
    except ValueError:
        lines = [line for line in content.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def _hits_of_json(given: Any, log_name: str | None) -> Iterator[Hit]:
    for number, (query, response) in enumerate(_responses(given), 1):
        hits, solr = response.get("hits"), response.get("response")
        if isinstance(solr, Mapping):
            for document in _list(solr.get("docs"), "response.docs"):
                yield _id(query, number), *_solr_hit(document)
            continue
        listed = [response] if hits is None else hits.get("hits") if isinstance(hits, Mapping) else hits
        for hit in _list(listed, "hits.hits"):
            yield _id(query, hit.get("qid"), number), *_plugin_hit(hit, log_name)


def _id(*candidates: Any) -> str:
    return str(next(one for one in candidates if one is not None))


def _responses(given: Any, query: Any = None) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """(query, response) of all that lie in there; the query is None where nobody says."""
    if isinstance(given, list):
        for one in given:
            yield from _responses(one)
    elif not isinstance(given, Mapping):
        raise InputError(f"found {given!r:.40} in place of a response")
    elif {"hits", "response", "_ltrlog", "fields"} & given.keys():
        query_id = given.get("qid", given.get("query"))
        yield (query_id if isinstance(query_id, str | int) else query), given
    elif "responses" in given:
        yield from _responses(given["responses"])
    else:
        for key, one in given.items():
            yield from _responses(one, key)


def _plugin_hit(hit: Mapping[str, Any], log_name: str | None) -> tuple[str, dict[str, float | None], float]:
    if "_id" not in hit:
        raise InputError(f"a hit has no `_id`: {str(hit)[:60]}")
    fields = hit.get("fields")
    logged = fields.get("_ltrlog") if isinstance(fields, Mapping) else None
    logs: dict[str, Any] = {}
    for log in _list(logged, f"fields._ltrlog of hit {hit['_id']}"):
        if twice := sorted(logs.keys() & log.keys()):
            raise InputError(f"hit {hit['_id']} has the log {twice[0]!r} twice: ask for one")
        logs |= log
    if log_name is None and len(logs) > 1:
        raise InputError(f"found several logs, {', '.join(sorted(logs))}: name one (log_name)")
    name = next(iter(logs)) if log_name is None and logs else log_name
    if name not in logs:
        raise InputError(f"hit {hit['_id']} has no log {name!r}, only {', '.join(sorted(logs)) or 'none'}")
    features: dict[str, float | None] = {}
    for entry in _list(logs[name], f"log {name}"):
        if "name" not in entry:
            raise InputError(
                f"log {name} of hit {hit['_id']} has a feature without `name`: {str(entry)[:60]}"
            )
        if entry["name"] != _EXTRA:
            _add(features, str(entry["name"]), entry.get("value"), hit["_id"])
    return str(hit["_id"]), features, math.nan


def _solr_hit(document: Mapping[str, Any]) -> tuple[str, dict[str, float | None], float]:
    identity = next((value for key, value in document.items() if plain_column(key) in DOCUMENT_COLUMNS), None)
    if identity is None:
        raise InputError(f"a document has no `id`: add it to fl ({str(document)[:60]})")
    text = next((value for key, value in document.items() if _is_vector(key, value)), None)
    if text is None:
        raise InputError(f"document {identity!r} has no `[features]`: add them to fl")
    features: dict[str, float | None] = {}
    for pair in text.split(",") if text else ():
        name, _, value = pair.rpartition("=")
        _add(features, name, float(value), identity)
    return str(identity), features, 0.0


def _add(features: dict[str, float | None], name: str, value: Any, document: Any) -> None:
    """Note a value that was logged, once a feature."""
    if name in features:
        raise InputError(f"document {document!r} has the feature {name!r} twice: log it once")
    features[name] = _value(value, name)


def _is_vector(key: str, value: Any) -> bool:
    """Whether a field of Solr's is the features: by its name, or by its look."""
    is_named = key.startswith("[features") or plain_column(key) in ("features", "fv")
    return isinstance(value, str) and (is_named or _PAIRS.fullmatch(value) is not None)


def _hits_of_csv(text: str) -> Iterator[Hit]:
    rows = csv.DictReader(text.splitlines(keepends=True))
    for row in rows:
        if None in row or None in row.values():
            raise InputError(f"line {rows.line_num} has not as many cells as the header")
        query = next((value for key, value in row.items() if plain_column(key) in QUERY_COLUMNS), "1")
        yield query, *_solr_hit(row)


def _header(path: Path) -> list[str]:
    """The names of the columns of a CSV or TSV file."""
    line = first_line(path).decode("utf-8-sig", errors="replace")
    return next(csv.reader([line], delimiter="\t" if plain_name(path).endswith(".tsv") else ","), [])


def _is_solr_table(path: Path) -> bool:
    """Whether a column is called as Solr calls a document's features, `name=value,…` in one cell."""
    return plain_name(path).endswith(".csv") and any(_is_vector(name, "") for name in _header(path))


def _value(value: Any, name: str) -> float | None:
    if value is None or type(value) in (int, float):
        return None if value is None else float(value)
    raise InputError(f"feature {name!r} has the value {value!r:.40}, expected a number")


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise InputError(f"found {value!r:.40} as {what}, expected a list of objects")
    return value


def _distinct(log: Log, pairs: Sequence[tuple[str, str]]) -> Iterator[int]:
    """Each document of a query once; logged twice, its features must be the same."""
    first: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(pairs):
        if first.setdefault(pair, row) == row:
            yield row
        elif not np.array_equal(log.X[row], log.X[first[pair]], equal_nan=True):
            raise InputError(
                f"document {pair[1]!r} of query {pair[0]!r} was logged twice with other features: keep one"
            )


def _notes(
    judgments: Judgments, pairs: Sequence[tuple[str, str]], n_found: int, unjudged: float | None
) -> Iterator[str]:
    logged = set(pairs)
    if n_more := len(pairs) - len(logged):
        yield f"{n_more} documents were logged more than once, with the same features: kept once"
    if n_unjudged := len(logged) - n_found:
        what = "are left out" if unjudged is None else f"get the label {unjudged:g}"
        n_queries = len({query for query, document in logged if (query, document) not in judgments.labels})
        yield f"{n_unjudged} logged documents, of {n_queries} queries, have no judgment and {what}"
    if n_unlogged := len(judgments.labels) - n_found:
        n_queries = len({query for query, document in judgments.labels if (query, document) not in logged})
        yield f"{n_unlogged} judgments, of {n_queries} queries, have no logged document"
    if judgments.n_unrated:
        yield f"{judgments.n_unrated} documents are listed without a rating"


def _in_order(log: Log, names: Sequence[str] | None) -> tuple[NDArray[np.float64], Sequence[str]]:
    if names is None:
        return log.X, log.feature_names
    place = {name: j for j, name in enumerate(log.feature_names)}
    if missing := [name for name in names if name not in place]:
        raise InputError(f"the log has no feature {missing[0]!r}")
    return log.X[:, [place[name] for name in names]], names


def _whole_numbers(queries: Sequence[str]) -> Sequence[str] | list[int]:
    """Query ids as numbers, if all are written as those print."""
    is_whole = all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", query) for query in queries)
    return list(map(int, queries)) if is_whole else queries


def _some(pairs: Iterable[tuple[str, str]]) -> str:
    first = itertools.islice(pairs, 2)
    return ", ".join(f"{document!r} of query {query!r}" for query, document in first)
