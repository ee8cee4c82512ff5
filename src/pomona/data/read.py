"""The one door for data: any file, whatever its format and compression, as a dataset.

    LETOR text   every name that is none of those below; with `qid:` in its lines, or with the number of
                 rows of each query in a file beside it (`train.query` or `train.group`)
    tables       .csv .tsv .jsonl .ndjson .parquet .arrow .feather .ipc

Text may be compressed (.gz, .bz2, .xz, .zst). `train.txt.features.json` beside `train.txt` names the features
of a LETOR file by their numbers.
"""

from __future__ import annotations

import difflib
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from pomona._arrays import whole_file
from pomona.data.compression import first_line, plain_name, read_bytes
from pomona.data.concatenation import concatenated
from pomona.data.dataset import Dataset, numbered
from pomona.data.letor import ABSENT, read_letor
from pomona.data.overlap import warn_of_shared_queries
from pomona.data.table import is_table, read_table
from pomona.errors import InputError, PomonaError

Source: TypeAlias = "str | os.PathLike[str]"

_NAMES = ".features.json"
_NO_DATA = (".query", ".group", ".json", ".md", ".bin", ".conf", ".sh", ".py")
_PARTS = ("train", "training", "vali", "valid", "validation", "test")
"""Endings of files that share `rank.features.json`: `rank.train`, `rank.test`."""

QUERY_FILE = (".query", ".group")
"""How the name of a file of query sizes ends."""
_OTHER_FILES = (".weight", ".init", ".position")


def read(
    source: Source | Iterable[Source],
    *,
    label: str = "label",
    qid: str = "qid",
    doc_id: str | None = None,
    weight: str | None = None,
    n_features: int | None = None,
    undefined: float = ABSENT,
    cache: bool = False,
) -> Dataset:
    """Read a file, or several one after the other, as one dataset.

    A query id that stands in two of the files is one query, and a warning says so. A collection or a
    directory with folds is not one dataset: `pomona.load` takes a fold of it. Files beside the data from
    which LightGBM would learn by itself (`.weight`, `.init`, `.position`) are refused.

    Parameters
    ----------
    label, qid, doc_id, weight : the columns of a table that are no features. Columns `doc_id` and
        `sample_weight`, as `convert` writes them, are document ids and weights also where they are not named.
    n_features : of LETOR text, the number of columns of `X`; the largest feature id when left out.
    undefined : of LETOR text, the value of features that are missing or NULL; in a table they are NaN.
    cache : keep a binary copy, and map it instead of reading the text as long as that does not change.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.csv")
    ...     _ = path.write_text("grade,query,bm25\\n2,a,0.5\\n0,a,0.25\\n")
    ...     data = read(path, label="grade", qid="query")
    >>> data.X.tolist(), data.y.tolist(), data.feature_names
    ([[0.5], [0.25]], [2.0, 0.0], ('bm25',))
    """
    paths = [source] if isinstance(source, str | os.PathLike) else source
    files = [Path(path) for path in paths]
    for file in files:
        if not file.is_file() and not file.is_fifo():
            raise _no_file(file)
    if not files:
        raise InputError("found no file to read")
    query_files = [beside for beside in map(query_file, files) if beside is not None]
    _refuse_unused_files(files, query_files)
    # Each file is read alone, so that one that stands in several folds is parsed only once; but where other
    # files number the queries, the numbers go on from one file to the next.
    batches = [files] if query_files else [[file] for file in files]
    pieces = [
        read_table(batch[0], label=label, qid=qid, doc_id=doc_id, weight=weight, cache=cache)
        if is_table(batch[0])
        else read_letor(
            batch,
            n_features=n_features,
            undefined=undefined,
            query_file=query_files or None,
            cache=cache,
        )
        for batch in batches
    ]
    try:
        data = concatenated(pieces, undefined)
    except InputError as error:
        raise InputError(str(error), files[0]) from None
    warn_of_shared_queries([piece.qids for piece in pieces], [batch[0] for batch in batches])
    if is_table(files[0]):
        return data
    data = with_names_beside(data, files[0])
    for file in files[1:]:  # a file without names has those of the first, as another of no names
        other = _names_beside(file)
        if other is not None and with_names_beside(data, file).feature_names != data.feature_names:
            raise InputError(f"other names than those of {files[0]}: read the files apart", other)
    return data


def read_parts(source: Source, *, undefined: float = ABSENT, **columns: Any) -> dict[str, Dataset]:
    """Every document of a file, fold directory or collection once, in parts that do not overlap.

    A file is one part, named as the file is. With `undefined=nan` what the file leaves out, or marks as
    missing, stays apart from zero. `columns` are the `label`, `qid` and `doc_id` of `read`.
    """
    from pomona.data.catalog import is_collection, load_folds

    if not is_collection(source) and Path(source).is_file():
        return {Path(source).name: read(source, **columns, undefined=undefined, cache=True)}
    return load_folds(source, columns=columns).parts(undefined=undefined)


def _no_file(path: Path) -> PomonaError:
    from pomona.data.catalog import COLLECTIONS, is_collection, no_such_data

    if path.is_dir() or is_collection(path):
        kind = "a directory" if path.is_dir() else "a collection of folds"
        return InputError(
            f"this is {kind}, expected a file: give one of its files, or use pm.load({str(path)!r})", path
        )
    if path.exists():
        return no_such_data(path)
    near = difflib.get_close_matches(str(path).lower(), COLLECTIONS, n=1)
    return InputError(f"no such file{f' (a collection is called {near[0]})' if near else ''}", path)


def query_file(path: Path) -> Path | None:
    """The file of query sizes beside a file whose lines do not tell their queries."""
    beside = next(_files_beside(path, QUERY_FILE), None)
    has_queries = beside is not None and (is_table(path) or b" qid:" in first_line(path))
    return None if has_queries else beside


def _files_beside(path: Path, endings: Iterable[str]) -> Iterator[Path]:
    names = dict.fromkeys((plain_name(path), path.name))
    candidates = (path.with_name(name + ending) for name in names for ending in endings)
    return (candidate for candidate in candidates if candidate.is_file())


def _refuse_unused_files(files: Iterable[Path], query_files: Iterable[Path]) -> None:
    """Refuse files beside the data that LightGBM would learn from by itself; warn of query sizes not used."""
    for path in files:
        for beside in _files_beside(path, _OTHER_FILES):
            instead = (
                ", or use pm.read_letor and fit(…, sample_weight=…)" if beside.suffix == ".weight" else ""
            )
            what = f"LightGBM would learn from this file beside {path.name}, Pomona does not read it"
            raise InputError(f"{what}: move it away{instead}", beside)
        for beside in _files_beside(path, QUERY_FILE):
            if beside not in query_files:
                warnings.warn(f"{beside} is not used: the data tell their queries", UserWarning, stacklevel=3)


def names_file(path: Path) -> Path:
    """Where the names of the features of a LETOR file are written: `train.txt.features.json`."""
    return path.with_name(f"{plain_name(path)}{_NAMES}")


def check_names_beside(data: Dataset, path: Path) -> None:
    """Refuse to write features without names as a file beside which names stand: `read` would use those."""
    if data.feature_names == numbered(data.n_features) and (file := _names_beside(path)) is not None:
        raise InputError(f"names features of {path.name}, but the data have no names: move it", file)


def write_names(data: Dataset, path: Path) -> list[Path]:
    """Write the names of features, where somebody gave some, beside text that has no place for them."""
    if data.feature_names == numbered(data.n_features):
        return []
    file = names_file(path)
    with whole_file(file) as stream:
        stream.write(json.dumps(dict(enumerate(data.feature_names, 1)), ensure_ascii=False).encode())
    return [file]


def with_names_beside(data: Dataset, path: Path) -> Dataset:
    """The data with the names in `train.txt.features.json` beside `train.txt`, `{"1": "bm25", …}`.

    `train.features.json` will do, too, unless it could be of another file as well.
    """
    file = _names_beside(path)
    if file is None:
        return data
    try:
        names = json.loads(read_bytes(file))
    except ValueError as error:
        raise InputError(f"cannot be read as JSON: {error}", file) from None
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise InputError('expected names by their numbers, {"1": "bm25", …}', file)
    for number in names:
        if not (number.isascii() and number.isdigit() and str(int(number)) == number and int(number) > 0):
            raise InputError(f"found the number {number!r}, expected numbers of features from 1", file)
    numbers = range(1, data.n_features + 1)
    named = [str(names.get(str(number), f"f{number}")) for number in numbers]
    if (twice := next((name for name, n in Counter(named).items() if n > 1), None)) is not None:
        raise InputError(f"two features are called {twice!r}: rename one", file)
    return data.replace(feature_names=named)


def _names_beside(path: Path) -> Path | None:
    if (own := names_file(path)).is_file():
        return own
    stem = plain_name(path).rpartition(".")[0]
    shared = path.with_name(f"{stem}{_NAMES}")
    if not shared.is_file():
        return None
    others = {
        plain_name(other)
        for other in path.parent.iterdir()
        if plain_name(other).rpartition(".")[0] == stem and _may_have_names(other)
    } - {plain_name(path)}
    if stem and path.with_name(stem).is_file():
        others.add(stem)
    are_parts = all(PurePath(name).suffix[1:].lower() in _PARTS for name in (*others, plain_name(path)))
    if others and not (stem and are_parts):
        other = path.with_name(min(others))
        warnings.warn(
            f"{shared} is not used: it could name the features of {path.name} or of {other.name}; call it "
            f"{own.name} or {names_file(other).name}",
            UserWarning,
            stacklevel=4,
        )
        return None
    return shared


def _may_have_names(path: Path) -> bool:
    name = path.name.lower()
    return path.is_file() and not is_table(path) and not name.endswith((*_NO_DATA, *_OTHER_FILES))
