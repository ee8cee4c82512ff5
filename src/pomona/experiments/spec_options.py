"""A spec in the words of the command line: `small=train.txt`, `fast=mart(n_trees=50)`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pomona._parameters import assignments, read_parameters, split_outside
from pomona.errors import InputError
from pomona.experiments.data_spec import Simulated
from pomona.experiments.spec import Spec, ranker_class
from pomona.experiments.spec_reader import spec_of


def spec_from_options(
    data: Sequence[str],
    rankers: str,
    *,
    valid: str | None = None,
    test: str | None = None,
    folds: Sequence[int] | None = None,
    columns: Mapping[str, str] | None = None,
    n_trials: int | None = None,
    **settings: Any,
) -> Spec:
    """The spec that options stand for.

    Parameters
    ----------
    data : collections, directories or files, each perhaps with a name: `small=train.txt`; or
        `simulate(queries=300)`. With `test`, the training file.
    rankers : their names with commas between, each perhaps with a label and parameters, whose values are
        written as in the file: `small=lambdarank(hidden=[64, 32])`.
    folds, columns : of every dataset.
    settings : top-level keys of the file; None counts as absent.
    """
    if test is not None and settings.get("n_folds") is not None:
        raise InputError("--n-folds cuts data that have no --test: give one of them")
    if not split_outside(rankers):
        raise InputError("--rankers names no ranker: as in --rankers lambdamart,mart (pomona list rankers)")
    shared = {**(columns or {}), **({"folds": list(folds)} if folds else {})}
    tables: dict[str, Any] = {
        "dataset": [{**dataset_table(text, test, valid), **shared} for text in data],
        "ranker": ranker_tables(rankers),
        **({} if n_trials is None else {"search": {"n_trials": n_trials}}),
    }

    def option(table: str, number: int, key: str) -> str:
        """What was typed."""
        if table == "ranker":
            return f"--rankers {tables['ranker'][number - 1]['ranker']}{f' {key}' if key else ''}"
        if table == "dataset" and key not in _OPTIONS:
            return data[number - 1]
        return _OPTIONS.get(key or table, f"--{key.replace('_', '-')}" if key and not table else "")

    return spec_of(
        tables | {key: value for key, value in settings.items() if value is not None}, option=option
    )


_OPTIONS = {
    "measures": "--measure",
    "rankers": "--rankers",
    "n_trials": "--trials",
    "search": "--trials",
    **{key: f"--{key}" for key in ("valid", "test", "folds", "label", "qid")},
    "doc_id": "--doc-id",
}
"""What keys of a spec are called on the command line."""


def ranker_tables(rankers: str) -> list[dict[str, Any]]:
    """The tables [[ranker]] of the words `rankers` of `spec_from_options`."""
    return [_ranker(text) for text in split_outside(rankers)]


def dataset_table(text: str, test: str | None = None, valid: str | None = None) -> dict[str, Any]:
    """The table [[dataset]] of one of the words `data` of `spec_from_options`."""
    if match := re.fullmatch(r"(?:([^=()]+)=)?\s*simulate\s*(?:\((.*)\))?", text):
        if test is not None or valid is not None:
            raise InputError(f"--test and --valid go with a training file, found {text}: leave them out")
        named = {"name": match[1].strip()} if match[1] else {}
        return {**named, "simulate": read_parameters(Simulated, assignments(match[2] or "", text))}
    name, equals, source = text.partition("=")
    is_named = bool(equals) and not Path(text).exists()
    place = source if is_named else text
    if test is not None and Path(place).is_dir():
        raise InputError(f"--test goes with a training file, found the directory {place}")
    parts = {"valid": valid, "test": test}
    return {
        **({"name": name} if is_named else {}),
        "source" if test is None else "train": place,
        **{key: path for key, path in parts.items() if path is not None},
    }


_RANKER = re.compile(
    r"""
    (?: (?P<label> [^=()'"]+ ) = )? \s*
    (?: '(?P<quoted> [^']+ )' | "(?P<doubly> [^"]+ )"
      | (?P<plain> (?: \\. | [^=()\s\\'"] )+ | [^=()'"]+ \.py:\w+ ) )  # blanks: escaped, or of a file
    \s* (?: \( (?P<arguments> .* ) \) )?
    """,
    re.DOTALL | re.VERBOSE,
)


def _ranker(text: str) -> dict[str, Any]:
    """`label=name(parameter=value, …)` as a table."""
    match = _RANKER.fullmatch(text)
    if match is None:
        raise InputError(
            f"found ranker {text!r}, expected name, or name(parameter=value, …); of a file whose path has "
            "other signs than letters, in quotes: 'my (old) rankers/mine.py:MyRanker'"
        )
    label, arguments = match["label"], match["arguments"]
    quoted = match["quoted"] or match["doubly"]
    name = re.sub(r"\\(.)", r"\1", match["plain"]).strip() if quoted is None else quoted
    table: dict[str, Any] = {"ranker": name, **({"label": label.strip()} if label else {})}
    given = read_parameters(ranker_class(name), assignments(arguments or "", text))
    for key in ("features", "without"):
        if isinstance(given.get(key), str):  # names need no quotes: [bm25, clicks]
            given[key] = [one.strip(" \"'") for one in given[key].strip("[] ").split(",")]
    return {**table, **given}
