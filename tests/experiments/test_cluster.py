import os
import signal
import sys

import dask
import pytest
from distributed import LocalCluster

from pomona.errors import MissingExtraError, PomonaError
from pomona.experiments.cluster import ClusterRunner
from pomona.experiments.compare import compare


class Saboteur:
    """Kills a worker of the cluster that has work, once some runs are done."""

    def __init__(self, cluster):
        self.cluster, self.n_ended, self.killed = cluster, 0, None

    def start(self, runs, finished): ...

    def see(self, event):
        self.n_ended += event.result is not None
        if self.n_ended >= 2 and self.killed is None:
            states = self.cluster.scheduler.workers
            busy = [
                nanny for nanny in self.cluster.workers.values() if states[nanny.worker_address].processing
            ]
            self.killed = busy[0].process.pid
            os.kill(self.killed, signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster():
    patient = {"distributed.comm.timeouts.connect": "300s", "distributed.comm.timeouts.tcp": "300s"}
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with dask.config.set(patient), LocalCluster(**how) as cluster:  # a busy machine starts workers slowly
        yield cluster


def test_time_limits_hold_there_too(make_spec, cluster, tmp_path):
    rankers = "a=mart(n_trees=2), b=lambdamart(n_trees=100000000, early_stopping=none)"
    spec = make_spec(rankers, time_limit=1.0, folds=[1])
    results = compare(spec, tmp_path, dask=cluster.scheduler_address)
    assert dict(results.runs.select("ranker", "state").iter_rows()) == {"a": "done", "b": "failed"}
    assert "time limit" in results.runs.filter(ranker="b")["reason"][0]


def test_a_cluster_that_loses_a_worker_gives_the_same_numbers(finished, cluster, tmp_path):
    saboteur = Saboteur(cluster)
    results = compare(finished.spec, tmp_path, dask=cluster.scheduler_address, watch=saboteur)
    assert saboteur.killed is not None
    assert set(results.runs["state"]) == {"done"}
    assert results.values.equals(finished.values)
    assert results.facts["dask"] == cluster.scheduler_address
    assert os.getpid() not in {int(worker.rpartition(":")[2]) for worker in results.runs["worker"]}


def test_runs_that_wait_are_not_running(make_spec, cluster, tmp_path):
    """Of 8 runs on 2 workers with a thread each, some wait."""

    class Count:
        running, most = 0, 0

        def start(self, runs, finished):
            self.running = self.most = 0  # those of the rehearsal are over

        def see(self, event):
            self.running += 1 if event.result is None else -1
            self.most = max(self.most, self.running)

    count = Count()
    compare(
        make_spec("mart(n_trees=2), random", seeds=[0, 1]),
        tmp_path,
        dask=cluster.scheduler_address,
        watch=count,
    )
    assert count.running == 0
    assert count.most < 8


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr("pomona.experiments.cluster.PATIENCE_SECONDS", 1)
    with pytest.raises(PomonaError, match="no Dask scheduler answers at"):
        ClusterRunner("tcp://127.0.0.1:9")


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pomona\[dask\]'"):
        ClusterRunner("tcp://127.0.0.1:9")
