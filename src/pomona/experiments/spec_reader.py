"""Reading a spec, and refusing what is wrong with it: one line that tells the place and the nearest name."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pomona import _registry
from pomona.data.catalog import COLLECTIONS
from pomona.errors import InputError, PomonaError, UnknownNameError
from pomona.experiments.spec import DataSpec, Files, RankerSpec, SearchSpec, Simulated, Spec, ranker_class
from pomona.measures.conventions import CONVENTIONS, convention_named
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import SCALES, SearchRange

_KINDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a table",
    list: "a list",
}


def read(path: Path, *, needs_data: bool = True) -> Spec:
    """The spec of a TOML file."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    except UnicodeDecodeError:
        raise InputError("is not a text in UTF-8, which TOML is", path) from None
    except tomllib.TOMLDecodeError as error:
        message, line, column = _toml_place(str(error))
        raise InputError(f"not TOML: {message}", path, line, column) from None
    values.setdefault("name", path.stem)
    return spec_of(values, _Origin(path, text, path.parent, needs_data))


@dataclass(frozen=True)
class _Origin:
    """Where tables were written."""

    path: Path | None = None
    text: str = ""
    folder: Path = Path()
    needs_data: bool = True


class _PlacedError(InputError):
    """A refusal that has its place already."""


class _Table:
    """A table of the file: gives its values checked, and tells the place of what is refused."""

    def __init__(self, values: Mapping[str, Any], origin: _Origin, name: str = "", number: int = 0) -> None:
        self.values, self.origin, self.name, self.number = values, origin, name, number

    @contextlib.contextmanager
    def at(self, key: str = "") -> Iterator[None]:
        """Add the place to what the body refuses."""
        try:
            yield
        except _PlacedError:
            raise
        except PomonaError as error:
            place = " ".join(filter(None, (self.name, str(self.number or ""), key)))
            line = _line_of(self.origin.text, self.name, self.number, key)
            raise _PlacedError(f"{place}: {error}" if place else str(error), self.origin.path, line) from None

    def allow(self, known: Iterable[str]) -> None:
        """Refuse a key that is not known."""
        for key in self.values:
            with self.at(key):
                if key not in known:
                    raise UnknownNameError("key", key, known)

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """A value of this kind, or the default where the key is absent."""
        if key not in self.values:
            return default
        with self.at(key):
            return _of_kind(self.values[key], kind)

    def need(self, key: str, kind: type) -> Any:
        """A value of this kind."""
        with self.at():
            if key not in self.values:
                raise InputError(f"{key} is missing")
        return self.get(key, kind)

    def tables(self, name: str) -> list[_Table]:
        """The tables [[name]], of which there must be one."""
        with self.at(name):
            found = _of_kind(self.values.get(name, []), list)
            if not found or not all(isinstance(one, dict) for one in found):
                raise InputError(f"expected one table [[{name}]] at least")
        return [_Table(one, self.origin, name, number) for number, one in enumerate(found, 1)]

    def texts(self, key: str, default: Sequence[str]) -> list[str]:
        """A list of texts; one alone needs no brackets."""
        with self.at(key):
            found = self.values.get(key, list(default))
            texts = [found] if isinstance(found, str) else _of_kind(found, list)
            if not texts:
                raise InputError("expected one text at least, found none")
            return [_of_kind(text, str) for text in texts]

    def numbers(self, key: str, least: int) -> tuple[int, ...] | None:
        """Different whole numbers; one alone needs no brackets."""
        if key not in self.values:
            return None
        with self.at(key):
            found = self.values[key]
            numbers = [_of_kind(n, int) for n in (found if isinstance(found, list) else [found])]
            if not numbers or min(numbers) < least or len(set(numbers)) < len(numbers):
                raise InputError(f"found {found}, expected different whole numbers from {least}")
        return tuple(numbers)

    def above(self, key: str, kind: type, least: float, default: Any = None) -> Any:
        """A number not below `least` (or, of a fraction, above it)."""
        value = self.get(key, kind, default)
        with self.at(key):
            if value is not None and (value < least or (kind is float and value == least)):
                raise InputError(
                    f"found {value}, expected {'more than' if kind is float else 'at least'} {least}"
                )
        return value


def spec_of(values: Mapping[str, Any], origin: _Origin | None = None) -> Spec:
    """The spec that tables, as TOML reads them, stand for."""
    table = _Table(values, origin or _Origin())
    table.allow(
        {field.name for field in dataclasses.fields(Spec)} - {"datasets", "rankers"} | {"dataset", "ranker"}
    )
    measures, conventions = _measures(table), _conventions(table)
    rows = [variant for one in table.tables("ranker") for variant in _variants(one)]
    rankers = [_ranker(row) for row in rows]
    datasets = [_dataset(one) for one in table.tables("dataset")]
    _refuse_twins(rows, "label", [row.label for row in rankers])
    _refuse_twins(table.tables("dataset"), "name", [data.name for data in datasets])
    return Spec(
        name=table.get("name", str, " ".join(data.name for data in datasets)),
        datasets=tuple(datasets),
        rankers=tuple(rankers),
        measures=measures,
        conventions=conventions,
        seeds=table.numbers("seeds", least=0) or (0,),
        baseline=_baseline(table, [row.label for row in rankers]),
        search=_search(table),
        time_limit=table.above("time_limit", float, 0),
        n_folds=table.above("n_folds", int, 2, default=Spec.n_folds),
        bounds=table.get("bounds", bool, default=Spec.bounds),
    )


def _dataset(table: _Table) -> DataSpec:
    fields = {field.name for field in dataclasses.fields(DataSpec)}
    table.allow(fields | {"train", "valid", "test", "simulate"})
    kinds = [key for key in ("source", "train", "simulate") if key in table.values]
    with table.at():
        if len(kinds) != 1:
            raise InputError(
                f"found {' and '.join(kinds) or 'no data'}, expected one of: source (a collection, a "
                "directory or a file), train and test (files), simulate (a table)"
            )
        if kinds != ["train"] and {"valid", "test"} & table.values.keys():
            raise InputError(f"valid and test go with train, not with {kinds[0]}")
    source: str | tuple[str, ...] | Files | Simulated
    if kinds == ["source"]:
        places = [_place(table, text) for text in table.texts("source", [])]
        source = tuple(places) if len(places) > 1 else places[0]
        name = "+".join(Path(place).name.partition(".")[0] or place for place in places)
    elif kinds == ["train"]:
        table.need("test", str)
        files = {key: _file(table, key) for key in ("train", "valid", "test") if key in table.values}
        source, name = Files(**files), Path(files["train"]).parent.name
    else:
        source, name = _simulated(table), "simulated"
    return DataSpec(
        name=table.get("name", str, name),
        source=source,
        folds=table.numbers("folds", least=1),
        drop_empty=table.get("drop_empty", bool, default=False),
        label=table.get("label", str, "label"),
        qid=table.get("qid", str, "qid"),
        doc_id=table.get("doc_id", str),
    )


def _place(table: _Table, text: str) -> str:
    if text.lower() in COLLECTIONS:
        return text.lower()
    path = table.origin.folder / text
    with table.at("source"):
        if table.origin.needs_data and not path.exists():
            raise UnknownNameError("collection, directory or file", text, COLLECTIONS)
    return str(path.resolve())


def _file(table: _Table, key: str) -> str:
    path: Path = table.origin.folder / table.get(key, str)
    with table.at(key):
        if table.origin.needs_data and not path.is_file():
            raise InputError(f"no such file: {path}")
    return str(path.resolve())


def _simulated(table: _Table) -> Simulated:
    given = _Table(table.get("simulate", dict), table.origin, *("dataset", table.number))
    defaults = {field.name: field.default for field in dataclasses.fields(Simulated)}
    given.allow(defaults)
    return Simulated(**{key: given.get(key, type(defaults[key])) for key in given.values})


def _variants(table: _Table) -> list[_Table]:
    """The rows that a table stands for: with `each`, one for every combination of the values listed there."""
    if "each" not in table.values:
        return [table]
    each: dict[str, list[Any]] = {}
    for key, values in table.get("each", dict).items():
        with table.at(f"each.{key}"):
            each[key] = _of_kind(values, list)
            if key in table.values:
                raise InputError(f"{key} is given as well: leave one of them out")
            if not each[key]:
                raise InputError("expected one value at least, found none")
    shared = {key: value for key, value in table.values.items() if key != "each"}
    rows = []
    for values in itertools.product(*each.values()):
        chosen = dict(zip(each, values, strict=True))
        if "label" in shared:
            with table.at("label"):
                chosen["label"] = _filled(table.get("label", str), chosen)
        rows.append(_Table({**shared, **chosen}, table.origin, table.name, table.number))
    return rows


def _filled(label: str, chosen: Mapping[str, Any]) -> str:
    """A label with each {parameter} replaced by its value."""

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in chosen:
            raise UnknownNameError("parameter of `each`", match[1], chosen)
        return _written(chosen[match[1]])

    return re.sub(r"\{(\w+)\}", value_of, label)


def _ranker(table: _Table) -> RankerSpec:
    text = table.need("ranker", str)
    with table.at("ranker"):
        name = _ranker_name(table, text)
        cls = ranker_class(name)
    class_name, defaults = cls.__name__, cls().get_params(deep=False)
    given: dict[str, Any] = {}
    for key, value in table.values.items():
        if key in ("ranker", "label", "search"):
            continue
        with table.at(key):
            if key not in defaults:
                raise UnknownNameError(f"parameter of {class_name}", key, [*defaults, "label", "search"])
            if key == "seed":
                raise InputError("the comparison sets the seeds: write seeds = [0, 1] at the top")
            given[key] = _parameter(value, defaults[key])
            if key == "measure":
                given[key] = _measure(table, given[key])
    written = ", ".join(f"{key}={_written(value)}" for key, value in given.items())
    default = f"{class_name}({written})" if given else class_name
    return RankerSpec(table.get("label", str, default), name, given, _space(table, defaults, given))


def _ranker_name(table: _Table, text: str) -> str:
    """The registry's name of a ranker; one in a user's own file keeps its path."""
    path, _, class_name = text.rpartition(":")
    if path.endswith(".py"):
        return f"{(table.origin.folder / path).resolve()}:{class_name}"
    return _registry.find("rankers", text, "ranker").name


def _space(
    table: _Table, parameters: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, SearchRange] | None:
    """What a ranker's own table `search` says; [least, most, scale] is a range, any other list is choices."""
    if "search" not in table.values:
        return None
    space: dict[str, SearchRange] = {}
    for key, value in table.get("search", dict).items():
        with table.at(f"search.{key}"):
            if key not in parameters:
                raise UnknownNameError("parameter", key, parameters)
            if key in given:
                raise InputError(f"{key} is given, so it cannot be searched: leave one of them out")
            choices: list[Any] = [tuple(of) if isinstance(of, list) else of for of in _of_kind(value, list)]
            if not choices:
                raise InputError("expected [least, most, scale] or a list of choices, found none")
            space[key] = choices
            if len(choices) == 3 and choices[2] in SCALES:
                space[key] = (choices[0], choices[1], choices[2])
    return space


def _parameter(value: Any, default: Any) -> Any:
    """A parameter's value, of the kind of its default; `none` is nothing, a list is a tuple."""
    if isinstance(value, str) and value.lower() == "none":
        return None
    if isinstance(value, list):
        return tuple(value)
    return _of_kind(value, type(default)) if type(default) in _KINDS else value


def _measures(table: _Table) -> tuple[str, ...]:
    texts = table.texts("measures", Spec.measures)
    with table.at("measures"):
        return tuple(dict.fromkeys(_measure(table, text) for text in texts))


def _measure(table: _Table, text: str) -> str:
    """A measure as it is always written; one in a user's own file keeps its path."""
    path, _, name = text.rpartition(":")
    if not path.endswith(".py"):
        return str(parse_measure(text))
    written = f"{(table.origin.folder / path).resolve()}:{name}"
    if table.origin.needs_data:
        parse_measure(written)
    return written


def _conventions(table: _Table) -> tuple[str, ...]:
    texts = table.texts("conventions", Spec.conventions)
    with table.at("conventions"):
        if texts == ["all"]:
            return tuple(CONVENTIONS)
        return tuple(dict.fromkeys(convention_named(text).name for text in texts))


def _baseline(table: _Table, labels: Sequence[str]) -> str | None:
    asked: str | None = table.get("baseline", str)
    with table.at("baseline"):
        if asked is None or asked in labels:
            return asked
        near = [label for label in labels if label.lower() == asked.lower()]
        if not near:
            raise UnknownNameError("ranker", asked, labels)
        return near[0]


def _search(table: _Table) -> SearchSpec | None:
    if "search" not in table.values:
        return None
    asked = _Table(table.get("search", dict), table.origin, "search")
    asked.allow({"n_trials", "seed"})
    asked.need("n_trials", int)
    return SearchSpec(asked.above("n_trials", int, 1), asked.above("seed", int, 0, default=0))


def _refuse_twins(tables: Sequence[_Table], key: str, names: Sequence[str]) -> None:
    for number, (table, name) in enumerate(zip(tables, names, strict=True)):
        with table.at(key):
            if name in names[:number]:
                raise InputError(f"two are called {name!r}: give one another {key}")


def _of_kind(value: Any, kind: type) -> Any:
    """The value, if it is of the kind; a whole number is a number too."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind or value == "":
        raise InputError(f"found {value!r}, expected {_KINDS[kind]}")
    return value


def _written(value: Any) -> str:
    """A parameter's value as the command line has it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return "/".join(map(_written, value)) if isinstance(value, tuple) else str(value)


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
