"""Reading a spec: tables of TOML become records, and what these refuse is told with its place in the file."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from pomona import _registry
from pomona._parameters import ValueRefusedError, checked, read_toml, show_value
from pomona.data.catalog import COLLECTIONS
from pomona.errors import InputError, PomonaError, UnknownNameError
from pomona.experiments.data_spec import DataSpec, Files, Simulated
from pomona.experiments.spec import (
    MEASURE_KEYS,
    RankerSpec,
    SearchSpec,
    Spec,
    UnloadedRankerSpec,
    ranker_class,
)
from pomona.measures.parse import measure as parse_measure

Record = TypeVar("Record")
_OF_ROW = ("ranker", "label", "search", "varied", "features", "without")
"""The keys of a [[ranker]] that are no parameters."""
_LISTS = ("measures", "conventions", "seeds", "folds", "draw", "curves", "varied", "split")


def read(path: Path, *, needs_data: bool = True, places: Mapping[str, str] | None = None) -> Spec:
    """The spec of a TOML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    except UnicodeDecodeError:
        raise InputError("is not a text in UTF-8, which TOML is", path) from None
    return read_text(text, path, needs_data=needs_data, places=places)


def read_text(
    text: str, path: Path, *, needs_data: bool = True, places: Mapping[str, str] | None = None
) -> Spec:
    """The spec of a text that stands in a file, or in a store as if it stood in that file.

    places : where files and directories of the text lie that are not where it says, by what it says.
    """
    try:
        values = read_toml(text)
    except tomllib.TOMLDecodeError as error:
        message, line, column = _toml_place(str(error))
        raise InputError(f"not TOML: {message}", path, line, column) from None
    origin = _Origin(path, text, path.parent, needs_data, places or {})
    return spec_of({"name": path.stem, **values}, origin)


@dataclass(frozen=True)
class _Origin:
    """Where tables were written."""

    path: Path | None = None
    text: str = ""
    folder: Path = Path()
    needs_data: bool = True
    places: Mapping[str, str] = field(default_factory=dict)
    """Where files are that are not where the text says."""
    option: Callable[[str, int, str], str] = lambda table, number, key: ""
    """What the user typed for a key of the n-th table of a name, if that was no file."""

    def found(self, text: str) -> Path:
        """The file or directory that a text names."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"the name {text!r} is no UTF-8, as a spec is: rename it") from None
        path = self.folder / text
        other = self.places.get(text)
        is_moved = other is not None and not path.exists() and Path(other).exists()
        return (Path(str(other)) if is_moved else path).resolve()


class _PlacedError(InputError):
    """A refusal that has its place already."""


@dataclass(frozen=True)
class _Table:
    """A table of the file, which tells the place of what is refused."""

    values: Mapping[str, Any]
    origin: _Origin
    name: str = ""
    number: int = 0
    parts: Mapping[int, _Table] = field(default_factory=dict)
    """The tables of the records that the record of this one is made of, by their `id`."""

    @contextlib.contextmanager
    def at(self, key: str = "") -> Iterator[None]:
        """Add the place to what the body refuses."""
        try:
            yield
        except _PlacedError:
            raise
        except PomonaError as error:
            table, reason = self, str(error)
            if isinstance(error, ValueRefusedError):
                table, key, reason = self.parts.get(id(error.part), self), error.key, error.reason
            place = self.origin.option(table.name, table.number, key)
            place = place or " ".join(filter(None, (table.name, str(table.number or ""), key)))
            line = _line_of(self.origin.text, table.name, table.number, key)
            raise _PlacedError(f"{place}: {reason}" if place else reason, self.origin.path, line) from None

    def get(self, key: str, kind: Any, default: Any = None) -> Any:
        """A value of this kind, or the default where the key is absent."""
        with self.at(key):
            return checked(self.values[key], kind) if key in self.values else default

    def several(self, key: str) -> list[Any]:
        """A list of values; one alone needs no brackets."""
        value = self.values.get(key, [])
        return value if isinstance(value, list) else [value]

    def tables(self, name: str) -> list[_Table]:
        """The tables [[name]], of which there must be one."""
        given = self.get(name, list[Any], ())
        with self.at(name):
            if not given or not all(isinstance(one, dict) for one in given):
                raise InputError(f"expected one table [[{name}]] at least")
        return [_Table(one, self.origin, name, number) for number, one in enumerate(given, 1)]

    def inner(self, key: str, record: type[Record], name: str, number: int = 0) -> Record:
        """The record that a table inside this one stands for."""
        return _Table(self.get(key, dict), self.origin, name, number).record(record)

    def allow(self, known: Iterable[str]) -> None:
        """Refuse a key that is not known."""
        for key in self.values:
            with self.at(key):
                if key not in known:
                    raise UnknownNameError("key", key, known)

    def record(self, record: type[Record], *others: str, **made: Any) -> Record:
        """The record of this table, of which some values are `made`; `others` are keys that are no fields."""
        known = {one.name: one for one in fields(record)}  # type: ignore[arg-type]
        self.allow({*known, *others})
        given = {key: value for key, value in self.values.items() if key in known}
        given |= {key: self.several(key) for key in _LISTS if key in given} | made
        with self.at():
            for key, one in known.items():
                if key not in given and one.default is MISSING and one.default_factory is MISSING:
                    raise InputError(f"{key} is missing")
            return record(**given)


def spec_of(
    values: Mapping[str, Any],
    origin: _Origin | None = None,
    *,
    option: Callable[[str, int, str], str] | None = None,
) -> Spec:
    """The spec that tables, as TOML reads them, stand for.

    option : what the user typed for a key of a table, for messages.
    """
    table = _Table(values, origin or (_Origin() if option is None else _Origin(option=option)))
    table.allow({one.name for one in fields(Spec)} - {"datasets", "rankers"} | {"dataset", "ranker"})
    rankers = [(one, _ranker(one)) for given in table.tables("ranker") for one in _variants(given)]
    datasets = [(one, _dataset(one)) for one in table.tables("dataset")]
    made: dict[str, Any] = {"name": values.get("name", "")}
    if "measures" in values:
        with table.at("measures"):
            made["measures"] = [_measure(table, text) for text in table.several("measures")]
    if "search" in values:
        made["search"] = table.inner("search", SearchSpec, "search")
    made["datasets"], made["rankers"] = ([part for _, part in parts] for parts in (datasets, rankers))
    places: dict[int, _Table] = {id(part): one for one, part in [*datasets, *rankers]}
    table = dataclasses.replace(table, parts=places)
    spec = table.record(Spec, "dataset", "ranker", **made)
    if table.origin.needs_data and (table.origin.path or option):
        _refuse_idle(spec, table)
    return spec


def _refuse_idle(spec: Spec, table: _Table) -> None:
    """Refuse what a user wrote that changes nothing."""
    with table.at("n_folds"):
        if "n_folds" in table.values and not any(map(_is_cut, spec.datasets)):
            raise InputError("every dataset has folds of its own: leave it out")
    for data in spec.datasets:
        own, variations = table.parts[id(data)], [variant.variation for variant in data.variants()]
        with own.at("draw"):
            by_chance = [
                one for one in variations if not dataclasses.replace(one, features="all").is_complete
            ]
            if data.draw != (0,) and not by_chance:
                raise InputError("nothing is drawn at random here: leave it out")
        with own.at("noise_valid"):
            if not data.noise_valid and not any(one.label_noise > 0 for one in variations):
                raise InputError("there is no label_noise: leave it out")
        for key in ("label", "qid", "doc_id"):
            with own.at(key):
                if isinstance(data.source, Simulated) and key in own.values:
                    raise InputError("simulated data have no columns to name: leave it out")
    for row in spec.rankers:
        with table.parts[id(row)].at("search"):
            if row.search and spec.search is None:
                raise InputError("nothing is searched without a table [search] with n_trials: add it")
    with table.at("search"):
        if spec.search is not None and not any(map(_is_searched, spec.rankers)):
            raise InputError("no ranker here has a parameter to search: leave it out")


def _is_cut(data: DataSpec) -> bool:
    """Whether a dataset is cut into `n_folds`."""
    is_file = isinstance(data.source, str) and Path(data.source).is_file()
    return data.split is None and (is_file or isinstance(data.source, Simulated))


def _is_searched(row: RankerSpec) -> bool:
    """Whether a search would find something to change of a ranker."""
    cls = ranker_class(row.ranker)
    parameters = {**cls().get_params(deep=False), **row.parameters}
    space = cls.space_for(parameters) if row.search is None else row.search
    return any(name not in row.parameters for name in space)


def _dataset(table: _Table) -> DataSpec:
    kinds = [key for key in ("source", "train", "simulate") if key in table.values]
    parts = ("train", "valid", "test")
    with table.at():
        if len(kinds) != 1:
            raise InputError(
                f"found {' and '.join(kinds) or 'no data'}, expected one of: source (a collection, a "
                "directory or a file), train and test (files), simulate (a table)"
            )
        if kinds != ["train"] and {"valid", "test"} & table.values.keys():
            raise InputError(f"valid and test go with train, not with {kinds[0]}")
        if kinds == ["train"] and "test" not in table.values:
            raise InputError("test is missing")
    source: str | tuple[str, ...] | Files | Simulated
    if kinds == ["source"]:
        places = tuple(_place(table, text) for text in table.several("source"))
        source = places[0] if len(places) == 1 else places
    elif kinds == ["train"]:
        source = Files(**{key: _file(table, key) for key in parts if key in table.values})
    else:
        source = table.inner("simulate", Simulated, table.name, table.number)
    return table.record(DataSpec, *parts, "simulate", name=table.values.get("name", ""), source=source)


def _place(table: _Table, text: Any) -> str:
    with table.at("source"):
        path = table.origin.found(checked(text, str))
        is_data = path.exists() and not (path / "store.sqlite").exists()
        if text.lower() in COLLECTIONS and not is_data:
            return str(text).lower()
        is_optional = table.values.get("optional") is True
        if table.origin.needs_data and not path.exists() and not is_optional:
            if "." in text or "/" in text or "\\" in text:
                raise InputError(f"no such file or directory: {text}")
            raise UnknownNameError("collection, directory or file", text, COLLECTIONS)
    return str(path)


def _file(table: _Table, key: str) -> str:
    path = table.origin.found(table.get(key, str))
    with table.at(key):
        if table.origin.needs_data and not path.is_file():
            raise InputError(f"no such file: {path}")
    return str(path)


def _variants(table: _Table) -> list[_Table]:
    """The rows that a table stands for: with `each`, one for every combination of the values listed there."""
    if "each" not in table.values:
        return [table]
    each = table.get("each", dict)
    for key, values in each.items():
        with table.at(f"each.{key}"):
            if key in table.values:
                raise InputError(f"{key} is given as well: leave one of them out")
            if not checked(values, list[Any]):
                raise InputError("expected one value at least, found none")
    shared = {key: value for key, value in table.values.items() if key != "each"}
    rows = []
    for values in itertools.product(*each.values()):
        chosen = dict(zip(each, values, strict=True))
        if "label" in shared:
            with table.at("label"):
                chosen["label"] = _filled(checked(shared["label"], str), chosen)
        varied = [key for key, listed in each.items() if len(listed) > 1 and key not in _OF_ROW]
        rows.append(dataclasses.replace(table, values={**shared, **chosen, "varied": varied}))
    return rows


def _filled(label: str, chosen: Mapping[str, Any]) -> str:
    """A label with each {parameter} replaced by its value."""

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in chosen:
            raise UnknownNameError("parameter of `each`", match[1], chosen)
        return show_value(chosen[match[1]])

    return re.sub(r"\{(\w+)\}", value_of, label)


def _ranker(table: _Table) -> RankerSpec:
    if "model" in table.values and table.values.get("ranker", "imported") == "imported":
        table = _of_model_file(table)
    with table.at():
        if "ranker" not in table.values:
            raise InputError("ranker is missing")
    text = table.get("ranker", str)
    with table.at("ranker"):
        in_file = _class_in_file(table, text)
        name = in_file or _registry.find("rankers", text, "ranker").name
    given = {key: one for key, one in table.values.items() if key not in _OF_ROW}
    for key in MEASURE_KEYS:
        if isinstance(given.get(key), str):
            with table.at(key):
                given[key] = _measure(table, given[key])
    with table.at():
        kind = UnloadedRankerSpec if in_file and not table.origin.needs_data else RankerSpec
        varied = tuple(table.several("varied"))
        chosen = {key: tuple(table.several(key)) for key in ("features", "without") if key in table.values}
        label = table.values.get("label", "")
        return kind(label, name, given, table.get("search", dict), varied, **chosen)


def _of_model_file(table: _Table) -> _Table:
    """The row of a model that another trainer made: a path from the spec, and its file for a label."""
    file = table.get("model", str)
    row = {"ranker": "imported", "label": Path(file).name, **table.values, "model": _file(table, "model")}
    return dataclasses.replace(table, values=row)


def _class_in_file(table: _Table, text: str) -> str | None:
    """`path/to/file.py:Class`, with the path relative to the spec's, or None where it is no such text."""
    path, _, name = text.rpartition(":")
    return f"{table.origin.found(path)}:{name}" if path.endswith(".py") else None


def _measure(table: _Table, text: Any) -> str:
    """A measure, which if it is in a file of the user's can be loaded from there."""
    in_file = _class_in_file(table, checked(text, str))
    if in_file is not None and table.origin.needs_data:
        parse_measure(in_file)
    return in_file or text


def _toml_place(message: str) -> tuple[str, int | None, int | None]:
    """The message of the TOML reader without its place, and the place."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    return (match[1], int(match[2]), int(match[3])) if match else (message, None, None)


def _line_of(text: str, table: str, number: int, key: str) -> int | None:
    """The line of a key in the n-th table of this name; of the table's head, where the key has no line."""
    inside, seen, head = not table, 0, None
    for place, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]+", line):
            name = match[1]
            seen += name == table
            inside = bool(table) and (name == table or name.startswith(f"{table}.")) and seen == (number or 1)
            head = place if inside and head is None else head
        elif inside and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
            return place
    return head
