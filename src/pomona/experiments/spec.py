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
    each.train_fraction = [0.1, 0.5, 1.0]   # a study: the dataset in variants, here of less training data
    draw = [0, 1]                           # the seeds of what is drawn at random for them
    curves = ["train", "valid", "test"]     # the parts that are judged after every iteration

    [[dataset]]
    source = "mslr-web10k"
    optional = true                         # left out, and said to be, where the collection is not here
    split = [0.8, 0.2]                      # cut anew: shares of training, perhaps validation, and test

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

    [[ranker]]
    ranker = "lambdamart"
    label = "without clicks"
    without = ["clicks", "dwell_time"]      # all features but these; features = [...]: these alone

    [search]
    n_trials = 20

A ranker that can be trained towards a measure, and is not told which, is trained towards the main one. TOML
has no word for nothing, so the text `none` is it. A record of a spec checks itself when it is made, whoever
makes it: there is no spec that is not valid.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pomona import _registry
from pomona._other_names import unknown_parameter
from pomona._parameters import checked, parameter_kinds, show_value, write_key, write_value
from pomona.errors import InputError, PomonaError, UnknownMeasureError, UnknownNameError
from pomona.experiments.data_spec import DataSpec
from pomona.experiments.spec_record import Record, at_least, different, each_once, refused_at
from pomona.measures.conventions import CONVENTIONS, convention_named
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import SCALES, SearchRange

CUTOFFS = range(1, 11)
"""The cut-offs of the NDCG curve that every comparison draws."""

BOUNDS = ("ideal", "worst")
"""The rankers that no ranker can beat, or be beaten by."""


_COLUMNS = ("dataset", "fold", "qid")
"""The columns of the table of queries beside one for each ranker."""

MEASURE_KEYS = ("measure", "valid_measure")
"""The parameters of rankers that are measures, perhaps one in a file of the user's."""


@dataclass(frozen=True)
class RankerSpec(Record):
    """One row of the comparison: a ranker with some of its parameters set.

    Parameters
    ----------
    label : what the row is called; unique. An empty one is made of the class and the parameters.
    ranker : its name, or `path/to/file.py:ClassName`.
    search : what is searched, instead of the ranker's own `search_space`; None leaves that to the ranker.
        [least, most, scale] is a range, any other list is choices.
    varied : the parameters in which rows of one method differ on purpose, as `each` makes them: the report
        draws quality against them.
    features, without : the names of the features that it is given, or of those that it is not; None: all.
    """

    label: str
    ranker: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, SearchRange] | None = None
    varied: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None

    def _check(self) -> None:
        with refused_at("features"):
            if self.features is not None and self.without is not None:
                raise InputError("without is given as well: leave one of them out")
            for names in (self.features, self.without):
                if names is not None and (not names or len(set(names)) < len(names)):
                    raise InputError(f"found {list(names)}, expected different names, one at least")
        with refused_at("ranker"):
            cls = ranker_class(self.ranker)
        kinds = parameter_kinds(cls)
        given: dict[str, Any] = {}
        for key, value in self.parameters.items():
            with refused_at(key):
                if key not in kinds:
                    others = ("label", "search", "varied", "features", "without")
                    raise unknown_parameter(cls.__name__, key, [*kinds, *others])
                if key == "seed":
                    raise InputError("the comparison sets the seeds: write seeds = [0, 1] at the top")
                given[key] = checked(value, kinds[key])
                if key in MEASURE_KEYS and given[key] is not None:
                    given[key] = _measure_text(given[key])
        self._replace("parameters", lambda _: given)
        parts = {"features": self.features, "without": self.without}
        shown = {**given, **{key: list(names) for key, names in parts.items() if names is not None}}
        arguments = ", ".join(f"{key}={show_value(value)}" for key, value in shown.items())
        name = f"{cls.__name__}({arguments})" if shown else cls.__name__
        self._replace("label", lambda label: label or name)
        with refused_at("label"):
            if self.label in _COLUMNS:
                raise InputError(f"{self.label!r} is a column of the tables of results: give another label")
        with refused_at("varied"):
            if missing := [key for key in self.varied if key not in given]:
                raise InputError(f"{missing[0]} is not among the parameters that are given")
        if self.search is not None:
            space = {key: self._range(key, value, kinds) for key, value in self.search.items()}
            self._replace("search", lambda _: space)

    def _range(self, key: str, value: Any, known: Mapping[str, Any]) -> SearchRange:
        with refused_at(f"search.{key}"):
            if key not in known:
                raise unknown_parameter(self.ranker, key, known)
            if key in self.parameters:
                raise InputError(f"{key} is given, so it cannot be searched: leave one of them out")
            choices: list[Any] = [
                tuple(one) if isinstance(one, list) else one for one in checked(value, list[Any])
            ]
            if not choices:
                raise InputError("expected [least, most, scale] or a list of choices, found none")
            is_range = len(choices) == 3 and choices[2] in SCALES
            return (choices[0], choices[1], choices[2]) if is_range else choices


class UnloadedRankerSpec(RankerSpec):
    """A row of a comparison that was done, of a ranker in a user's file: to read results runs no such file.

    Its parameters are as they were written down, after a `RankerSpec` had checked them.
    """

    def _check(self) -> None:
        pass


@dataclass(frozen=True)
class SearchSpec(Record):
    """How long to search for parameters, on the validation queries."""

    n_trials: int
    seed: int = 0

    def _check(self) -> None:
        self._replace("n_trials", lambda n_trials: at_least(1, n_trials))
        self._replace("seed", lambda seed: at_least(0, seed))


@dataclass(frozen=True)
class Spec(Record):
    """A comparison.

    Parameters
    ----------
    name : its title; an empty one is made of the names of the datasets.
    datasets, rankers : what is compared, on what.
    measures, conventions : every ranking is judged by each measure under each convention.
    seeds : every ranker is trained once for each.
    baseline : the label of the ranker that all are compared with; None is the first.
    search : look for better parameters first; None takes them as they are.
    time_limit : seconds that one run may take, once its data are read and its kernels compiled, for which
        there are two minutes more; None lets it.
    n_folds : of data that come without folds.
    bounds : add the best and the worst ranking there can be.
    norm_performance : show NormPerformance (`stats/norm.py`) beside AVG_Norm.
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
    norm_performance: bool = False

    def _check(self) -> None:
        for key in ("datasets", "rankers"):
            with refused_at(key):
                if not getattr(self, key):
                    raise InputError("expected one at least, found none")
        self._replace("name", lambda name: name or " ".join(data.name for data in self.datasets))
        self._replace("measures", partial(each_once, written=_judged_text))
        self._replace("conventions", partial(_conventions, measures=self.measures))
        self._replace("seeds", lambda seeds: different(seeds, least=0))
        self._replace("baseline", lambda asked: _label_like(asked, [row.label for row in self.rankers]))
        self._replace("n_folds", lambda n_folds: at_least(2, n_folds))
        with refused_at("time_limit"):
            if self.time_limit is not None and not 0 < self.time_limit < math.inf:
                raise InputError(f"found {self.time_limit}, expected more than 0, and a finite number")
        bounds = [row for row in self.rows() if row not in self.rankers]
        _refuse_twins("label", [(row.label, row) for row in (*bounds, *self.rankers)])
        _refuse_twins("name", [(one.name, data) for data in self.datasets for one in data.variants()])

    @property
    def main(self) -> str:
        """The measure that decides."""
        return str(parse_measure(self.measures[0], self.conventions[0]))

    @property
    def aim(self) -> str:
        """The measure that decides, as a ranker is told it: of one in a user's file, where that is."""
        text = self.measures[0]
        return text if _is_in_file(text) else self.main

    def columns(self) -> dict[tuple[str, str], str]:
        """The column of every measure that a ranking is judged by, by its text and its convention."""
        texts = [*self.measures, *(f"ndcg@{k}" for k in CUTOFFS)]
        pairs = [(text, convention) for convention in self.conventions for text in texts]
        parsed = {pair: parse_measure(*pair) for pair in pairs}
        known: dict[str, tuple[str, str]] = {}
        for (text, _), measure in parsed.items():
            place = type(measure).__module__, type(measure).__qualname__
            if known.setdefault(str(measure), place) != place:  # classes of one name in several files
                raise InputError(f"{text} is called {measure}, as another is: give its class another `name`")
        return {pair: str(measure) for pair, measure in parsed.items()}

    def judged(self) -> dict[str, tuple[str, str]]:
        """The text and the convention of every column."""
        return {column: pair for pair, column in self.columns().items()}

    def rows(self) -> tuple[RankerSpec, ...]:
        """The rankers, and the bounds where they are wanted, known and not asked for already."""
        given = {row.ranker for row in self.rankers}
        known = _registry.entries("rankers")
        wanted = [known[name] for name in BOUNDS if self.bounds and name in known and name not in given]
        return *self.rankers, *(RankerSpec(entry.class_name, entry.name) for entry in wanted)

    def to_toml(self, folder: Path | None = None) -> str:
        """The text that `read_spec` makes this of.

        folder : where the text is to lie; paths are then told from there, if they have more than the root of
            the disk in common with it, so that folder and files can move together.
        """
        return self._text(lambda path: path if folder is None else _from_folder(folder, path))

    def paths(self, folder: Path) -> dict[str, str]:
        """The path of every file and directory of the text for a folder, by what stands there for it."""
        found: dict[str, str] = {}

        def told(path: str) -> str:
            return found.setdefault(_from_folder(folder, path), path) and _from_folder(folder, path)

        self._text(told)
        return found

    def _text(self, told: Callable[[str], str]) -> str:
        """The text, with every path as it is to be `told`."""

        def of_file(text: Any) -> Any:
            """A class in a user's file, the file's path as it is to be told."""
            if not _is_in_file(text):
                return text
            path, _, name = text.rpartition(":")
            return f"{told(path)}:{name}"

        plain = ("conventions", "seeds", "baseline", "time_limit", "n_folds", "bounds")
        first = {"name": self.name, "measures": [of_file(text) for text in self.measures]}
        given = {key: getattr(self, key) for key in plain}
        if self.n_folds == Spec.n_folds:  # which is refused where it changes nothing
            del given["n_folds"]
        lines = _lines(first | given)
        lines += ["norm_performance = true"] * self.norm_performance
        for data in self.datasets:
            lines += ["", "[[dataset]]", *_lines(data.table(told))]
        for row in self.rankers:
            given = {key: "none" if value is None else value for key, value in row.parameters.items()}
            given |= {key: of_file(given[key]) for key in MEASURE_KEYS if key in given}
            if row.ranker == "imported" and given.get("model", "none") != "none":
                given["model"] = told(given["model"])
            table = {"ranker": of_file(row.ranker), "label": row.label, **given, "search": row.search}
            table |= {"varied": row.varied} if row.varied else {}
            table |= {"features": row.features, "without": row.without}
            lines += ["", "[[ranker]]", *_lines(table)]
        if self.search is not None:
            lines += ["", "[search]", *_lines(dataclasses.asdict(self.search))]
        return "\n".join(lines) + "\n"


def _from_folder(folder: Path, path: str) -> str:
    """A path as it is told in a folder: from there, or, if only the root is common to the two, as it is."""
    here = folder.resolve()
    try:
        common = Path(os.path.commonpath([here, path]))
    except ValueError:  # one of them is relative, or on another drive
        return path
    if not Path(path).is_absolute() or common == Path(common.anchor):
        return path
    text = Path(os.path.relpath(path, here)).as_posix()
    return text if text.startswith("../") else f"./{text}"  # a plain name could be a collection


def read_spec(path: str | Path, *, needs_data: bool = True) -> Spec:
    """Read and check a TOML file; data must exist, relative to the file, unless they are not needed."""
    from pomona.experiments.spec_reader import read
    from pomona.experiments.store import places_in

    return read(Path(path), needs_data=needs_data, places=places_in(Path(path).parent))


def ranker_class(name: str) -> Any:
    """The class of a ranker, and a clear word when a package that it needs is missing.

    One in a user's file is that of the file as it is now.
    """
    return _ranker_class(name, code_of(name))


def code_of(name: str) -> str:
    """The class (or measure) of a user's own file with the digest of the file, wherever that lies.

    Empty for what is ours.
    """
    path, _, class_name = name.rpartition(":")
    if not path.endswith(".py"):
        return ""
    return f"{class_name} {digest_of_file(path)}"


def digest_of_file(path: str) -> str:
    """A checksum of the content of a file; empty where that cannot be read, of which who loads it speaks."""
    try:
        return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""


@lru_cache(maxsize=256)
def _ranker_class(name: str, code: str) -> Any:
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


def _lines(table: Mapping[str, Any]) -> list[str]:
    """`key = value` lines, without those of no value."""
    return [f"{write_key(key)} = {write_value(value)}" for key, value in table.items() if value is not None]


def _measure_text(text: Any) -> str:
    """A measure as it is always written; one in a user's own file keeps its path."""
    return text if _is_in_file(text) else str(parse_measure(text))


def _judged_text(text: Any) -> str:
    """A measure as it is always written, with the convention that it names: also where that is `definition`.

    Otherwise `definition:ndcg@10` would be judged by the conventions of the spec.
    """
    is_own = isinstance(text, str) and text.strip().lower().startswith("definition:")
    return "definition:" * is_own + _measure_text(text)


def _is_in_file(text: Any) -> bool:
    """Whether a measure is in a file of a user's."""
    return isinstance(text, str) and text.rpartition(":")[0].endswith(".py")


def _conventions(texts: tuple[str, ...], measures: Sequence[str]) -> tuple[str, ...]:
    """The conventions as they are always written, which must have all measures; `all` are those that do."""
    if texts == ("all",):
        return tuple(name for name in CONVENTIONS if all(_has(name, text) for text in measures))
    names = each_once(texts, lambda text: convention_named(text).name)
    for name in names:
        for text in measures:
            if not _is_in_file(text):  # which is not run to read a spec
                parse_measure(text, name)
    return names


def _has(convention: str, measure: str) -> bool:
    if _is_in_file(measure):
        return convention == "definition"
    try:
        parse_measure(measure, convention)
    except UnknownMeasureError:
        return False
    return True


def _label_like(asked: str | None, labels: Sequence[str]) -> str | None:
    """The label that is asked for, perhaps in other capitals."""
    if asked is None or asked in labels:
        return asked
    near = [label for label in labels if label.lower() == asked.lower()]
    if not near:
        raise UnknownNameError("ranker", asked, labels)
    return near[0]


_EXAMPLE = {
    "label": ', as in "a=mart(n_trees=50), b=mart"',
    "name": ", as in a=train.txt b=other/train.txt",
}


def _refuse_twins(key: str, named: Sequence[tuple[str, object]]) -> None:
    names = [name for name, _ in named]
    for number, (name, part) in enumerate(named):
        with refused_at(key, part):
            if name in names[:number]:
                raise InputError(f"two are called {name!r}: give each its own {key}{_EXAMPLE[key]}")
