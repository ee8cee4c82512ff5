"""The search itself: fits in processes of their own until the time is over, every one kept in a directory.

A search is a `Store` of runs (`experiments/store.py`): what was fitted is never fitted again, and a process
that is killed at any moment leaves a directory that the next one goes on from.
"""

from __future__ import annotations

import gc
import io
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import polars as pl

from pomona._jit import n_threads
from pomona._pool import Pool, Worker, thread_counts
from pomona._types import Scores
from pomona.errors import InputError
from pomona.experiments.best.menu import SHORTENED, Recipe
from pomona.experiments.best.plan import JUDGE, Plan, PlanSource
from pomona.experiments.best.race import Job, Outcome, Race, Rung, Runner, rungs_of
from pomona.experiments.best.stack import rehearse
from pomona.experiments.cut_short import TOO_LONG
from pomona.experiments.execute import RunResult, Task, execute, loaded, versions
from pomona.experiments.run import RunSpec
from pomona.experiments.runner import share_cores
from pomona.experiments.spec import ranker_class
from pomona.experiments.store import Store
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import Ranker
from pomona.rankers.model_file import parameters_from_json, parameters_to_json

_VALUE = "value"
_LONGEST_SHARE = 0.5
"""Of the time, that one fit may take."""
_TRAINING_SHARE = 0.85
"""Of the time of a fit, when its training must end with what it has: the rest is for judging and keeping."""


@dataclass(frozen=True)
class Limits:
    """What the model may cost, and where it must be able to go.

    microseconds : to score a document; None for as many as it takes.
    formats : of models, all of which it can be exported to.
    """

    microseconds: float | None = None
    formats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progress:
    """How a search stands: seconds of how many, fits done, recipes begun, the best so far and its value."""

    seconds: float
    total: float
    n_fits: int
    n_recipes: int
    best: str
    value: float | None


class Search:
    """A race over the recipes of the menu, on the queries of a plan, kept in a store; a context.

    interrupted : whether Ctrl-C ended it.
    choosing_seconds : what a document adds to the time of a choice, here and now.
    slowness : seconds on the clock for a second of work: above 1 where others keep the machine busy.
    """

    def __init__(self, plan: Plan, store: Store, measure: str, limits: Limits, seed: int) -> None:
        self.plan, self.store, self.measure, self.limits, self.seed = plan, store, measure, limits, seed
        self._path, self._digest = plan.write(store.directory), plan.digest
        weights = [float((plan.roles[fold] == JUDGE).sum()) for fold in range(plan.n_folds)]
        self.rungs = rungs_of(plan.n_folds, plan.n_learning_docs)
        self.race = Race(self.rungs, weights, seed)
        self.spent = float(store.fact("seconds", 0.0))
        self.interrupted = False
        self._exports: dict[str, str] = {}
        self._restore()
        self._n_jobs, threads = share_cores(None, n_threads(), plan.data.X.nbytes)
        self._pool = Pool(self._n_jobs, thread_counts(threads), _ready)
        wall, work = time.perf_counter(), time.process_time()
        self.choosing_seconds = rehearse(parse_measure(measure))  # while the processes get ready
        wall, work = time.perf_counter() - wall, time.process_time() - work
        self.slowness = max(1.0, wall / max(work, 1e-3))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()

    def run(
        self,
        seconds: float,
        *,
        reserve: Callable[[], float] = lambda: 0.0,
        hear: Callable[[Progress], Any] = lambda progress: None,
    ) -> None:
        """Fit for so many seconds, less what is in `reserve` by then, or until Ctrl-C."""
        started, before = time.monotonic(), self.spent
        longest = _LONGEST_SHARE * seconds

        def left() -> float:
            return started + seconds - reserve() - time.monotonic()

        running: dict[Future[RunResult], Job] = {}
        try:
            while left() > 0:
                while len(running) < self._n_jobs:
                    limit = min(left(), longest)
                    job = self.race.next(lambda expected, limit=limit: expected < limit)  # type: ignore[misc]
                    if job is None:
                        break
                    running[self._pool.submit(_call, self.task(*job), limit)] = job
                if not running:
                    break
                done, _ = wait(running, timeout=max(0.0, min(left(), 1.0)), return_when=FIRST_COMPLETED)
                self.spent = before + time.monotonic() - started
                for future in done:
                    self._keep(running.pop(future), future.result(), is_late=left() <= 0)
                hear(self.progress(self.spent - before, seconds))
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self.spent = before + time.monotonic() - started
            self.store.remember(seconds=self.spent)

    def refit(self, recipes: list[Recipe], seconds: float) -> list[Ranker | None]:
        """The recipes, fitted on all that may be learnt from; None where that failed or took too long."""
        if self.interrupted or seconds <= 0:
            return [None] * len(recipes)
        deadline, rung, final = time.monotonic() + seconds, self.rungs[-1], self.plan.final
        runs = {self._run_of(recipe, rung, final).id: recipe for recipe in recipes}
        futures = []
        for run, recipe in runs.items():
            if not self._is_done(run):
                task = self._task_of(recipe, rung, final)
                self._enqueue(task.run)
                futures.append(self._pool.submit(_call, task, max(0.1, deadline - time.monotonic())))
        for future in futures:
            self.store.finish(future.result())
        return [self._model(run) if self._is_done(run) else None for run in runs]

    def models(self, runner: Runner, rung: int, folds: list[int]) -> list[Ranker]:
        """The fitted models of some folds."""
        runs = [self._run_of(runner.recipe, self.rungs[rung], fold) for fold in folds]
        return [self._model(run.id) for run in runs]

    def scores(self, runner: Runner, rung: int, folds: list[int]) -> Scores:
        """The scores of the queries that some folds judge, fold by fold."""
        runs = [self._run_of(runner.recipe, self.rungs[rung], fold) for fold in folds]
        parts = [pl.read_parquet(io.BytesIO(self.store.read(run.id, "scores"))) for run in runs]
        return np.concatenate([part["score"].to_numpy() for part in parts])

    def task(self, runner: Runner, rung: int, fold: int) -> Task:
        """What a process needs to do a job, which is now under way."""
        run = self._run_of(runner.recipe, self.rungs[rung], fold)
        self._enqueue(run)
        recipe = {
            "ranker": runner.recipe.ranker,
            "parameters": parameters_to_json(runner.recipe.parameters),
            "origin": runner.origin,
            "rung": rung,
        }
        self.store.remember(**{f"trial {run.id}": recipe})
        return self._task_of(runner.recipe, self.rungs[rung], fold)

    def progress(self, seconds: float, total: float) -> Progress:
        """How it stands."""
        n_fits = sum(len(set(one.outcomes.values())) for one in self.race.runners)
        for rung in reversed(range(len(self.rungs))):
            if ranking := self.race.ranking(rung):
                value = self.race.value(ranking[0], rung)
                return Progress(seconds, total, n_fits, len(self.race.runners), str(ranking[0].recipe), value)
        return Progress(seconds, total, n_fits, len(self.race.runners), "", None)

    def _task_of(self, recipe: Recipe, rung: Rung, fold: int) -> Task:
        run = self._run_of(recipe, rung, fold)
        return Task(run, self._source(rung, fold), {_VALUE: (self.measure, "definition")})

    def _enqueue(self, run: RunSpec) -> None:
        self.store.enqueue([run])
        self.store.requeue(run.id)
        self.store.begin(run.id)

    def _source(self, rung: Rung, fold: int) -> PlanSource:
        return PlanSource("best", fold, path=str(self._path), digest=self._digest, share=rung.share)

    def _run_of(self, recipe: Recipe, rung: Rung, fold: int) -> RunSpec:
        cls = ranker_class(recipe.ranker)
        given: dict[str, Any] = {**cls().get_params(deep=False), **recipe.parameters, "measure": self.measure}
        if rung.is_short:
            given |= {name: min(given[name], most) for name, most in SHORTENED.items() if name in given}
        parameters = {name: value for name, value in given.items() if name not in ("seed", "verbose")}
        data = self._source(rung, fold).data_digest
        return RunSpec(
            "best", fold, str(recipe), recipe.ranker, parameters_to_json(parameters), self.seed, data
        )

    def _keep(self, job: Job, result: RunResult, *, is_late: bool) -> None:
        """What came of a job, in the store and in the race."""
        runner = job[0]
        if result.state != "done" and is_late:  # the time was over, which says nothing of the recipe
            return
        result.record["at"] = self.spent
        self.store.finish(result)
        self.store.remember(seconds=self.spent)  # now: a process that is killed remembers nothing later
        if result.state == "done":
            reason = self._refusal(runner.recipe, result.record, lambda: result.files["model"])
            self.race.tell(job, _outcome(result.record), reason)
        else:
            self.race.tell(job, None, result.reason or "failed")

    def _refusal(self, recipe: Recipe, record: Mapping[str, Any], model: Callable[[], bytes]) -> str:
        """Why a recipe is not within the limits, if so; that of formats is asked once for each kind."""
        microseconds, most = _outcome(record).microseconds, self.limits.microseconds
        if most is not None and microseconds > most:
            return f"takes {microseconds:.2g} µs to score a document"
        key = f"{recipe.ranker} {recipe.parameters.get('normalize', '')}"
        if self.limits.formats and key not in self._exports:
            ranker = loaded(model())
            self._exports[key] = next(filter(None, (why_not(ranker, one) for one in self.limits.formats)), "")
        return self._exports.get(key, "")

    def _is_done(self, run: str) -> bool:
        rows = self.store.rows()
        return run in rows and rows[run]["state"] == "done" and self.store.damage(run) is None

    def _model(self, run: str) -> Ranker:
        return loaded(self.store.read(run, "model"))

    def _restore(self) -> None:
        """Take up the runs of an earlier search of the same queries and measure."""
        for run, row in self.store.rows().items():
            trial = self.store.fact(f"trial {run}")
            if trial is None or not str(row["data"]).startswith(self._digest):
                continue
            recipe = Recipe(trial["ranker"], parameters_from_json(trial["parameters"]))
            rung, fold, record = trial["rung"], row["fold"], row["record"]
            is_ours = rung < len(self.rungs) and self._run_of(recipe, self.rungs[rung], fold).id == run
            if is_ours and row["state"] == "failed" and not str(row["reason"]).startswith(TOO_LONG):
                self.race.restore(recipe, trial["origin"], rung, fold, None, row["reason"])
            elif is_ours and _is_whole(row) and self.store.damage(run) is None:
                reason = self._refusal(recipe, record, partial(self.store.read, run, "model"))
                self.race.restore(recipe, trial["origin"], rung, fold, _outcome(record), reason)


def _ready() -> None:
    """Load what every fit needs; what lives now lives on, and is not looked through at every collection."""
    versions()
    gc.collect()
    gc.freeze()


def _call(worker: Worker, task: Task, seconds: float) -> RunResult:
    """Do a task within a time: towards its end training stops, at the end the process is killed."""
    task = replace(task, deadline=time.time() + _TRAINING_SHARE * seconds)
    try:
        result: RunResult = worker.call(execute, task, time_limit=seconds)
    except TimeoutError:
        return RunResult(task.run.id, "failed", f"{TOO_LONG} {seconds:.0f} s", "time")
    except Exception as error:  # the process died, or none could be started
        return RunResult(task.run.id, "failed", str(error), "died")
    return result


def _is_whole(row: Mapping[str, Any]) -> bool:
    """Whether a run was done, and its training not cut short: with more time that may become more."""
    return row["state"] == "done" and not row["record"].get("was_interrupted", False)


def _outcome(record: Mapping[str, Any]) -> Outcome:
    micro = 1e6 * record["score_seconds"] / max(record["n_test_docs"], 1)
    value = record["means"]["test"][_VALUE]
    return Outcome(value, record["train_seconds"], micro, record.get("at", 0.0))


def why_not(ranker: Ranker, format: str) -> str:
    """Why a model cannot be exported to a format; empty where it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker.exported(format)
    except InputError as error:
        return f"no {format}: {error}"
    return ""
