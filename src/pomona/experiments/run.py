"""One run: a ranker with its parameters, fitted on one fold with one seed, scored and judged.

`execute` does it wherever it is called, in a worker process here or on a cluster, and returns everything that
is kept of the run as plain values and bytes; it writes nothing. The clock sees fitting and scoring only: the
fold is read before, and the first run of a ranker in a process is rehearsed on a few queries, so that no
training time holds the compilation of kernels. Peak memory is what a run took beyond what its process held
before: neither interpreter nor kernels nor data count, which other runs may have loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import io
import json
import os
import platform
import re
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pomona import __version__
from pomona._jit import n_threads
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold
from pomona.errors import InputError, PomonaError
from pomona.experiments.search import search, timed_fit
from pomona.experiments.source import FoldSource, cut, digest
from pomona.experiments.spec import RankerSpec, SearchSpec, Spec, ranker_class
from pomona.measures.judge import judge, scored_queries
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import Ranker, SearchRange, load_model

if TYPE_CHECKING:
    import polars as pl

N_REHEARSED, N_STEPS = 12, 3
"""How many queries a rehearsal is given, and how many trees, rounds or epochs it lasts."""

_STEPS = ("n_trees", "n_rounds", "n_epochs", "n_iterations", "max_iterations")

"""What rankers call the step that was kept."""

_PACKAGES = (
    *("numpy", "numba", "scipy", "scikit-learn", "polars", "torch", "optuna"),
    *("lightgbm", "xgboost", "catboost"),
)

_SHORTEST_TIMING, _MOST_TIMINGS = 0.05, 20


@dataclass(frozen=True)
class Run:
    """What is fitted, on what; `data` is the digest of the fold.

    `parameters` are all that the ranker has but the seed, and `searched` names those to be searched for, in
    `space` where the ranker's own is not meant. `code` is the digest of the file of a ranker of the user's.
    The id is made of what could change a number: not of names and places, and of the seed only where chance
    plays a part.
    """

    dataset: str
    fold: int
    ranker: str
    kind: str
    parameters: Mapping[str, Any]
    seed: int
    data: str
    search: SearchSpec | None = None
    searched: tuple[str, ...] = ()
    uses_seed: bool = True
    space: Mapping[str, SearchRange] | None = None
    code: str = ""

    @property
    def id(self) -> str:
        """The name of the run's files, and its key in the store."""
        how: list[Any] = [self.search.n_trials, self.search.seed, *self.searched] if self.search else []
        how += [self.space] if self.search and self.space else []
        what = [
            self.code or self.kind,
            self.parameters,
            self.seed if self.uses_seed else None,
            self.data,
            how,
        ]
        return hashlib.blake2b(json.dumps(what, sort_keys=True).encode(), digest_size=12).hexdigest()

    def __str__(self) -> str:
        return f"{self.dataset} fold {self.fold} {self.ranker} seed {self.seed}"


@dataclass(frozen=True)
class Task:
    """A run as it is sent to the process that does it.

    `judged` has for each column the text of a measure and its convention. With a `model`, an earlier run's,
    nothing is fitted: it is judged again, by other measures. A rehearsal only tries the ranker out.
    """

    run: Run
    source: FoldSource
    judged: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    model: bytes | None = None
    is_rehearsal: bool = False


@dataclass
class Outcome:
    """What a run leaves behind: `done`, or `failed` and why; its record, and the bytes of its files."""

    run: str
    state: str
    reason: str | None = None
    error: str | None = None
    record: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


def runs_of(spec: Spec, digests: Mapping[str, Mapping[int, str]]) -> list[Run]:
    """Every run of a comparison, fold by fold, given the digests of its data."""
    return [
        _run(spec, data.name, fold, of_fold, row, seed)
        for data in spec.datasets
        for fold, of_fold in digests[data.name].items()
        for seed in spec.seeds
        for row in spec.rows()
    ]


def _run(spec: Spec, dataset: str, fold: int, data: str, row: RankerSpec, seed: int) -> Run:
    cls = ranker_class(row.ranker)
    parameters = {**cls().get_params(deep=False), **row.parameters}
    if "measure" in parameters and "measure" not in row.parameters:
        parameters["measure"] = spec.main
    space = cls.space_for(parameters) if row.search is None else row.search
    free = [name for name in space if spec.search is not None and name not in row.parameters]
    plain = {name: _plain(value) for name, value in parameters.items() if name not in ("seed", "verbose")}
    return Run(
        dataset,
        fold,
        row.label,
        row.ranker,
        plain,
        seed,
        data,
        spec.search if free else None,
        tuple(free),
        uses_seed="seed" in parameters or bool(free) or _stops_early(parameters),
        space=row.search,
        code=_code(row.ranker),
    )


@cache
def _code(ranker: str) -> str:
    """The class of a user's own file and the digest of the file, wherever that lies; empty for ours."""
    path, _, class_name = ranker.rpartition(":")
    if not path.endswith(".py"):
        return ""
    return f"{class_name} {hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()}"


def _stops_early(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("early_stopping") is not None


def _plain(value: Any) -> Any:
    """A parameter as JSON keeps it."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def execute(task: Task, begun: Callable[[], None] = lambda: None) -> Outcome:
    """Do a run; `begun` is called when the data are read and the clock starts."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = _execute(task, begun)
        notes = {str(one.message) for one in caught if issubclass(one.category, UserWarning | RuntimeWarning)}
        outcome.record.setdefault("notes", sorted(notes))
        return outcome
    except MemoryError:
        return Outcome(task.run.id, "failed", "out of memory", "MemoryError")
    except Exception as error:
        reason = str(error) if isinstance(error, PomonaError) else f"{type(error).__name__}: {error}"
        record = {"traceback": traceback.format_exc()}
        return Outcome(task.run.id, "failed", " ".join(reason.split()), type(error).__name__, record)


def _execute(task: Task, begun: Callable[[], None]) -> Outcome:
    run = task.run
    fold = _loaded(task.source, run.data)
    needs_valid = run.search is not None or _stops_early(run.parameters)
    is_cut = fold.valid is None and needs_valid
    if is_cut:
        fold = Fold(*cut(fold.train, run.seed), fold.test)
    if task.is_rehearsal:
        _rehearse(run, fold)
        return Outcome(run.id, "done")
    record: dict[str, Any] = {}
    if task.model is not None:
        ranker = _loaded_model(task.model, ranker_class(run.kind))
    else:
        with contextlib.suppress(Exception):  # the run itself will tell
            _rehearse(run, fold)
        start_peak_memory()
        held = peak_memory()
        begun()
        ranker, record = _fitted(run, fold)
        record["valid_is_cut"] = is_cut
        record |= _scoring_facts(ranker, fold.test)
        record["process_memory"] = peak = peak_memory()
        record["peak_memory"] = None if peak is None or held is None else peak - held
        record |= {
            "worker": f"{platform.node()}:{os.getpid()}",
            "threads": n_threads(),
            "versions": versions(),
        }
    files, record["means"] = _judged(ranker, fold, task.judged)
    if task.model is None:
        files["model"] = _saved(ranker)
        record["model_bytes"] = len(files["model"])
    record["judged"] = {column: list(of) for column, of in task.judged.items()}
    return Outcome(run.id, "done", record=record, files=files)


@lru_cache(maxsize=1)
def _loaded(source: FoldSource, wanted: str) -> Fold:
    """The fold, kept until another is asked for: runs come fold by fold."""
    fold = source.load()
    if digest(fold) != wanted:
        raise InputError(
            f"dataset {source.dataset}, fold {source.fold}: here the data are not those that were checked"
        )
    return fold


def made(run: Run, **changed: Any) -> Ranker:
    """The ranker of a run, not fitted."""
    cls = ranker_class(run.kind)
    # JSON knows no tuples; no parameter is a list.
    given = {
        name: tuple(value) if isinstance(value, list) else value for name, value in run.parameters.items()
    }
    if "seed" in cls().get_params(deep=False):
        given["seed"] = run.seed
    ranker: Ranker = cls(**{**given, **changed})
    return ranker


_rehearsed: set[str] = set()


def _rehearse(run: Run, fold: Fold) -> None:
    """Fit and score a few queries, once for each ranker in this process, so that kernels are compiled."""
    key = json.dumps([run.kind, run.parameters], sort_keys=True)
    if key in _rehearsed:
        return
    valid = None if fold.valid is None else _a_few(fold.valid)
    ranker = made(run, **shortened(run.parameters)).fit(_a_few(fold.train), valid=valid)
    ranker.predict(_a_few(fold.test))
    _rehearsed.add(key)


def shortened(parameters: Mapping[str, Any]) -> dict[str, int]:
    """The parameters that are lowered for a rehearsal."""
    given = {name: parameters.get(name) for name in _STEPS}
    return {name: N_STEPS for name, value in given.items() if isinstance(value, int) and value > N_STEPS}


def _a_few(data: Dataset) -> Dataset:
    """The first queries that have something to learn from."""
    starts = data.query_ptr[:-1]
    mixed = np.flatnonzero(np.maximum.reduceat(data.y, starts) > np.minimum.reduceat(data.y, starts))
    return data.take((mixed if mixed.size else np.arange(data.n_queries))[:N_REHEARSED])


def _fitted(run: Run, fold: Fold) -> tuple[Ranker, dict[str, Any]]:
    record: dict[str, Any] = {}
    if run.search is not None:
        assert fold.valid is not None
        known = ranker_class(run.kind).space_for(run.parameters) if run.space is None else run.space
        space = {name: known[name] for name in run.searched}
        ranker, record = search(
            lambda **chosen: made(run, **chosen),
            space,
            fold.train,
            fold.valid,
            n_trials=run.search.n_trials,
            seed=(run.search.seed, run.seed),
        )
    else:
        ranker = made(run)
        record |= timed_fit(ranker, fold.train, fold.valid)
    record["best_iteration"] = getattr(ranker, "best_iteration_", None)
    curves = getattr(ranker, "evals_", {})
    record["curves"] = {part: [float(value) for value in values] for part, values in curves.items()}
    record["parameters"] = {name: _plain(value) for name, value in ranker.get_params(deep=False).items()}
    return ranker, record


def _scoring_facts(ranker: Ranker, test: Dataset) -> dict[str, Any]:
    """The shortest of several scorings, because one of a small set is mostly noise."""
    timings: list[float] = []
    while sum(timings) < _SHORTEST_TIMING and len(timings) < _MOST_TIMINGS:
        started = time.perf_counter()
        ranker.predict(test)
        timings.append(time.perf_counter() - started)
    return {"score_seconds": min(timings), "n_test_docs": test.n_docs, "n_test_queries": test.n_queries}


def _judged(
    ranker: Ranker, fold: Fold, judged: Mapping[str, tuple[str, str]]
) -> tuple[dict[str, bytes], dict[str, dict[str, float]]]:
    """Files of the value of every query by every measure and of the test scores; and the means."""
    import polars as pl

    measures = [parse_measure(text, convention) for text, convention in judged.values()]
    frames, means, scores = [], {}, np.empty(0)
    for part, data in fold._asdict().items():
        if data is None:
            continue
        scores = ranker.predict(data)
        by_column = dict(zip(judged, judge(scored_queries(data, scores), measures), strict=True))
        means[part] = {column: of.mean for column, of in by_column.items()}
        keys = {"part": [part] * data.n_queries, "qid": data.qids.astype(np.str_).tolist()}
        frames.append(pl.DataFrame({**keys, **{column: of.values for column, of in by_column.items()}}))
    return {"values": _parquet(pl.concat(frames)), "scores": _parquet(pl.DataFrame({"score": scores}))}, means


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _saved(ranker: Ranker) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pomona")
        ranker.save(path)
        return path.read_bytes()


def _loaded_model(model: bytes, cls: type[Ranker]) -> Ranker:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pomona")
        path.write_bytes(model)
        return load_model(path, cls)


def start_peak_memory() -> bool:
    """Let the process' peak of memory start anew, as Linux can; whether it did."""
    gc.collect()
    with contextlib.suppress(
        AttributeError, OSError
    ):  # freed memory goes back, where the allocator is glibc's
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_memory() -> int | None:
    """The most memory, in bytes, that the process has held: interpreter, libraries, data and all."""
    with contextlib.suppress(OSError):
        if found := re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text()):
            return int(found[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if platform.system() == "Darwin" else most * 1024


def versions() -> dict[str, str]:
    """What computed this."""
    found = {"pomona": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def machine() -> str:
    """What it was computed on, in words."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        if found := re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text()):
            model = found[1]
    return f"{platform.system()}, {model}, {os.cpu_count()} cores"
