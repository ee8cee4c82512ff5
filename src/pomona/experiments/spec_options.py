"""A spec in the words of the command line: `small=train.txt`, `fast=mart(n_trees=50)`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pomona.errors import InputError
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
    rankers : their names with commas between, each perhaps with a label and parameters.
    folds, columns : of every dataset.
    settings : top-level keys of the file; None counts as absent.
    """
    shared = {**(columns or {}), **({"folds": list(folds)} if folds else {})}
    tables: dict[str, Any] = {
        "dataset": [{**_source(text, test, valid), **shared} for text in data],
        "ranker": [_ranker(text) for text in split_outside(rankers)],
        **({} if n_trials is None else {"search": {"n_trials": n_trials}}),
    }
    return spec_of(tables | {key: value for key, value in settings.items() if value is not None})


def split_outside(text: str) -> list[str]:
    """Split at the commas that stand outside parentheses.

    >>> split_outside("mart, lambdamart(measure=rbp(p=0.8), n_trees=9)")
    ['mart', 'lambdamart(measure=rbp(p=0.8), n_trees=9)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _source(text: str, test: str | None, valid: str | None) -> dict[str, Any]:
    if match := re.fullmatch(r"(?:([^=()]+)=)?\s*simulate\s*(?:\((.*)\))?", text):
        named = {"name": match[1].strip()} if match[1] else {}
        return {**named, "simulate": {key: _literal(value) for key, value in _arguments(match[2], text)}}
    name, equals, source = text.partition("=")
    is_named = bool(equals) and not Path(text).exists()
    parts = {"valid": valid, "test": test}
    return {
        **({"name": name} if is_named else {}),
        "source" if test is None else "train": source if is_named else text,
        **{key: path for key, path in parts.items() if path is not None},
    }


def _ranker(text: str) -> dict[str, Any]:
    """`label=name(parameter=value, …)` as a table; a text stays one where the parameter is a text."""
    match = re.fullmatch(r"(?:([^=()]+)=)?\s*([^=()\s]+)\s*(?:\((.*)\))?", text, re.DOTALL)
    if match is None:
        raise InputError(f"found ranker {text!r}, expected name, or name(parameter=value, …)")
    label, name, arguments = match.groups()
    table: dict[str, Any] = {"ranker": name, **({"label": label.strip()} if label else {})}
    defaults = ranker_class(name)().get_params(deep=False)
    for key, value in _arguments(arguments, text):
        table[key] = value if isinstance(defaults.get(key), str) else _literal(value)
    return table


def _arguments(text: str | None, whole: str) -> Iterator[tuple[str, str]]:
    """The names and values of `name=value, …`."""
    for argument in split_outside(text or ""):
        key, equals, value = (part.strip() for part in argument.partition("="))
        if not equals:
            raise InputError(f"found {argument!r} in {whole!r}, expected name=value")
        yield key, value


def _literal(text: str) -> Any:
    """A number, true, false, a list written 1/0/-1, or else the text itself."""
    if "/" in text:
        return [_literal(part) for part in text.split("/")]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text
