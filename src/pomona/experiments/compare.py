"""The comparison from beginning to end: check everything, do what is not done yet, keep it, read it back."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pomona._arrays import refuse_unwritable, whole_file
from pomona._machine import machine
from pomona.errors import InputError
from pomona.experiments.execute import RunResult, Task, shortened
from pomona.experiments.results import Results, read_results, run_facts
from pomona.experiments.run import VERSION, RunSpec, runs_of
from pomona.experiments.runner import LocalRunner, RunEvent, share_cores
from pomona.experiments.search import require_optuna
from pomona.experiments.source import DataFacts, FoldSource, at_hand, dataset_digest, examine, forget
from pomona.experiments.spec import Spec, code_of, digest_of_file
from pomona.experiments.store import DamagedRunError, Store

if TYPE_CHECKING:
    from pomona.experiments.cluster import ClusterRunner


class Watch(Protocol):
    """Somebody who looks on."""

    def start(self, runs: Sequence[RunSpec], finished: Mapping[str, Any]) -> None:
        """These runs there are, of which some are finished: id → row of the store."""

    def see(self, event: RunEvent) -> None:
        """A run began or ended."""


def compare(
    spec: Spec,
    directory: str | Path,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    retry: bool = False,
    verify: bool = False,
    watch: Watch | None = None,
    command: str = "",
) -> Results:
    """Do all runs of a comparison that are not finished in `directory`, and return the results of all.

    Parameters
    ----------
    n_jobs : processes on this machine; None shares the cores out. Times are best compared with 1.
    dask : the address of a scheduler, to do the runs on its cluster.
    retry : do failed runs again. One that ran out of time is, whenever there is more of it now.
    verify : read every file of every finished run, and do those again that were damaged. Without, the files
        must be there; what is in them is checked when it is used.
    watch : is told of every run.
    command : what was typed, for the record; kept if runs are done.
    """
    if spec.search is not None:
        require_optuna()
    if n_jobs is not None and n_jobs < 1:
        raise InputError(f"n_jobs must be at least 1, found {n_jobs}")
    refuse_unwritable(directory)
    forget()  # files that were edited since this process read them are read anew
    asked, (spec, left_out) = spec, at_hand(spec)
    known = _known_data(directory)
    sources: list[FoldSource] = []
    data: dict[str, DataFacts] = {}
    for dataset in spec.datasets:
        sources_of_dataset, data[dataset.name] = examine(spec, dataset, known)
        sources += sources_of_dataset
    variants = {name: folds for facts in data.values() for name, folds in facts.variants.items()}
    digests = {name: {k: one["digest"] for k, one in folds.items()} for name, folds in variants.items()}
    runs = runs_of(spec, digests)
    how: dict[str, Any] = {"n_jobs": n_jobs, "dask": dask, "retry": retry, "watch": watch, "command": command}
    how |= {"left_out": left_out, "asked": asked}
    _do(spec, directory, runs, sources, data, verify=verify, **how)
    try:
        results = read_results(directory)
    except DamagedRunError:  # which that command finds that reads everything
        _do(spec, directory, runs, sources, data, verify=True, **how)
        results = read_results(directory)
    return replace(results, spec=spec)


def _do(
    spec: Spec,
    directory: str | Path,
    runs: Sequence[RunSpec],
    sources: Sequence[FoldSource],
    data: Mapping[str, DataFacts],
    *,
    n_jobs: int | None,
    dask: str | None,
    retry: bool,
    verify: bool,
    watch: Watch | None,
    command: str,
    left_out: Mapping[str, str],
    asked: Spec,
) -> None:
    """Do the runs of a spec that are not done; `asked` is the spec with what is not here."""
    with Store(directory) as store:
        store.enqueue(runs)
        store.remember(
            version=VERSION,
            data={name: asdict(facts) for name, facts in data.items()},
            left_out=left_out,
            machine=machine(),
            started=store.fact("started", time.time()),
            runs=[run_facts(run) for run in runs],
            columns=[(*pair, column) for pair, column in spec.columns().items()],
        )
        _keep_spec(spec, asked, store)
        rows = store.rows()
        tasks = _tasks(spec, store, rows, runs, sources, retry, verify)
        finished = {run: row for run, row in rows.items() if row["state"] in ("done", "failed")}
        if watch is not None:
            watch.start(runs, {run: row for run, row in finished.items() if run not in tasks})
        if tasks:
            store.remember(command=command)
            shares = share_cores(n_jobs, len(tasks), max(facts.largest_bytes for facts in data.values()))
            started = time.monotonic()  # before the rehearsal, which compiles: that is waited for, too
            seconds = store.fact("seconds", 0.0)
            with _runner(spec, store, shares, dask) as runner:
                too_slow = _rehearse(spec, runner, list(tasks.values()))
                for event in _events(runner, list(tasks.values()), too_slow):
                    if event.result is None:
                        store.begin(event.run.id)
                    else:
                        if tasks[event.run.id].model is not None:
                            event.result.record = {**rows[event.run.id]["record"], **event.result.record}
                        store.finish(event.result)
                        store.remember(seconds=seconds + time.monotonic() - started)
                    if watch is not None:
                        watch.see(event)


def _keep_spec(spec: Spec, asked: Spec, store: Store) -> None:
    """Keep the spec in the store, and what was asked for as `spec.toml` in the directory.

    A file that we did not write, or that was edited since, is the user's: ours is then `spec.resolved.toml`.
    """
    text = spec.to_toml(store.directory)
    written = store.fact("spec files", {})
    for name in ("spec.toml", "spec.resolved.toml"):
        path = store.directory / name
        is_there = path.exists() or path.is_symlink()
        if is_there and (path.is_symlink() or written.get(name) != digest_of_file(str(path))):
            continue
        with whole_file(path, follows_links=False) as file:
            file.write(asked.to_toml(store.directory).encode())
        written[name] = digest_of_file(str(path))
        break
    store.remember(**{"spec": text, "places": asked.paths(store.directory), "spec files": written})


def _known_data(directory: str | Path) -> dict[str, DataFacts]:
    """What an earlier comparison in this directory learnt about its data, by the digest of the data."""
    with contextlib.suppress(InputError), Store(directory, to_write=False) as store:
        known = [DataFacts.of_json(facts) for facts in store.fact("data", {}).values()]
        return {dataset_digest(facts.digests): facts for facts in known}
    return {}


def _tasks(
    spec: Spec,
    store: Store,
    rows: Mapping[str, Mapping[str, Any]],
    runs: Sequence[RunSpec],
    sources: Sequence[FoldSource],
    retry: bool,
    verify: bool,
) -> dict[str, Task]:
    """What is left to do, by run: runs without a result, and finished ones that a measure has not judged."""
    tasks: dict[str, Task] = {}
    by_fold = {(source.dataset, source.fold): source for source in sources}
    measures = spec.judged()
    codes = {column: code for column, (text, _) in measures.items() if (code := code_of(text))}
    look = store.damage if verify else store.loss
    for run in runs:
        row = rows[run.id]
        # A measure in a file of the user's has judged only as that file says now.
        known = row["record"].get("codes", {})
        judged = {
            column: tuple(pair)
            for column, pair in row["record"].get("judged", {}).items()
            if known.get(column) == codes.get(column)
        }
        damage = look(run.id) if row["state"] == "done" and run.id not in tasks else None
        if damage is not None:
            warnings.warn(f"{damage}: {run} is done again", stacklevel=3)
            judged = {}
        is_done = row["state"] == "done" and damage is None and measures.keys() <= judged.keys()
        past_limit = row["record"].get("time_limit")  # of a run that failed for want of time
        has_more_time = past_limit is not None and (spec.time_limit or math.inf) > past_limit
        is_given_up = row["state"] == "failed" and not retry and not has_more_time
        if run.id in tasks or is_done or is_given_up:
            continue
        store.requeue(run.id)
        model = None
        with contextlib.suppress(InputError):
            model = store.read(run.id, "model") if judged else None
        tasks[run.id] = Task(run, by_fold[run.dataset, run.fold], {**judged, **measures}, model, codes=codes)
    return tasks


def _runner(
    spec: Spec, store: Store, shares: tuple[int, int], dask: str | None
) -> LocalRunner | ClusterRunner:
    if dask is None:
        store.remember(processes=shares[0], threads=shares[1], dask=None)
        return LocalRunner(*shares, spec.time_limit)
    from pomona.experiments.cluster import ClusterRunner

    store.remember(processes=None, threads=1, dask=dask)
    return ClusterRunner(dask, spec.time_limit)


def _events(
    runner: LocalRunner | ClusterRunner, tasks: Sequence[Task], too_slow: Mapping[str, RunResult]
) -> Iterator[RunEvent]:
    """Do the tasks; those of a ranker whose rehearsal alone took too long fail without being tried."""
    for task in tasks:
        if task.run.ranker in too_slow:
            yield RunEvent(task.run)
            yield RunEvent(task.run, replace(too_slow[task.run.ranker], run=task.run.id))
    yield from runner.run([task for task in tasks if task.run.ranker not in too_slow])


def _rehearse(spec: Spec, runner: LocalRunner | ClusterRunner, tasks: Sequence[Task]) -> dict[str, RunResult]:
    """Try every ranker on a few queries, and stop where one refuses what the spec gives it.

    Returned are the results of those that were not ready in time.
    """
    too_slow: dict[str, RunResult] = {}
    given = {row.label: row.parameters for row in spec.rows()}
    first = {task.run.ranker: task for task in reversed(tasks) if task.model is None}
    for event in runner.run(list(first.values()), is_rehearsal=True):
        run, result = event.run, event.result
        if result is None or result.reason is None:
            continue
        if result.error == "time":
            too_slow[run.ranker] = result
        names = given[run.ranker].keys() - shortened(run.parameters).keys()
        is_about_given = result.error == "InputError" and any(name in result.reason for name in names)
        if result.error == "UnknownNameError" or is_about_given:
            raise InputError(f"ranker {run.ranker}: {result.reason}")
    return too_slow
