"""What a comparison compares: a TOML file, or the options of the command line, checked to the last name.

    measures = ["ndcg@10", "ap"]            # the first, under the first convention, is the main measure
    conventions = ["definition", "letor4"]
    seeds = [0, 1]

    [[dataset]]
    source = "mq2008"                       # a collection, a fold directory, or a file to be cross-validated
    folds = [1, 2]

    [[ranker]]
    ranker = "lambdamart"
    label = "LambdaMART yahoo"
    measure = "yahoo:ndcg@10"               # any other key is a parameter of the ranker

    [search]
    n_trials = 20

A ranker that can be trained towards a measure, and is not told which, is trained towards the main one. TOML
has no word for nothing, so the text `none` is it. Everything that can be wrong with names and kinds of values
is refused here, in one line that tells the place and the nearest valid name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pomona import _registry
from pomona.data.catalog import COLLECTIONS
from pomona.errors import InputError, PomonaError, UnknownNameError
from pomona.measures.conventions import CONVENTIONS, convention_named
from pomona.measures.parse import measure as parse_measure

CUTOFFS = range(1, 11)
"""The cut-offs of the NDCG curve that every comparison draws."""

BOUNDS = ("ideal", "worst")
"""The rankers that no ranker can beat, or be beaten by."""


@dataclass(frozen=True)
class Files:
    """Data that come as one training, perhaps one validation, and one test file."""

    train: str
    test: str
    valid: str | None = None


@dataclass(frozen=True)
class Simulated:
    """Data that are drawn by `pomona.simulate`, and cross-validated."""

    queries: int = 300
    features: int = 46
    docs_per_query: float = 40.0
    noise: float = 0.4
    seed: int = 0


@dataclass(frozen=True)
class DataSpec:
    """One dataset of a comparison.

    Parameters
    ----------
    name : what it is called; unique.
    source : a collection's name, a fold directory or a single file; or `Files`, or `Simulated`.
    folds : which of its folds, counted from 1; None takes all.
    label, qid, doc_id : the columns that are no features, where the files are tables.
    """

    name: str
    source: str | Files | Simulated
    folds: tuple[int, ...] | None = None
    label: str = "label"
    qid: str = "qid"
    doc_id: str | None = None


@dataclass(frozen=True)
class RankerSpec:
    """One row of the comparison: a ranker of the registry with some of its parameters set."""

    label: str
    ranker: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchSpec:
    """How long to search for parameters, on the validation queries."""

    n_trials: int
    seed: int = 0


@dataclass(frozen=True)
class Spec:
    """A comparison.

    Parameters
    ----------
    name : its title.
    datasets, rankers : what is compared, on what.
    measures, conventions : every ranking is judged by each measure under each convention.
    seeds : every ranker is trained once for each.
    baseline : the label of the ranker that all are compared with; None is the first.
    search : look for better parameters first; None takes them as they are.
    time_limit : seconds that one run may take; None lets it.
    n_folds : of data that come without folds.
    bounds : add the best and the worst ranking there can be.
    """

    name: str
    datasets: tuple[DataSpec, ...]
    rankers: tuple[RankerSpec, ...]
    measures: tuple[str, ...] = ("ndcg@10", "ap")
    conventions: tuple[str, ...] = ("definition",)
    seeds: tuple[int, ...] = (0,)
    baseline: str | None = None
    search: SearchSpec | None = None
    time_limit: float | None = None
    n_folds: int = 5
    bounds: bool = True

    @property
    def main(self) -> str:
        """The measure that decides."""
        return str(parse_measure(self.measures[0], self.conventions[0]))

    @property
    def baseline_label(self) -> str:
        """The ranker that all are compared with."""
        return self.baseline or self.rankers[0].label

    def judged(self) -> dict[str, tuple[str, str]]:
        """Every measure that a ranking is judged by: the name of its column, its text and its convention."""
        texts = [*self.measures, *(f"ndcg@{k}" for k in CUTOFFS)]
        pairs = [(text, convention) for convention in self.conventions for text in texts]
        return {str(parse_measure(*pair)): pair for pair in pairs}

    def rows(self) -> tuple[RankerSpec, ...]:
        """The rankers, and the bounds where they are wanted, known and not asked for already."""
        given = {row.ranker for row in self.rankers}
        known = _registry.entries("rankers")
        wanted = [known[name] for name in BOUNDS if self.bounds and name in known and name not in given]
        return *self.rankers, *(RankerSpec(entry.class_name, entry.name) for entry in wanted)

    def to_toml(self) -> str:
        """The text that `read_spec` makes this of."""
        scalars = {
            name: getattr(self, name)
            for name in ("name", "measures", "conventions", "seeds", "baseline", "time_limit")
        }
        lines = _assignments({**scalars, "n_folds": self.n_folds, "bounds": self.bounds})
        for data in self.datasets:
            lines += ["", "[[dataset]]", *_assignments(_data_table(data))]
        for row in self.rankers:
            named = {"ranker": row.ranker, "label": row.label}
            given = {name: "none" if value is None else value for name, value in row.parameters.items()}
            lines += ["", "[[ranker]]", *_assignments({**named, **given})]
        if self.search is not None:
            lines += ["", "[search]", *_assignments(dataclasses.asdict(self.search))]
        return "\n".join(lines) + "\n"


def read_spec(path: str | Path, *, needs_data: bool = True) -> Spec:
    """Read and check a TOML file; paths in it are relative to it, and must exist unless nothing needs them."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    except UnicodeDecodeError:
        raise InputError("is not a text in UTF-8, which TOML is", path) from None
    except tomllib.TOMLDecodeError as error:
        message, line, column = _toml_place(str(error))
        raise InputError(f"not TOML: {message}", path, line, column) from None
    table.setdefault("name", file.stem)
    return _Checker(path, text, file.parent, needs_data).spec(table)


def checked(spec: Spec) -> Spec:
    """A spec that was made by hand, checked as one that was read."""
    return _Checker().spec(tomllib.loads(spec.to_toml()))


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
    """The spec that options of the command line stand for; `settings` are top-level keys of the file.

    A dataset may be named, as in `small=train.txt`, or be `simulate(queries=300)`; a ranker may be named and
    have parameters: `fast=mart(n_trees=50)`.
    """
    tables: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    tables["dataset"] = [
        {**_named_source(text, test, valid), **(columns or {}), **({"folds": list(folds)} if folds else {})}
        for text in data
    ]
    tables["ranker"] = [_ranker_table(text) for text in split_outside(rankers)]
    if n_trials is not None:
        tables["search"] = {"n_trials": n_trials}
    tables.setdefault("name", " ".join(Path(text).name for text in data))
    return _Checker().spec(tables)


def split_outside(text: str, separator: str = ",") -> list[str]:
    """Split at separators that stand outside parentheses.

    >>> split_outside("mart, lambdamart(measure=rbp(p=0.8), n_trees=9)")
    ['mart', 'lambdamart(measure=rbp(p=0.8), n_trees=9)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


@cache
def ranker_class(name: str) -> Any:
    """The class of a ranker, and a clear word when a package that it needs is missing."""
    entry = _registry.find("rankers", name, "ranker")
    try:
        return entry.load()
    except PomonaError:
        raise
    except ImportError as error:
        raise InputError(f"{entry.class_name} cannot be loaded: {error}") from None


class _Checker:
    """Turns tables into a spec; what it refuses it tells with the file, the line and the place."""

    def __init__(
        self,
        path: str | Path | None = None,
        text: str = "",
        folder: Path | None = None,
        needs_data: bool = True,
    ) -> None:
        self.path, self.text, self.folder, self.needs_data = path, text, folder or Path(), needs_data

    @contextlib.contextmanager
    def at(self, table: str = "", number: int = 0, key: str = "") -> Iterator[None]:
        """Say of what the body refuses where it stands: in the n-th table of this name, at this key."""
        try:
            yield
        except _PlacedError:
            raise
        except PomonaError as error:
            place = " ".join(filter(None, (table, str(number or ""), key)))
            line = _line_of(self.text, table, number, key)
            raise _PlacedError(f"{place}: {error}" if place else str(error), self.path, line) from None

    def spec(self, table: Mapping[str, Any]) -> Spec:
        known = {field.name for field in dataclasses.fields(Spec)} - {"datasets", "rankers"}
        self._known_keys(table, known | {"dataset", "ranker"})
        measures, conventions = self._measures(table), self._conventions(table)
        rankers = [self._ranker(one, i) for i, one in enumerate(self._tables(table, "ranker"), 1)]
        datasets = [self._dataset(one, i) for i, one in enumerate(self._tables(table, "dataset"), 1)]
        self._unique("dataset", [data.name for data in datasets], "name")
        self._unique("ranker", [row.label for row in rankers], "label")
        rest: dict[str, Any] = {
            "name": self._value(table, "name", str),
            "bounds": self._value(table, "bounds", bool, True),
            "n_folds": self._number(table, "n_folds", int, 5, least=2),
            "time_limit": self._number(table, "time_limit", float, None, least=0),
            "seeds": self._seeds(table),
            "baseline": self._baseline(table, [row.label for row in rankers]),
            "search": self._search(table),
        }
        return Spec(
            datasets=tuple(datasets),
            rankers=tuple(rankers),
            measures=measures,
            conventions=conventions,
            **rest,
        )

    def _dataset(self, table: Mapping[str, Any], number: int) -> DataSpec:
        place = "dataset", number
        known = {field.name for field in dataclasses.fields(DataSpec)}
        self._known_keys(table, known | {"train", "valid", "test", "simulate"}, *place)
        source: str | Files | Simulated
        kinds = [key for key in ("source", "train", "simulate") if key in table]
        with self.at(*place):
            if len(kinds) != 1:
                raise InputError(
                    f"found {' and '.join(kinds) or 'no data'}, expected one of: source (a collection, a "
                    "directory or a file), train and test (files), simulate (a table)"
                )
        for key in ("test", "valid"):
            if key in table and kinds != ["train"]:
                with self.at(*place, key):
                    raise InputError(f"goes with train, not with {kinds[0]}")
        if kinds == ["source"]:
            source = self._source(table, number)
            default = Path(source).name.partition(".")[0] or source
        elif kinds == ["train"]:
            with self.at(*place):
                if "test" not in table:
                    raise InputError("train stands without test: name the test file too")
            valid = self._file(table, "valid", number) if "valid" in table else None
            source = Files(self._file(table, "train", number), self._file(table, "test", number), valid)
            default = Path(source.train).resolve().parent.name
        else:
            source, default = self._simulated(table, number), "simulated"
        name = self._value(table, "name", str, default, *place)
        columns = {
            key: self._value(table, key, str, default, *place)
            for key, default in (("label", "label"), ("qid", "qid"), ("doc_id", None))
        }
        return DataSpec(name=name, source=source, folds=self._folds(table, number), **columns)

    def _source(self, table: Mapping[str, Any], number: int) -> str:
        text: str = self._value(table, "source", str, None, "dataset", number)
        if text.lower() in COLLECTIONS:
            return text.lower()
        with self.at("dataset", number, "source"):
            path = self.folder / text
            if self.needs_data and not path.exists():
                raise UnknownNameError("collection, directory or file", text, COLLECTIONS)
        return str(path.resolve())

    def _file(self, table: Mapping[str, Any], key: str, number: int) -> str:
        path = self.folder / self._value(table, key, str, None, "dataset", number)
        with self.at("dataset", number, key):
            if self.needs_data and not path.is_file():
                raise InputError(f"no such file: {path}")
        return str(path.resolve())

    def _simulated(self, table: Mapping[str, Any], number: int) -> Simulated:
        given = self._value(table, "simulate", dict, None, "dataset", number)
        with self.at("dataset", number, "simulate"):
            kinds = {field.name: field.default for field in dataclasses.fields(Simulated)}
            for key, value in given.items():
                if key not in kinds:
                    raise UnknownNameError("key of simulate", key, kinds)
                given = {**given, key: _of_kind(key, value, kinds[key])}
        return Simulated(**given)

    def _folds(self, table: Mapping[str, Any], number: int) -> tuple[int, ...] | None:
        if "folds" not in table:
            return None
        with self.at("dataset", number, "folds"):
            return _integers(table["folds"], least=1)

    def _ranker(self, table: Mapping[str, Any], number: int) -> RankerSpec:
        place = "ranker", number
        name = self._value(table, "ranker", str, None, *place)
        with self.at(*place, "ranker"):
            entry, cls = _registry.find("rankers", name, "ranker"), ranker_class(name)
        defaults = cls().get_params(deep=False)
        given: dict[str, Any] = {}
        for key, value in table.items():
            if key in ("ranker", "label"):
                continue
            with self.at(*place, key):
                if key not in defaults:
                    raise UnknownNameError(f"parameter of {entry.class_name}", key, [*defaults, "label"])
                if key == "seed":
                    raise InputError(
                        "the seeds of a comparison are its own: write seeds = [0, 1, …] at the top"
                    )
                given[key] = _of_kind(key, value, defaults[key])
                if key == "measure":
                    given[key] = self._measure(given[key])
        arguments = ", ".join(f"{key}={_shown(value)}" for key, value in given.items())
        default = f"{entry.class_name}({arguments})" if given else entry.class_name
        return RankerSpec(self._value(table, "label", str, default, *place), entry.name, given)

    def _measures(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        with self.at(key="measures"):
            texts = _texts(table.get("measures", list(Spec.measures)))
            return tuple(dict.fromkeys(self._measure(text) for text in texts))

    def _measure(self, text: str) -> str:
        """A measure as it is always written; one in a user's own file keeps its path."""
        path, _, name = text.rpartition(":")
        if path.endswith(".py"):
            text = f"{(self.folder / path).resolve()}:{name}"
            parse_measure(text)
            return text
        return str(parse_measure(text))

    def _conventions(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        with self.at(key="conventions"):
            texts = _texts(table.get("conventions", list(Spec.conventions)))
            if texts == ["all"]:
                return tuple(CONVENTIONS)
            return tuple(dict.fromkeys(convention_named(text).name for text in texts))

    def _seeds(self, table: Mapping[str, Any]) -> tuple[int, ...]:
        with self.at(key="seeds"):
            return _integers(table.get("seeds", [0]), least=0)

    def _baseline(self, table: Mapping[str, Any], labels: Sequence[str]) -> str | None:
        baseline: str | None = self._value(table, "baseline", str, None)
        with self.at(key="baseline"):
            if baseline is not None and baseline not in labels:
                near = [label for label in labels if label.lower() == baseline.lower()]
                if not near:
                    raise UnknownNameError("ranker", baseline, labels)
                return near[0]
        return baseline

    def _search(self, table: Mapping[str, Any]) -> SearchSpec | None:
        if "search" not in table:
            return None
        with self.at("search"):
            if not isinstance(table["search"], dict):
                raise InputError("expected a table with n_trials")
            self._known_keys(table["search"], {"n_trials", "seed"}, "search")
            if "n_trials" not in table["search"]:
                raise InputError("n_trials is missing: how many settings of parameters to try")
            n_trials = self._number(table["search"], "n_trials", int, None, least=1, table_name="search")
            seed = self._number(table["search"], "seed", int, 0, least=0, table_name="search")
        return SearchSpec(n_trials, seed)

    def _tables(self, table: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        found = table.get(name, [])
        with self.at(name):
            if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
                raise InputError(f"expected one table [[{name}]] at least")
        return found

    def _known_keys(self, table: Mapping[str, Any], known: set[str], name: str = "", number: int = 0) -> None:
        for key in table:
            if key not in known:
                with self.at(name, number, key):
                    raise UnknownNameError("key", key, known)

    def _unique(self, table: str, names: Sequence[str], key: str) -> None:
        for number, name in enumerate(names, 1):
            if name in names[: number - 1]:
                with self.at(table, number, key):
                    raise InputError(f"two {table}s are called {name!r}: give one another {key}")

    def _value(
        self,
        table: Mapping[str, Any],
        key: str,
        kind: type,
        default: Any = None,
        table_name: str = "",
        number: int = 0,
    ) -> Any:
        if key not in table:
            if default is None and key in ("ranker", "source"):
                with self.at(table_name, number):
                    raise InputError(f"{key} is missing")
            return default
        with self.at(table_name, number, key):
            if not isinstance(table[key], kind) or table[key] == "":
                raise InputError(f"found {table[key]!r}, expected {_KINDS[kind]}")
        return table[key]

    def _number(
        self,
        table: Mapping[str, Any],
        key: str,
        kind: type,
        default: Any,
        *,
        least: float,
        table_name: str = "",
    ) -> Any:
        value = table.get(key, default)
        with self.at(table_name, key=key):
            if value is None:
                return None
            if isinstance(value, bool) or not isinstance(value, (int,) if kind is int else (int, float)):
                raise InputError(f"found {value!r}, expected {_KINDS[kind]}")
            if not (value > least if kind is float else value >= least):
                raise InputError(
                    f"found {value!r}, expected {'more than' if kind is float else 'at least'} {least}"
                )
        return kind(value)


class _PlacedError(InputError):
    """A refusal that has its place already."""


_KINDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a table",
}


def _of_kind(key: str, value: Any, default: Any) -> Any:
    """A parameter's value, of the kind of its default; `none` is nothing, lists are tuples."""
    if isinstance(value, str) and value.lower() == "none":
        return None
    if isinstance(value, list):
        return tuple(value)
    kind = type(default)
    if kind is float and type(value) is int:
        return float(value)
    if kind in _KINDS and type(value) is not kind:
        raise InputError(f"found {key} = {value!r}, expected {_KINDS[kind]}")
    return value


def _texts(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise InputError(f"found {value!r}, expected a list of texts")
    return texts


def _integers(value: Any, least: int) -> tuple[int, ...]:
    numbers = [value] if type(value) is int else value
    if (
        not isinstance(numbers, list)
        or not numbers
        or not all(type(n) is int and n >= least for n in numbers)
    ):
        raise InputError(f"found {value!r}, expected a list of whole numbers from {least}")
    if len(set(numbers)) < len(numbers):
        raise InputError(f"found {value!r}, expected each number once")
    return tuple(numbers)


def _toml_place(message: str) -> tuple[str, int | None, int | None]:
    """The message of the TOML reader without its place, and the place."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    return (match[1], int(match[2]), int(match[3])) if match else (message, None, None)


def _line_of(text: str, table: str, number: int, key: str) -> int | None:
    """The line of a key in the n-th table of this name; of the table's head, where the key has no line."""
    inside, seen, head = not table, 0, None
    for place, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]+", line):
            name = match[1].strip("\"'")
            seen += name == table
            inside = bool(table) and (name == table or name.startswith(f"{table}.")) and seen == (number or 1)
            head = place if inside and head is None else head
        elif inside and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
            return place
    return head


def _named_source(text: str, test: str | None, valid: str | None) -> dict[str, Any]:
    """`name=source`, where the name may be left out and the source may be `simulate(queries=…)`."""
    if match := re.fullmatch(r"(?:([^=()]+)=)?\s*simulate\s*(?:\((.*)\))?", text):
        named = {"name": match[1].strip()} if match[1] else {}
        return {**named, "simulate": {key: _literal(value) for key, value in _arguments(match[2], text)}}
    name, equals, source = text.partition("=")
    named = {"name": name} if equals and not Path(text).exists() else {}
    path = source if named else text
    if test is None:
        return {**named, "source": path}
    return {**named, "train": path, "test": test, **({"valid": valid} if valid else {})}


def _ranker_table(text: str) -> dict[str, Any]:
    """`label=name(parameter=value, …)` as a table; a value is of the kind of the parameter's default."""
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
    """A number, true, false, a tuple written 1/0/-1, or else the text itself."""
    if "/" in text:
        return [_literal(part) for part in text.split("/")]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return "/".join(map(_shown, value)) if isinstance(value, tuple) else str(value)


def _data_table(data: DataSpec) -> dict[str, Any]:
    if isinstance(data.source, Files):
        source = dataclasses.asdict(data.source)
    else:
        source = {"source" if isinstance(data.source, str) else "simulate": data.source}
    columns = {"label": data.label, "qid": data.qid}
    given = {key: value for key, value in columns.items() if value != key}
    return {"name": data.name, **source, "folds": data.folds, **given, "doc_id": data.doc_id}


def _assignments(table: Mapping[str, Any]) -> list[str]:
    """`key = value` lines, without those of no value."""
    return [f"{_toml_key(key)} = {_toml(value)}" for key, value in table.items() if value is not None]


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"{{{', '.join(_assignments(dataclasses.asdict(value)))}}}"
    return repr(value)
