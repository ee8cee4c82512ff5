"""Datasets from data frames (pandas, polars, any that narwhals knows) and from files of tables.

One column is the label, one the query id, perhaps one the document id; every other column is a feature.
Null means undefined in a feature (NaN), not judged in a label (NaN), no id in a document id, and is refused
in a query id. Texts and categories become
codes that keep their names (`categories.py`).
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._extras import naming_extras
from pomona._machine import memory_room, require_memory
from pomona.data.categories import Categories, codes_of, is_category
from pomona.data.columns import warn_of_negative
from pomona.data.compression import is_plain, plain_name, read_bytes
from pomona.data.dataset import Dataset
from pomona.data.frame_column import check_column, check_no_null, exact_values, numbers_of
from pomona.data.parsed_cache import Stream, kept, mapped
from pomona.data.plain_frame import as_table, plain_values
from pomona.data.precision import Rounding, warn_of
from pomona.data.table_size import bytes_of_cells, check_delimited, parquet_bytes, require_cells
from pomona.errors import InputError

_BINARY = (".parquet", ".arrow", ".feather", ".ipc")
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", *_BINARY)

WEIGHT = "sample_weight"
"""The column of weights, as `convert` writes it."""

_MISSING = ("NULL", "null", "NA")
"""Words of CSV files for a number that is not there."""

_LARGE = 1 << 28  # bytes that a table, or a piece of a larger one, may take while it is read
_MOST_INFLATED = 32  # times its file: no table is written to the disk that is much larger than it looks


def dataset_of_frame(
    frame: Any, *, label: str, qid: str, doc_id: str | None = None, weight: str | None = None
) -> Dataset:
    """Take a data frame with a label and a query column; the other columns are the features.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"relevance": [2, 0], "query": ["a", "a"], "bm25": [1.5, None]})
    >>> data = dataset_of_frame(frame, label="relevance", qid="query")
    >>> data.X.tolist(), data.y.tolist(), data.feature_names
    ([[1.5], [nan]], [2.0, 0.0], ('bm25',))
    """
    rounding = Rounding()
    data = _dataset_of(frame, label, qid, doc_id, weight, rounding)
    index: Any = getattr(frame, "index", None)  # of pandas: columns of scores must have it, too
    data.index = index if hasattr(index, "equals") else None
    warn_of_negative(data.y, f"column {label!r}")
    warn_of(rounding.note(data.feature_names))
    return data


def _dataset_of(
    frame: Any, label: str, qid: str, doc_id: str | None, weight: str | None, rounding: Rounding
) -> Dataset:
    """The same without warnings; `rounding` is told what float32 changes."""
    table = _narwhals_frame(frame)
    special = [name for name in (label, qid, doc_id, weight) if name is not None]
    if len(set(special)) < len(special):
        raise InputError(
            f"label, query id, document id and weight must be different columns, found {special}"
        )
    for use, name in (("label", label), ("qid", qid), ("doc_id", doc_id), ("weight", weight)):
        if name is not None:
            check_column(name, table.columns, use)
    check_no_null(table.get_column(qid), qid)
    X, feature_names, categories = columns_of_frame(table.drop(special), rounding=rounding)
    labels = table.get_column(label)
    is_exact = labels.dtype.is_integer() and not labels.is_null().any()
    y = exact_values(labels) if is_exact else numbers_of(labels, "label")
    try:
        data = Dataset.quiet(
            X,
            y,
            exact_values(table.get_column(qid)),
            doc_ids=None if doc_id is None else table.get_column(doc_id).to_list(),
            feature_names=feature_names,
            weight=None if weight is None else numbers_of(table.get_column(weight), "weight"),
        )
        data.categories = categories
        return data
    except InputError as error:
        raise InputError(f"columns {label!r} (label) and {qid!r} (query id): {error}") from None


@naming_extras()
def read_table(
    path: str | Path,
    *,
    label: str = "label",
    qid: str = "qid",
    doc_id: str | None = None,
    weight: str | None = None,
    cache: bool = False,
) -> Dataset:
    """Read a table of one of the `SUFFIXES`, compressed or not; `cache` keeps a binary copy.

    Columns `doc_id` and `sample_weight` are document ids and weights also where they are not named.
    """
    file = Path(path)
    if not is_table(file):
        raise InputError(f"expected a name that ends in one of {', '.join(SUFFIXES)}", path)
    if not file.is_file():
        raise InputError("no such file", path)

    def others_among(columns: Sequence[str]) -> tuple[str | None, str | None]:
        ids = ids_among(columns, label, qid, doc_id)
        is_there = weight is None and WEIGHT in columns and WEIGHT not in (label, qid, ids)
        return ids, WEIGHT if is_there else weight

    def parse() -> Dataset:
        with _table_errors(file):
            frame = read_frame(file, qid, doc_id)
            if frame.is_empty():
                raise InputError("found no document, expected a row for each below the names of the columns")
            rounding = Rounding()
            data = _dataset_of(frame, label, qid, *others_among(frame.columns), rounding)
            data.rounding = rounding.note(data.feature_names)
            return data

    def stream() -> Stream | None:
        with _table_errors(file):
            return _stream(file, label, qid, others_among, is_kept=cache)

    if cache:
        data = kept([file], [label, qid, doc_id, weight], parse, stream)
    else:
        data = parse() if (in_pieces := stream()) is None else mapped(in_pieces)
    warn_of_negative(data.gathered().y, f"{file}, column {label!r}")
    warn_of(data.rounding and f"{file}: {data.rounding}")
    return data


def ids_among(columns: Sequence[str], label: str, qid: str, doc_id: str | None) -> str | None:
    """The column of document ids: the one that was named, or else `doc_id`."""
    is_there = doc_id is None and "doc_id" in columns and "doc_id" not in (label, qid)
    return "doc_id" if is_there else doc_id


def _stream(
    file: Path,
    label: str,
    qid: str,
    others_among: Callable[[Sequence[str]], tuple[str | None, str | None]],
    *,
    is_kept: bool,
) -> Stream | None:
    """A binary table in pieces, if that is the way to read it: it does not fit, or is large and kept."""
    is_small = file.stat().st_size < _LARGE // 64
    if _suffix(file) not in _BINARY or is_small or not is_plain(file) or not _is_utf8(file):
        return None
    import polars as pl

    lazy = pl.scan_parquet(file) if _suffix(file) == ".parquet" else pl.scan_ipc(file)
    columns = lazy.collect_schema()
    names = columns.names()
    doc_id, weight = others_among(names)
    if weight is not None:  # a piece has no place for weights
        return None
    features = [name for name in names if name not in (label, qid, doc_id)]
    categories = (pl.String, pl.Categorical, pl.Enum)
    if any(columns[name].base_type() in categories for name in features):  # each piece would number them anew
        return None
    n_rows = lazy.select(pl.len()).collect().item()
    n_bytes, step = bytes_of_cells(n_rows, len(names)), max(_LARGE // bytes_of_cells(1, len(names)), 1)
    is_inflated = 4 * n_rows * len(names) > _MOST_INFLATED * file.stat().st_size
    if n_rows <= step or is_inflated or not (is_kept or n_bytes > memory_room()):
        return None

    rounding = Rounding()

    def pieces() -> Iterator[Dataset]:
        with _table_errors(file):
            check_column(qid, names, "qid")  # so that what is missing has its place among all rows
            check_no_null(_narwhals_frame(lazy.select(qid).collect()).get_column(qid), qid)
            for first in range(0, n_rows, step):
                yield _dataset_of(lazy.slice(first, step).collect(), label, qid, doc_id, None, rounding)

    return Stream(str(file), pieces, features, rounding=rounding)


@contextlib.contextmanager
def _table_errors(file: Path) -> Iterator[None]:
    """Whatever is wrong with a table becomes one clear error that names its file."""
    import polars as pl

    try:
        yield
    except InputError as error:
        raise error if error.file else InputError(str(error), file) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # Some damage shows only when columns are looked at.
        raise InputError(f"cannot be read as a table: {str(error).partition(chr(10))[0]}", file) from None


def read_to_score(
    path: str | Path,
    *,
    label: str | None = None,
    qid: str | None = None,
    doc_id: str | None = None,
    features: Sequence[str] = (),
) -> Dataset:
    """The documents of a table that are to be scored: they need no labels; one that is missing is NaN.

    Parameters
    ----------
    label, qid, doc_id : columns that are no features. Without a query column all rows are one query.
    features : if the table has all of these, no other column is a feature.
    """
    frame = _narwhals_frame(read_frame(Path(path), qid or "qid", doc_id))
    if "doc_id" not in features:
        doc_id = ids_among(frame.columns, label or "label", qid or "qid", doc_id)
    try:
        for use, name in (("label", label), ("qid", qid), ("doc_id", doc_id)):
            if name is not None:
                check_column(name, frame.columns, use)
        special = {label or "label": "label", qid or "qid": "qid", doc_id: "doc_id"}
        columns = {special[name]: frame.get_column(name) for name in frame.columns if name in special}
        others = [name for name in frame.columns if name not in special]
        wanted = list(features) if features and set(features) <= set(others) else others
        X, names, categories = columns_of_frame(frame.select(wanted))
        labels, queries = columns.get("label"), columns.get("qid")
        has_labels = labels is not None and labels.dtype.is_numeric()
        if queries is not None:
            check_no_null(queries, str(queries.name))
        data = Dataset.quiet(
            X,
            numbers_of(labels, "label") if has_labels else np.full(len(X), np.nan),
            np.zeros(len(X), np.int64) if queries is None else exact_values(queries),
            doc_ids=None if doc_id is None else columns["doc_id"].to_list(),
            feature_names=names,
        )
        data.categories = categories
        return data
    except InputError as error:
        raise InputError(str(error), path) from None


@naming_extras()
def read_frame(file: Path, qid: str, doc_id: str | None) -> Any:
    """The table in a file, once it is known to fit into memory; ids are read as they are written."""
    import polars as pl

    if not file.is_file():
        raise InputError("no such file", file)
    suffix = _suffix(file)
    separator = {".csv": ",", ".tsv": "\t"}.get(suffix)
    # What is not compressed, polars reads from the disk itself, without a copy of the text.
    is_copied = suffix in (".jsonl", ".ndjson") or not is_plain(file) or not _is_utf8(file)
    source: Any = io.BytesIO(read_bytes(file)) if is_copied else file
    with _table_errors(file):
        if separator is not None:
            check_delimited(file, source, separator.encode())
            return _read_delimited(file, source, separator, qid, doc_id)
        if suffix in (".jsonl", ".ndjson"):
            require_memory(3 * len(source.getvalue()), file)
            source = _json_lines(source.getvalue(), file, [qid, "doc_id" if doc_id is None else doc_id])
            try:
                schema = pl.scan_ndjson(source, infer_schema_length=None).collect_schema()
                require_cells(file, 1 + source.getvalue().count(b"\n"), len(schema))
                return pl.read_ndjson(source, infer_schema_length=None)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
                _refuse_wrong_line(source.getvalue(), file)
                raise
        scan, read = (
            (pl.scan_parquet, pl.read_parquet) if suffix == ".parquet" else (pl.scan_ipc, pl.read_ipc)
        )
        lazy = scan(source)
        require_cells(file, lazy.select(pl.len()).collect().item(), len(lazy.collect_schema()))
        if suffix == ".parquet":
            require_memory(2 * parquet_bytes(source), file)
        return read(source)


def _read_delimited(file: Path, source: Any, separator: str, qid: str, doc_id: str | None) -> Any:
    """A CSV or TSV file; ids are texts as they are written, query ids integers if all look as those print.

    NA, null and NULL are missing among numbers. Elsewhere they are what they say: Namibia is a country.
    """
    import polars as pl

    def read(texts: Sequence[str], **options: Any) -> Any:
        if isinstance(source, io.BytesIO):
            source.seek(0)
        return pl.read_csv(
            source,
            separator=separator,
            infer_schema_length=None,  # a column may be whole numbers for long before a fraction comes
            schema_overrides=dict.fromkeys(texts, pl.String),
            **options,
        )

    frame = read([])
    blanks = {name: name.strip(" ") for name in frame.columns if name != name.strip(" ")}
    ids = [name for name in frame.columns if name.strip(" ") in (qid, "doc_id" if doc_id is None else doc_id)]
    if any(frame[name].dtype != pl.String for name in ids):
        frame = read(ids)
    for name in frame.columns:
        if any(sign < " " for sign in name):  # a quote that nobody closed has swallowed rows
            raise InputError(f"the name of column {name!r} holds a line break or control character", file, 1)
        original, mark, _ = name.rpartition("_duplicated_")
        if (mark and original in frame.columns) or blanks.get(name) in frame.columns:
            raise InputError(f"two columns are called {blanks.get(name, original)!r}: rename one", file, 1)
    if "" in (stripped := [name.strip(" ") for name in frame.columns]):
        raise InputError(
            f"column {stripped.index('') + 1} has no name: name it, or leave it out (pandas writes row "
            "numbers so without index=False)",
            file,
            1,
        )
    for name in frame.columns:
        column = frame[name]
        if column.dtype != pl.String:
            continue
        unwanted = r"[\x00-\x1f]" if name in ids else r"\x00"
        if (broken := column.str.contains(unwanted).fill_null(False)).any():
            row = int(broken.arg_max()) + 1
            raise InputError(f"column {name!r} holds a line break or control character in row {row}", file)
        if name in ids:
            frame = frame.with_columns(_without_outer_blanks(column, file))
        elif (numbers := _numbers_among_texts(column)) is not None:
            frame = frame.with_columns(numbers)
    frame = frame.rename(blanks)
    floats = [
        name for name in frame.columns if frame[name].dtype.is_float() and frame[name].is_infinite().any()
    ]
    texts_of_floats = read(frame.columns) if floats else frame
    for name, texts in zip(frame.columns, texts_of_floats.iter_columns(), strict=True):
        for row in np.flatnonzero(frame[name].is_infinite().to_numpy()).tolist() if name in floats else ():
            if "inf" not in texts[row].lower():
                raise InputError(
                    f"column {name!r} holds a finite value beyond float32 in row {row + 1}: rescale it", file
                )
    if qid in frame.columns and frame[qid].str.contains(r"^(?:0|-?[1-9][0-9]{0,17})$").all():
        frame = frame.with_columns(pl.col(qid).cast(pl.Int64))
    return frame.rename(lambda name: name.replace('""', '"'))  # which polars leaves doubled in a heading


def _without_outer_blanks(ids: Any, file: Path) -> Any:
    """Ids without the blanks that people write behind a comma, which must not make one of two."""
    stripped = ids.str.strip_chars(" ")
    if stripped.n_unique() == ids.n_unique():
        return stripped
    first: dict[str | None, str] = {}
    for row, (text, whole) in enumerate(zip(stripped.to_list(), ids.to_list(), strict=True), 1):
        if first.setdefault(text, whole) != whole:
            both = f"{first[text]!r} and {whole!r}"
            raise InputError(
                f"column {ids.name!r} holds {both}, which differ in blanks: write one", file, row + 1
            )
    return stripped


def _numbers_among_texts(column: Any) -> Any:
    """Texts that are numbers, but for blanks around them and words for a missing one, as such; else None."""
    import polars as pl

    texts = column.str.strip_chars(" ")
    texts = texts.set(texts.is_in([*_MISSING, ""]), None)
    for kind in (pl.Int64, pl.Float64):
        numbers = texts.cast(kind, strict=False)
        if numbers.null_count() == texts.null_count():
            return numbers
    return None


def _is_utf8(file: Path) -> bool:
    """Whether polars can be given the name of a file; it is given the bytes of others."""
    try:
        str(file).encode()
    except UnicodeEncodeError:
        return False
    return True


_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:')


def _json_lines(content: bytes, file: Path, ids: Sequence[str]) -> io.BytesIO:
    """The text of a file of JSON lines, in which no key stands twice, and ids are all numbers or all texts.

    Of a doubled key polars takes the first value, and of numbers and texts it makes texts.
    """
    values = {name: re.compile(rb'"%s"\s*:\s*([^n\s])' % re.escape(name.encode())) for name in ids}
    kinds: dict[str, tuple[bool, int]] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        keys = _KEY.findall(line)
        if len(set(keys)) < len(keys) or any(b"\\" in key for key in keys):
            _refuse_doubled_key(line, file, number)
        for name, value in values.items():
            if (found := value.search(line)) is None:
                continue
            is_text = found[1] == b'"'
            known, before = kinds.setdefault(name, (is_text, number))
            if known != is_text:
                words = ("a number", "a text")
                raise InputError(
                    f"column {name!r} is {words[is_text]} here and {words[known]} in line {before}: write "
                    "all in one way",
                    file,
                    number,
                )
    return io.BytesIO(content)


def _refuse_wrong_line(content: bytes, file: Path) -> None:
    """Refuse the first line that is no object of JSON; polars does not say which."""
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_constant=_no_constant, parse_float=_finite)
        except json.JSONDecodeError as error:
            where = f"at character {error.pos + 1} ({error.msg})"
            raise InputError(f"found no JSON {where}, expected an object", file, number) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"found no JSON ({error}), expected an object", file, number) from None
        if not isinstance(found, dict):
            raise InputError("found JSON that is no object, expected {…}, one a line", file, number)


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON: write null for what is undefined")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:40]} is beyond float64: rescale it")
    return value


def _refuse_doubled_key(line: bytes, file: Path, number: int) -> None:
    try:
        pairs = json.loads(line, object_pairs_hook=list)
    except ValueError:
        return  # polars says what is wrong
    seen: set[str] = set()
    for key, _ in pairs if isinstance(pairs, list) else ():
        if key in seen:
            raise InputError(f"the key {key!r} stands twice", file, number)
        seen.add(key)


def is_table(path: str | Path) -> bool:
    """Whether the file's name says that it holds a table.

    >>> is_table("train.csv.gz"), is_table("train.txt")
    (True, False)
    """
    return _suffix(Path(path)) in SUFFIXES


def _suffix(path: Path) -> str:
    return Path(plain_name(path)).suffix.lower()


def features_of_frame(frame: Any, dtype: Any = np.float32) -> tuple[NDArray[Any], list[str]]:
    """All columns of a data frame, which hold numbers, as features of this type, with their names."""
    features, names, _ = columns_of_frame(frame, dtype, with_categories=False)
    return features, names


def columns_of_frame(
    frame: Any, dtype: Any = np.float32, *, with_categories: bool = True, rounding: Rounding | None = None
) -> tuple[NDArray[Any], list[str], Categories]:
    """All columns of a data frame as features, with their names, and the names of categories.

    rounding : is told what float32 changes.
    """
    if (plain := plain_values(frame)) is not None and (table := as_table(plain[1], dtype)) is not None:
        if rounding is not None and plain[1].dtype != table.dtype:
            rounding.add(plain[1], table)
        return table, list(plain[0]), {}
    table = _narwhals_frame(frame)
    names = [str(name) for name in table.columns]
    out = np.empty((len(table), len(names)), dtype)
    categories: dict[int, tuple[str, ...]] = {}
    for place, name in enumerate(table.columns):
        column = table.get_column(name)  # table[0] would be a row
        if with_categories and is_category(column) and column.null_count() < len(column):
            out[:, place], categories[place] = codes_of(column)
            continue
        values = numbers_of(column, "feature")
        try:
            with np.errstate(over="raise"):
                out[:, place] = values
        except FloatingPointError:
            raise InputError(
                f"column {name!r} holds a finite value beyond float32 (3.4e38): rescale it"
            ) from None
        if rounding is not None:
            is_exact = column.dtype.is_integer()
            is_there = ~column.is_null().to_numpy() if is_exact else slice(None)
            before = exact_values(column.drop_nulls()) if is_exact else values
            rounding.add_column(place, before, out[is_there, place])
    return out, names, categories


def _narwhals_frame(frame: Any) -> Any:
    import narwhals as nw

    try:
        table = nw.from_native(frame)
    except TypeError:
        raise InputError(f"expected a data frame, found {type(frame).__name__}") from None
    except nw.exceptions.NarwhalsError as error:  # two columns of one name
        raise InputError(f"the data frame cannot be used: {' '.join(str(error).split())}") from None
    return table.collect() if isinstance(table, nw.LazyFrame) else table
