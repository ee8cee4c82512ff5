"""What a comparison compares, and the TOML file that says so.

    measures = ["ndcg@10", "ap"]            # the first, under the first convention, is the main measure
    conventions = ["definition", "letor4"]
    seeds = [0, 1]

    [[dataset]]
    source = "mq2008"                       # a collection, a fold directory, or a file to be cross-validated
    folds = [1, 2]

    [[dataset]]
    source = ["mq2007", "mq2008"]           # collections joined fold by fold
    drop_empty = true                       # without the queries that have no relevant document

    [[ranker]]
    ranker = "lambdamart"
    label = "LambdaMART yahoo"
    measure = "yahoo:ndcg@10"               # any other key is a parameter of the ranker

    [[ranker]]
    ranker = "mine.py:MyRanker"             # a class in a file of yours
    search.depth = [2, 8, "int"]            # search this, from 2 to 8, and nothing else of this ranker

    [[ranker]]
    ranker = "lambdarank"
    each.measure = ["ap", "ndcg@10"]        # a row for every combination of these
    each.hidden = [10, 64]
    label = "LambdaRank {measure}, {hidden} nodes"

    [search]
    n_trials = 20

A ranker that can be trained towards a measure, and is not told which, is trained towards the main one. TOML
has no word for nothing, so the text `none` is it.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomona import _registry
from pomona.errors import InputError, PomonaError
from pomona.measures.parse import measure as parse_measure

if TYPE_CHECKING:
    from pomona.rankers.base import SearchRange

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
    source : a collection's name, a fold directory or a single file; or `Files`, or `Simulated`; or several
        collections or directories, which are joined fold by fold.
    folds : which of its folds, counted from 1; None takes all.
    drop_empty : leave out the queries without a relevant document.
    label, qid, doc_id : the columns that are no features, where the files are tables.
    """

    name: str
    source: str | tuple[str, ...] | Files | Simulated
    folds: tuple[int, ...] | None = None
    drop_empty: bool = False
    label: str = "label"
    qid: str = "qid"
    doc_id: str | None = None


@dataclass(frozen=True)
class RankerSpec:
    """One row of the comparison: a ranker with some of its parameters set.

    Parameters
    ----------
    ranker : its name, or `path/to/file.py:ClassName`.
    search : what is searched, instead of the ranker's own `search_space`; None leaves that to the ranker.
    """

    label: str
    ranker: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, SearchRange] | None = None


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
            lines += ["", "[[ranker]]", *_assignments({**named, **given, "search": row.search})]
        if self.search is not None:
            lines += ["", "[search]", *_assignments(dataclasses.asdict(self.search))]
        return "\n".join(lines) + "\n"


def read_spec(path: str | Path, *, needs_data: bool = True) -> Spec:
    """Read and check a TOML file; data must exist, relative to the file, unless nobody needs them."""
    from pomona.experiments.spec_reader import read

    return read(Path(path), needs_data=needs_data)


def checked(spec: Spec) -> Spec:
    """A spec that was made by hand, checked as one that was read."""
    from pomona.experiments.spec_reader import spec_of

    return spec_of(tomllib.loads(spec.to_toml()))


@cache
def ranker_class(name: str) -> Any:
    """The class of a ranker, and a clear word when a package that it needs is missing."""
    path, _, class_name = name.rpartition(":")
    try:
        if path.endswith(".py"):
            from pomona.rankers.base import Ranker

            return _registry.class_in_file(Path(path), class_name, Ranker, "ranker")
        entry = _registry.find("rankers", name, "ranker")
        class_name = entry.class_name
        return entry.load()
    except PomonaError:
        raise
    except ImportError as error:
        raise InputError(f"{class_name} cannot be loaded: {error}") from None


def _data_table(data: DataSpec) -> dict[str, Any]:
    if isinstance(data.source, Files):
        source = dataclasses.asdict(data.source)
    else:
        source = {"simulate" if isinstance(data.source, Simulated) else "source": data.source}
    columns = {"label": data.label, "qid": data.qid}
    given = {key: value for key, value in columns.items() if value != key}
    drop_empty = data.drop_empty or None  # absent unless it says something
    return {
        "name": data.name,
        **source,
        "folds": data.folds,
        "drop_empty": drop_empty,
        **given,
        "doc_id": data.doc_id,
    }


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
        return _toml(dataclasses.asdict(value))
    if isinstance(value, Mapping):
        return f"{{{', '.join(_assignments(value))}}}"
    return repr(value)
