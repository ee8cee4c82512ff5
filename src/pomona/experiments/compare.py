"""The comparison from beginning to end: check everything, do what is not done yet, keep it, read it back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pomona.errors import InputError
from pomona.experiments.results import Results, read_results
from pomona.experiments.run import Run, Task, machine, runs_of, shortened
from pomona.experiments.runner import Event, Pool, share_cores
from pomona.experiments.search import require_optuna
from pomona.experiments.source import DataFacts, FoldSource, dataset_digest, examine
from pomona.experiments.spec import Spec
from pomona.experiments.store import Store

if TYPE_CHECKING:
    from pomona.experiments.cluster import Cluster


class Watch(Protocol):
    """Somebody who looks on."""

    def start(self, runs: Sequence[Run], finished: Mapping[str, Any]) -> None:
        """These runs there are, of which some are finished: id → row of the store."""

    def see(self, event: Event) -> None:
        """A run began or ended."""


class _Nobody:
    def start(self, runs: Sequence[Run], finished: Mapping[str, Any]) -> None: ...
    def see(self, event: Event) -> None: ...


def compare(
    spec: Spec,
    directory: str | Path,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    retry: bool = False,
    watch: Watch | None = None,
    command: str = "",
) -> Results:
    """Do all runs of a comparison that are not finished in `directory`, and return the results of all.

    Parameters
    ----------
    n_jobs : processes on this machine; None shares the cores out. Times are best compared with 1.
    dask : the address of a scheduler, to do the runs on its cluster.
    retry : do failed runs again. One that ran out of time is, whenever there is more of it now.
    watch : is told of every run.
    command : what was typed, for the record.
    """
    watch = watch or _Nobody()
    if spec.search is not None:
        require_optuna()
    known = _known(directory)
    examined = {data.name: examine(spec, data, known) for data in spec.datasets}
    facts = {name: of for name, (_, of) in examined.items()}
    sources = {(source.dataset, source.fold): source for found, _ in examined.values() for source in found}
    runs = runs_of(spec, {name: of.digests for name, of in facts.items()})
    with Store(directory) as store:
        store.enqueue(runs)
        store.remember(
            data={name: asdict(of) for name, of in facts.items()},
            command=command,
            machine=machine(),
            started=store.fact("started", time.time()),
        )
        store.write_text("spec.toml", spec.to_toml())
        tasks = _tasks(spec, store, runs, sources, retry)
        finished = {run: row for run, row in store.rows().items() if row["state"] in ("done", "failed")}
        watch.start(runs, finished)
        if tasks:
            largest = max(of.largest_bytes for of in facts.values())
            started = time.monotonic()  # before the rehearsal, which compiles: that is waited for, too
            with _executor(spec, store, share_cores(n_jobs, len(tasks), largest), dask) as executor:
                _rehearse(spec, executor.run, tasks)
                _do(spec, executor.run, tasks, store, watch, started)
    return read_results(directory)


def _executor(spec: Spec, store: Store, shares: tuple[int, int], dask: str | None) -> Pool | Cluster:
    if dask is None:
        store.remember(processes=shares[0], threads=shares[1], dask=None)
        return Pool(*shares, spec.time_limit)
    from pomona.experiments.cluster import Cluster

    store.remember(processes=None, threads=1, dask=dask)
    return Cluster(dask, spec.time_limit)


def _known(directory: str | Path) -> dict[str, DataFacts]:
    """What an earlier comparison in this directory learnt about its data, by the digest of the data."""
    with contextlib.suppress(InputError), Store(directory, to_write=False) as store:
        found = [DataFacts.of_json(facts) for facts in store.fact("data", {}).values()]
        return {dataset_digest(of.digests): of for of in found}
    return {}


def _tasks(
    spec: Spec,
    store: Store,
    runs: Sequence[Run],
    sources: Mapping[tuple[str, int], FoldSource],
    retry: bool,
) -> list[Task]:
    """What is left to do: runs without an outcome, and finished ones that a new measure has not judged."""
    tasks: dict[str, Task] = {}
    rows, wanted = store.rows(), spec.judged()
    for run in runs:
        row = rows[run.id]
        record, state = row["record"], row["state"]
        judged = {column: tuple(of) for column, of in record.get("judged", {}).items()}
        if state == "done" and not store.is_whole(run.id):
            record, state = {}, "queued"
        if run.id in tasks or (state == "done" and wanted.keys() <= judged.keys()):
            continue
        if state == "failed" and not (retry or _has_more_time(spec, record)):
            continue
        store.requeue(run.id)
        is_fitted = bool(judged) and store.is_whole(run.id)
        model = store.path(run.id, "model").read_bytes() if is_fitted else None
        tasks[run.id] = Task(run, sources[run.dataset, run.fold], {**judged, **wanted}, model)
    return list(tasks.values())


def _has_more_time(spec: Spec, record: Mapping[str, Any]) -> bool:
    """Whether a run failed for want of time, and has more of it now."""
    limit = record.get("time_limit")
    return limit is not None and (spec.time_limit is None or spec.time_limit > limit)


def _rehearse(spec: Spec, run: Callable[[Iterable[Task]], Iterator[Event]], tasks: Sequence[Task]) -> None:
    """Try every ranker on a few queries, and stop where one refuses what the spec gives it."""
    given = {row.label: row.parameters for row in spec.rows()}
    first = {task.run.ranker: task for task in reversed(tasks) if task.model is None}
    for event in run([replace(task, is_rehearsal=True) for task in first.values()]):
        outcome = event.outcome
        if outcome is None or outcome.reason is None:
            continue
        names = given[event.run.ranker].keys() - shortened(event.run.parameters).keys()
        if outcome.error == "UnknownNameError" or (
            outcome.error == "InputError" and any(name in outcome.reason for name in names)
        ):
            raise InputError(f"ranker {event.run.ranker}: {outcome.reason}")


def _do(
    spec: Spec,
    run: Callable[[Iterable[Task]], Iterator[Event]],
    tasks: Sequence[Task],
    store: Store,
    watch: Watch,
    started: float,
) -> None:
    earlier = {task.run.id: store.rows()[task.run.id]["record"] for task in tasks if task.model is not None}
    seconds = store.fact("seconds", 0.0)
    for event in run(tasks):
        outcome = event.outcome
        if outcome is None:
            store.begin(event.run.id)
        else:
            outcome.record = {**earlier.get(event.run.id, {}), **outcome.record}
            if outcome.state == "failed":
                outcome.record["time_limit"] = spec.time_limit if outcome.error == "time" else None
            store.finish(outcome)
            store.remember(seconds=seconds + time.monotonic() - started)
        watch.see(event)
