"""Files of scores and small tables, as the verbs read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
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


def are_trec(files: Sequence[Path]) -> bool:
    """Whether files are TREC judgments and runs, in trec_eval's order, and not data and scores.

    A mixture, or another order, is refused with what each file is. What the first lines do not tell is left
    to those who read the whole file, and name the line.
    """
    from pomona.data.table import is_table
    from pomona.experiments.inspection import text_kind

    def kind(path: Path) -> str | None:
        # Reading a pipe would take from it what is read afterwards.
        return text_kind(path) if path.is_file() else None

    data = files[0]
    first = "a table" if is_table(data) else kind(data)
    others = [kind(path) for path in files[1:]]
    if first == "TREC judgments" and others and all(other == "TREC run" for other in others):
        return True
    if first in (None, "a table", "LETOR text") and all(other in (None, "scores") for other in others):
        return False
    words = {None: "is not known by its first lines", "scores": "holds scores", "model": "is a model"}
    words["TREC run"] = "is a TREC run"
    told = [
        f"{path} {words.get(one, f'is {one}')}" for path, one in zip(files, (first, *others), strict=True)
    ]
    raise InputError(f"expected data and scores, or TREC judgments and runs, but {'; '.join(told)}")


def check_runs(files: Sequence[Path]) -> None:
    """Refuse, beside judgments, what is no run by its first lines."""
    from pomona.data.table import is_table
    from pomona.experiments.inspection import text_kind

    for path in files:
        kind = "a table" if is_table(path) else text_kind(path) if path.is_file() else None
        if kind not in (None, "TREC run"):
            what = {"scores": "holds scores", "model": "is a model"}.get(kind, f"is {kind}")
            raise InputError(f"{what}, and with --qrels every file is a TREC run", path)


def named_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Each file under the shortest name that no other has."""
    import os

    stems = [path.stem for path in paths]
    named = {path.stem if stems.count(path.stem) == 1 else str(path): path for path in paths}
    same = {os.path.realpath(path): path for path in paths}
    if len(named) < len(paths) or len(same) < len(paths):
        twice = next(path for path in paths if same[os.path.realpath(path)] != path or paths.count(path) > 1)
        raise InputError("the same file was given twice", twice)
    return named


def distinct(sources: Sequence[str]) -> Sequence[str]:
    """The sources, each of which stands under its name: one that was given twice is refused."""
    for source in sources:
        if sources.count(source) > 1:
            raise InputError("was given twice", source)
    return sources


def read_judged(data: Path, scores: Path, columns: dict[str, Any]) -> tuple[ScoredQueries, list[str]]:
    """The documents of a file with their scores, and the ids of their queries."""
    from pomona.data.read import read
    from pomona.measures.judge import scored_queries

    if are_trec([data, scores]):
        raise InputError(f"is TREC judgments and {scores} a run, expected data and scores", data)
    dataset = read(data, **columns)
    given = read_scores(scores, dataset.n_docs)
    return scored_queries(dataset, given), [str(qid) for qid in dataset.qids]


def read_with_validation(
    data: Path, valid: Path | None, columns: dict[str, Any], *, weight: str | None = None
) -> tuple[Any, Any]:
    """Training data and, if there are some, validation data, which must be of other queries.

    `weight` is a column of tables: the weights of their documents.
    """
    from pomona.data.overlap import shared_query

    training = _read_weighted(data, columns, weight)
    held_out = None if valid is None else _read_weighted(valid, columns, weight)
    if held_out is not None and (twin := shared_query(training, held_out)) is not None:
        raise InputError(
            f"query {twin} has the same documents in {data}, so its measure would be too good: "
            "give validation data of other queries",
            valid,
        )
    return training, held_out


def _read_weighted(path: Path, columns: dict[str, Any], weight: str | None) -> Dataset:
    """Labelled data; a column of weights, if one is named, is no feature."""
    from pomona.data.read import read
    from pomona.data.table import is_table, read_table

    if weight is None:
        return read(path, **columns)
    if not is_table(path):
        raise InputError("has no columns, and --weight names one of a table", path)
    return read_table(path, **columns, weight=weight)


def read_for_model(
    path: Path,
    ranker: Ranker,
    columns: dict[str, Any],
    *,
    labelled: bool = False,
    undefined: float | None = None,
) -> Dataset:
    """The documents that a model is to score: a sparse file need not have every feature.

    Unless they are to be `labelled`, a table needs no labels, and no query column if the model scores each
    document by itself. `undefined` is the value of what a sparse file leaves out.
    """
    import typer

    from pomona.data.letor import ABSENT
    from pomona.data.read import read
    from pomona.data.table import is_table, read_to_score

    if is_table(path):
        if labelled:
            return _of_its_size(_labelled_table(path, ranker, columns), ranker, path)
        if ranker.scores_whole_queries:
            columns = {"qid": "qid", **columns}
        return _of_its_size(read_to_score(path, **columns, features=ranker.feature_names_), ranker, path)
    absent = ABSENT if undefined is None else undefined
    data = read(path, **columns, undefined=absent)
    missing = ranker.n_features_in_ - data.n_features
    if missing <= 0:
        return _of_its_size(data, ranker, path)
    what = "feature of the model does" if missing == 1 else f"{missing} features of the model do"
    typer.echo(f"note: the last {what} not occur in {path}: taken as {absent:g}", err=True)
    return data.widened(ranker.n_features_in_, absent)


def _of_its_size(data: Dataset, ranker: Ranker, path: Path) -> Dataset:
    """The data, refused if they have more features than the model, or fewer."""
    from pomona.data.table import is_table

    if data.n_features != ranker.n_features_in_:
        lacking = [name for name in ranker.feature_names_ if name not in data.feature_names]
        which = (
            f"; missing: {', '.join(lacking[:5])}{' …' * (len(lacking) > 5)}"
            if lacking and is_table(path)
            else ""
        )
        raise InputError(
            f"found {data.n_features} features, and the model has {ranker.n_features_in_}{which}", path
        )
    return data


def _labelled_table(path: Path, ranker: Ranker, columns: dict[str, Any]) -> Dataset:
    """A table with labels: if it has all features of the model, no other column is one, as in `score`."""
    from pomona.data.read import read
    from pomona.data.table import dataset_of_frame

    frame, names = _frame(path, columns)
    if not {*names.values(), *ranker.feature_names_} <= set(frame.columns):
        return read(path, **columns)
    wanted = frame.select(list(dict.fromkeys([*names.values(), *ranker.feature_names_])))
    try:
        return dataset_of_frame(wanted, **names)
    except InputError as error:
        raise InputError(str(error), path) from None


def _frame(path: Path, columns: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """A table, and the columns that are no features."""
    from pomona.data.table import ids_among, read_frame

    names = {"label": "label", "qid": "qid", **columns}
    frame = read_frame(path, names["qid"], names.get("doc_id"))
    ids = ids_among(frame.columns, names["label"], names["qid"], names.get("doc_id"))
    return frame, names if ids is None else {**names, "doc_id": ids}


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
