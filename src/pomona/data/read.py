"""The one door for data: any file, whatever its format and compression, as a dataset.

    LETOR text   every name that is none of those below; with `qid:` in its lines, or with the number of
                 rows of each query in a file beside it (`train.query` or `train.group`)
    tables       .csv .tsv .jsonl .ndjson .parquet .arrow .feather .ipc

Text may be compressed (.gz, .bz2, .xz, .zst). `X.features.json` beside `X.train` names the features of a
LETOR file by their numbers.
"""

from __future__ import annotations

import difflib
import json
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from pomona.data.compression import first_line, plain_name, read_bytes
from pomona.data.concatenation import concatenated
from pomona.data.dataset import Dataset
from pomona.data.letor import read_letor
from pomona.data.overlap import warn_of_shared_queries
from pomona.data.table import is_table, read_table
from pomona.errors import InputError

Source: TypeAlias = "str | os.PathLike[str]"

QUERY_FILE = (".query", ".group")
"""How the name of a file of query sizes ends."""
_OTHER_FILES = (".weight", ".init", ".position")


def read(
    source: Source | Iterable[Source],
    *,
    label: str = "label",
    qid: str = "qid",
    doc_id: str | None = None,
    n_features: int | None = None,
    undefined: float = 0.0,
    cache: bool = False,
) -> Dataset:
    """Read a file, or several one after the other, as one dataset.

    A query id that stands in two of the files is one query, and a warning says so. A collection or a
    directory with folds is not one dataset: `pomona.load` takes a fold of it. Files beside the data from
    which LightGBM would learn by itself (`.weight`, `.init`, `.position`) are refused.

    Parameters
    ----------
    label, qid, doc_id : the columns of a table that are no features.
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
        read_table(batch[0], label=label, qid=qid, doc_id=doc_id, cache=cache)
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
    return data if is_table(files[0]) else with_names_beside(data, files[0])


def read_parts(source: Source, *, undefined: float = 0.0, **columns: Any) -> dict[str, Dataset]:
    """Every document of a file, fold directory or collection once, in parts that do not overlap.

    A file is one part, named as the file is. With `undefined=nan` what the file leaves out, or marks as
    missing, stays apart from zero. `columns` are the `label`, `qid` and `doc_id` of `read`.
    """
    from pomona.data.catalog import COLLECTIONS, load_folds

    if str(source).lower() not in COLLECTIONS and Path(source).is_file():
        return {Path(source).name: read(source, **columns, undefined=undefined, cache=True)}
    return load_folds(Path(source), columns=columns).parts(undefined=undefined)


def _no_file(path: Path) -> InputError:
    from pomona.data.catalog import COLLECTIONS

    name = str(path).lower()
    if path.is_dir() or name in COLLECTIONS:
        kind = "a directory" if path.is_dir() else "a collection of folds"
        return InputError(
            f"this is {kind}, expected a file: give one of its files, or use pm.load({str(path)!r})", path
        )
    near = difflib.get_close_matches(name, COLLECTIONS, n=1)
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


def with_names_beside(data: Dataset, path: Path) -> Dataset:
    """The data with the names in `X.features.json` beside `X.train`, `{"1": "bm25", …}`, if there is one."""
    file = path.with_name(plain_name(path).rpartition(".")[0] + ".features.json")
    if not file.is_file():
        return data
    try:
        names = json.loads(read_bytes(file))
    except ValueError as error:
        raise InputError(f"cannot be read as JSON: {error}", file) from None
    if not isinstance(names, dict):
        raise InputError('expected names by their numbers, {"1": "bm25", …}', file)
    numbers = range(1, data.n_features + 1)
    return data.replace(feature_names=[str(names.get(str(number), f"f{number}")) for number in numbers])
