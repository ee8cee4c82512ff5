"""Executing a run: fit the ranker, score the test documents, judge every part of the fold.

`execute` works wherever it is called, in a worker process here or on a cluster. It writes nothing, and
returns everything that is kept of the run as plain values and bytes. The clock sees fitting and scoring only:
the fold is read before, and `rehearse` fits each ranker on a few queries first, so that no training time
holds the compilation of kernels. Peak memory is what a run took beyond what its process held before: neither
interpreter nor kernels nor data count, which other runs may have loaded.
"""

from __future__ import annotations

import copy
import io
import json
import os
import platform
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pomona import __version__
from pomona._jit import n_threads
from pomona._machine import PeakMemory
from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold
from pomona.data.rows import read_only
from pomona.errors import InputError, PomonaError
from pomona.experiments.analysis.query_slice import n_relevant_of
from pomona.experiments.cut_short import until
from pomona.experiments.data_spec import PARTS
from pomona.experiments.importance import importance_of
from pomona.experiments.run import RunSpec, files_of
from pomona.experiments.search import search, timed_fit
from pomona.experiments.source import FoldSource, cut, digest, forget, teaches
from pomona.experiments.spec import code_of, ranker_class
from pomona.experiments.stage import judged_stages
from pomona.measures.judge import judge, scored_queries
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import Ranker
from pomona.rankers.loading import load_model
from pomona.rankers.model_file import parameters_to_json

N_REHEARSED, N_STEPS = 12, 3
"""How many queries a rehearsal is given, and how many trees, rounds or epochs it lasts."""

_STEPS = ("n_trees", "n_rounds", "n_epochs", "n_iterations", "max_iterations")

_PACKAGES = (
    *("numpy", "numba", "scipy", "scikit-learn", "polars", "torch", "optuna"),
    *("lightgbm", "xgboost", "catboost"),
)

_SHORTEST_TIMING, _MOST_TIMINGS = 0.05, 20


@dataclass(frozen=True)
class Task:
    """A run and all that the process needs that executes it.

    Parameters
    ----------
    measures : for each column of the values, the text of a measure and its convention.
    model : the model of an earlier execution, which is then judged by other measures and not fitted again.
    deadline : when (by `time.time()`) training is to end with what it has; None lets it end by itself.
    codes : of measures in a file of the user's, by their columns, what tells that file from another.
    """

    run: RunSpec
    source: FoldSource
    measures: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    model: bytes | None = None
    deadline: float | None = None
    codes: Mapping[str, str] = field(default_factory=dict)


@dataclass
class RunResult:
    """What a run leaves behind: `done`, or `failed` and why; its record, and the bytes of its files."""

    run: str
    state: str
    reason: str | None = None
    error: str | None = None
    record: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


def execute(task: Task) -> RunResult:
    """Do a run."""
    return _without_exceptions(_execute, task)


def rehearse(task: Task) -> RunResult:
    """Read the fold; fit, score and judge a few of its queries, once for each ranker in this process."""
    return _without_exceptions(_rehearse, task)


def _without_exceptions(function: Callable[[Task], RunResult], task: Task) -> RunResult:
    """The result, into which exceptions and warnings are put."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(task)
        notes = {str(one.message) for one in caught if issubclass(one.category, UserWarning | RuntimeWarning)}
        result.record["notes"] = sorted(notes)
        return result
    except MemoryError:
        return RunResult(task.run.id, "failed", "out of memory", "MemoryError")
    except Exception as error:
        reason = str(error) if isinstance(error, PomonaError) else f"{type(error).__name__}: {error}"
        record = {"traceback": traceback.format_exc()}
        return RunResult(task.run.id, "failed", " ".join(reason.split()), type(error).__name__, record)


def _execute(task: Task) -> RunResult:
    run = task.run
    fold, is_cut = _fold_of(task)
    with _unchanged(run, fold) as fold:
        return _executed(task, fold, is_cut)


@contextmanager
def _unchanged(run: RunSpec, fold: Fold) -> Iterator[Fold]:
    """Lend a fold, which runs share; to a ranker of a user's to read only, and look at it afterwards."""
    if not run.code:
        yield fold
        return
    before = digest(fold)
    changes = f"{run.ranker} changes the data that it is given, which others share: copy them first"
    try:
        yield Fold(*map(_read_only, fold))
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise InputError(f"{changes} ({error})") from None
    finally:
        if digest(fold) != before:
            _read_fold.cache_clear()
            forget()
            raise InputError(changes)


def _read_only(data: Dataset | None) -> Any:
    lent = copy.copy(data)
    for name, value in vars(data).items() if data is not None else ():
        if isinstance(value, np.ndarray):
            setattr(lent, name, read_only(value))
    return lent


def _executed(task: Task, fold: Fold, is_cut: bool) -> RunResult:
    run = task.run
    _refuse_changed_files(task)
    files: dict[str, bytes] = {}
    record: dict[str, Any] = {}
    if task.model is None:
        with PeakMemory() as memory:
            with until(task.deadline):
                ranker, record = _fitted(run, fold)
            scores, record["score_seconds"] = _timed_scores(ranker, fold.test)
        if run.judges_test:
            record |= judged_stages(ranker, fold.train, fold.test)
        files["model"] = _saved(ranker)
        record |= {
            "importance": importance_of(ranker, fold.train),
            "valid_is_cut": is_cut,
            "was_interrupted": getattr(ranker, "interrupted_", False),
            "n_test_docs": fold.test.n_docs,
            "n_test_queries": fold.test.n_queries,
            "process_memory": memory.process,
            "peak_memory": memory.added,
            "model_bytes": len(files["model"]),
            "worker": f"{platform.node()}:{os.getpid()}",
            "threads": n_threads(),
            "versions": versions(),
        }
    else:
        ranker = loaded(task.model, ranker_class(run.kind))
        scores = ranker.predict(fold.test)
    values, record["means"] = _judged(ranker, fold, scores, task.measures)
    files |= {"values": values, "scores": _parquet({"score": scores})}
    record["judged"] = {column: list(pair) for column, pair in task.measures.items()}
    record["codes"] = dict(task.codes)
    return RunResult(run.id, "done", record=record, files=files)


def _refuse_changed_files(task: Task) -> None:
    """Refuse a file of the user's that is not the one that the run's id was made of."""
    run, measures = task.run, task.measures.items()
    is_same = code_of(run.kind) == run.code and files_of(run.kind, run.parameters) == run.files
    if not is_same or any(code_of(text) != task.codes.get(column, "") for column, (text, _) in measures):
        raise InputError("a file of a ranker, measure or model was edited meanwhile: compare again")


def _fold_of(task: Task) -> tuple[Fold, bool]:
    """The fold of a run, and whether its validation part was cut from its training part."""
    fold = task.run.given(_read_fold(task.source, task.run.data))
    if fold.valid is not None or not task.run.needs_valid:
        return fold, False
    return Fold(*cut(fold.train, task.run.seed), fold.test), True


@lru_cache(maxsize=1)
def _read_fold(source: FoldSource, expected_digest: str) -> Fold:
    """The fold, kept until another is asked for: runs come fold by fold."""
    fold, found = source.load_with_digest()
    if found != expected_digest:  # perhaps of files as this process read them before they were edited
        forget()
        fold, found = source.load_with_digest()
    if found != expected_digest:
        raise InputError(
            f"dataset {source.dataset}, fold {source.fold}: here the data are not those that were checked"
        )
    return fold


_rehearsed: set[str] = set()


def _rehearse(task: Task) -> RunResult:
    run = task.run
    fold, _ = _fold_of(task)
    key = json.dumps([run.kind, run.code, run.parameters], sort_keys=True)
    if task.model is None and key not in _rehearsed:
        with _unchanged(run, Fold(*map(_a_few, fold))) as few:
            ranker = run.make_ranker(**shortened(run.parameters)).fit(few.train, valid=few.valid)
            _judged(ranker, few, ranker.predict(few.test), task.measures)
        _rehearsed.add(key)
    return RunResult(run.id, "done")


def shortened(parameters: Mapping[str, Any]) -> dict[str, int]:
    """The parameters that are lowered for a rehearsal."""
    given = {name: parameters.get(name) for name in _STEPS}
    return {name: N_STEPS for name, value in given.items() if isinstance(value, int) and value > N_STEPS}


def _a_few(data: Dataset | None) -> Any:
    """The first queries that have something to learn from."""
    if data is None:
        return None
    mixed = np.flatnonzero(teaches(data))
    return data.take((mixed if mixed.size else np.arange(data.n_queries))[:N_REHEARSED])


def _fitted(run: RunSpec, fold: Fold) -> tuple[Ranker, dict[str, Any]]:
    if run.search is None:
        ranker = run.make_ranker()
        record: dict[str, Any] = {**timed_fit(ranker, fold.train, fold.valid)}
    else:
        assert fold.valid is not None
        seed = (run.search.seed, run.seed)
        ranker, record = search(
            run.make_ranker,
            run.search_space(),
            fold.train,
            fold.valid,
            n_trials=run.search.n_trials,
            seed=seed,
        )
    curves = getattr(ranker, "evals_", {})
    learnt = {
        "best_iteration": getattr(ranker, "best_iteration_", None),
        "curves": {part: curve for part, curve in curves.items() if part not in PARTS or part in run.curves},
        "parameters": ranker.get_params(deep=False) | getattr(ranker, "chosen_", {}),
        "chosen": dict(getattr(ranker, "chosen_", {})),
    }
    return ranker, {**record, **parameters_to_json(learnt)}


def _timed_scores(ranker: Ranker, test: Dataset) -> tuple[Scores, float]:
    """The scores, and the shortest of several scorings, because one of a small set is mostly noise."""
    timings: list[float] = []
    while sum(timings) < _SHORTEST_TIMING and len(timings) < _MOST_TIMINGS:
        started = time.perf_counter()
        scores = ranker.predict(test)
        timings.append(time.perf_counter() - started)
    return scores, min(timings)


def _judged(
    ranker: Ranker, fold: Fold, test_scores: Scores, measures: Mapping[str, tuple[str, str]]
) -> tuple[bytes, dict[str, dict[str, float]]]:
    """A file of the value of every query by every measure, and the means of each part."""
    parsed = [parse_measure(*pair) for pair in measures.values()]
    frames, means = [], {}
    for part, data in fold._asdict().items():
        if data is None:
            continue
        scores = test_scores if part == "test" else ranker.predict(data)
        judgements = dict(zip(measures, judge(scored_queries(data, scores), parsed), strict=True))
        means[part] = {column: judgement.mean for column, judgement in judgements.items()}
        keys = {"part": [part] * data.n_queries, "qid": data.qids.astype(np.str_).tolist()}
        keys |= {"n_docs": data.query_lengths, "n_relevant": n_relevant_of(data)}
        frames.append(pl.DataFrame({**keys, **{column: one.values for column, one in judgements.items()}}))
    return _parquet(pl.concat(frames)), means


def _parquet(columns: pl.DataFrame | Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def _saved(ranker: Ranker) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pomona")
        ranker.save(path)
        return path.read_bytes()


def loaded(model: bytes, cls: type[Ranker] | None = None) -> Ranker:
    """The ranker of the bytes of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pomona")
        path.write_bytes(model)
        return load_model(path, cls)


@cache
def versions() -> dict[str, str]:
    """The versions of this package, of Python, and of the packages whose numbers these may be."""
    known = {"pomona": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            known[package] = version(package)
    return known
