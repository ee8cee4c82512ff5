"""Files of scores and small tables, as the verbs read them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona._types import Scores
    from pomona.data.dataset import Dataset
    from pomona.measures.lists import ScoredQueries
    from pomona.rankers.base import Ranker


_BYTES_A_LINE = 160  # the line and its number as Python's objects, at the most: a test measures


def read_scores(path: Path, n_docs: int) -> Scores:
    """One number a line; anything else is refused with its line."""
    import numpy as np

    from pomona._machine import require_memory
    from pomona.data.compression import read_bytes

    text = read_bytes(path)
    require_memory(len(text) + _BYTES_A_LINE * (text.count(b"\n") + text.count(b"\r") + 1), path)
    lines = text.rstrip().splitlines()
    if len(lines) != n_docs and all(map(_is_number, lines)):
        raise InputError(f"found {len(lines)} scores for {n_docs} documents", path)
    for number, line in enumerate(lines, 1):
        if not _is_number(line):
            token = line.decode(errors="replace").strip()
            shown = repr(token if len(token) <= 40 else token[:40] + "…")
            raise InputError(f"found {shown}, expected one score (a number)", path, number)
    return np.array([float(line) for line in lines], np.float64)


def _is_number(text: bytes) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    is_rounded = abs(value) == float("inf") and b"n" not in text.lower()  # 1e999, which is finite
    return value == value and not is_rounded and b"_" not in text


def read_judged(data: Path, scores: Path, columns: dict[str, Any]) -> tuple[ScoredQueries, list[str]]:
    """The documents of a file with their scores, and the ids of their queries."""
    from pomona.data.read import read
    from pomona.measures.judge import scored_queries

    dataset = read(data, **columns)
    given = read_scores(scores, dataset.n_docs)
    return scored_queries(dataset, given), [str(qid) for qid in dataset.qids]


def read_with_validation(data: Path, valid: Path | None, columns: dict[str, Any]) -> tuple[Any, Any]:
    """Training data and, if there are some, validation data, which must be of other queries."""
    from pomona.data.overlap import shared_query
    from pomona.data.read import read

    training, held_out = read(data, **columns), None if valid is None else read(valid, **columns)
    if held_out is not None and (twin := shared_query(training, held_out)) is not None:
        raise InputError(
            f"query {twin} has the same documents in {data}, so its measure would be too good: "
            "give validation data of other queries",
            valid,
        )
    return training, held_out


def read_for_model(path: Path, ranker: Ranker, columns: dict[str, Any]) -> Dataset:
    """The documents that a model is to score: a table needs no labels, and a sparse file not every feature.

    A table also needs no query column, unless the model scales features inside each query.
    """
    import typer

    from pomona.data.read import read
    from pomona.data.table import is_table, read_to_score

    if is_table(path):
        if ranker.scores_whole_queries:
            columns = {"qid": "qid", **columns}
        return read_to_score(path, **columns, features=ranker.feature_names_)
    data = read(path, **columns)
    missing = ranker.n_features_in_ - data.n_features
    if missing <= 0:
        return data
    typer.echo(f"note: the last {missing} features of the model do not occur in {path}: taken as 0", err=True)
    return data.widened(ranker.n_features_in_)


def read_labelled_for_model(source: str, ranker: Ranker, columns: dict[str, Any]) -> Dataset:
    """The labelled documents of a file that a model is to be judged on."""
    from pomona.data.read import read
    from pomona.data.table import is_table

    path = Path(source)
    if not path.is_file():
        raise InputError("is no file: give one of queries that the model was not trained on", path)
    data = read(path, **columns)
    is_sparse = not is_table(path) and data.n_features < ranker.n_features_in_
    return data.widened(ranker.n_features_in_) if is_sparse else data


def read_cells(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and the cells of each row with the number of its line.

    The reader is the standard library's: polars' does not tell the line of a row with a cell too many.
    """
    from pomona.data.compression import read_bytes

    try:
        lines = read_bytes(path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"cannot be read: {error}", path) from None
    numbered = [(i, line) for i, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if len(numbered) < 2:
        raise InputError("found no rows, expected a header and a row below it", path)
    head = numbered[0][1]
    delimiter = "\t" if "\t" in head else ";" if ";" in head and "," not in head else ","
    cells = [[cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))] for _, line in numbered]
    for (number, _), row in zip(numbered, cells, strict=True):
        if len(row) != len(cells[0]):
            raise InputError(
                f"found {len(row)} cells, expected {len(cells[0])} as in the header", path, number
            )
    return cells[0], [(number, row) for (number, _), row in zip(numbered[1:], cells[1:], strict=True)]


def query_columns(path: Path | None, by: list[str], qid: str | None) -> dict[str, dict[Any, Any]]:
    """Columns of a table with a row a query, as mappings from the query id."""
    import typer

    from pomona.data.table import read_frame

    if path is None:
        raise typer.BadParameter("--by with runs needs --queries, a table with a row a query")
    name = qid or "qid"
    frame = read_frame(path, name, None)
    missing = [column for column in (name, *by) if column not in frame.columns]
    if missing:
        raise InputError(f"no column {missing[0]!r}: found {', '.join(frame.columns[:8])}", path)
    if frame[name].is_duplicated().any():
        raise InputError(f"a query stands in two rows of column {name!r}, expected one row a query", path)
    wanted = by or [column for column in frame.columns if column != name]
    keys = frame[name].to_list()
    return {column: dict(zip(keys, frame[column].to_list(), strict=True)) for column in wanted}
