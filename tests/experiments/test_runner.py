import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pomona.experiments.execute import Task
from pomona.experiments.run import runs_of
from pomona.experiments.runner import LocalRunner, share_cores
from pomona.experiments.source import examine

ENDLESS = "lambdamart(n_trees=100000000, early_stopping=none)"


def tasks_of(spec):
    sources, facts = examine(spec, spec.datasets[0], {})
    by_fold = {source.fold: source for source in sources}
    runs = runs_of(spec, {"toy": facts.digests})
    # The bare minimum of measures: these tests are not about numbers.
    return [Task(run, by_fold[run.fold], {"ap": ("ap", "definition")}) for run in runs]


def worker_pid(event):
    return int(event.result.record["worker"].rpartition(":")[2])


def is_gone(pid, patience=60.0):
    until = time.monotonic() + patience
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if time.monotonic() > until:
            return False
        time.sleep(0.05)


def test_runs_are_done_by_a_few_processes_that_serve_many(make_spec):
    tasks = tasks_of(make_spec("mart(n_trees=2), lambdamart(n_trees=2)", seeds=[0, 1]))
    with LocalRunner(2, 1) as runner:
        events = list(runner.run(tasks))
        ended = [event for event in events if event.result]
        assert {event.result.state for event in ended} == {"done"}
        assert sorted(event.run.id for event in ended) == sorted(task.run.id for task in tasks)
        assert sorted(event.run.id for event in events if not event.result) == sorted(
            task.run.id for task in tasks
        )
        assert all(event.result.record["threads"] == 1 for event in ended)
        pids = {worker_pid(event) for event in ended}
        pids |= {worker_pid(event) for event in runner.run(tasks[:1]) if event.result}
        assert 1 <= len(pids) <= 2
        assert os.getpid() not in pids
    assert all(is_gone(pid) for pid in pids)


def results_of(runner, tasks):
    return {event.run.ranker: event.result for event in runner.run(tasks) if event.result}


def kill_once_running(runner, tasks, number, times):
    """Send a signal to the process of the first run, each of the first `times` that it is being fitted."""
    results = {}
    for event in runner.run(tasks):
        if event.result:
            results[event.run.ranker] = event.result
        elif event.run == tasks[0].run and times:
            times -= 1
            while (process := runner.workers[0].process) is None:
                time.sleep(0.01)
            os.kill(process.pid, number)
    return results


def test_a_run_past_its_time_limit_fails_and_the_rest_goes_on(make_spec):
    tasks = tasks_of(make_spec(f"slow={ENDLESS}, quick=mart(n_trees=2)", folds=[1]))
    with LocalRunner(1, 1, time_limit=1.0) as runner:
        results = results_of(runner, tasks)
    assert (results["slow"].state, results["slow"].error) == ("failed", "time")
    assert results["slow"].reason == "took longer than the time limit of 1 s"
    assert results["quick"].state == "done"


@pytest.fixture(scope="module")
def runner():
    """One that goes on, whatever happened to its process before."""
    with LocalRunner(1, 1) as runner:
        yield runner


def test_a_run_whose_process_dies_is_tried_once_more(make_spec, runner):
    tasks = tasks_of(make_spec("a=mart(n_trees=2), b=lambdamart(n_trees=2)", folds=[1]))
    once = kill_once_running(runner, tasks, signal.SIGKILL, times=1)
    assert {label: result.state for label, result in once.items()} == {"a": "done", "b": "done"}


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (signal.SIGKILL, "its process was killed, most likely because memory ran out"),
        (signal.SIGSEGV, "its process ended by SIGSEGV"),
    ],
)
def test_a_run_that_takes_its_process_down_twice_fails_and_the_rest_goes_on(
    make_spec, runner, number, reason
):
    tasks = tasks_of(make_spec("a=mart(n_trees=2), b=lambdamart(n_trees=2)", folds=[1]))
    twice = kill_once_running(runner, tasks, number, times=2)
    assert (twice["a"].state, twice["a"].error) == ("failed", "died")
    assert twice["a"].reason.startswith(reason)
    assert twice["b"].state == "done"


def test_workers_end_with_the_process_that_started_them():
    code = f"""
from pomona.experiments.spec_options import spec_from_options
from pomona.experiments.runner import LocalRunner
from test_runner import tasks_of
spec = spec_from_options(["toy=simulate(queries=24, features=5)"], "{ENDLESS}", bounds=False)
with LocalRunner(1, 1) as runner:
    for event in runner.run(tasks_of(spec)[:1]):
        print(runner.workers[0].process.pid, flush=True)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    starter = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    worker = int(starter.stdout.readline())
    assert not is_gone(worker, patience=0)
    starter.kill()
    starter.communicate()
    assert is_gone(worker)


def test_cores_are_shared_out(monkeypatch):
    monkeypatch.setattr("pomona.experiments.runner.n_threads", lambda: 8)
    monkeypatch.setattr("pomona.experiments.runner.available_memory", lambda: 10 << 30)
    assert share_cores(None, 100, 0) == (8, 1)
    assert share_cores(None, 2, 0) == (2, 4)
    assert share_cores(1, 100, 0) == (1, 8)
    assert share_cores(3, 100, 0) == (3, 2)
    assert share_cores(16, 100, 0) == (16, 1)
    assert share_cores(None, 100, 1 << 30) == (2, 4)  # 10 GB / (0.4 + 3 GB)
    assert share_cores(None, 100, 1 << 40) == (1, 8)
