import contextlib
import copy
import os
import signal
import subprocess
import sys
import threading
import time

import dask
import distributed
import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError, NothingToLearnError
from pomona.rankers.forests.cluster import fit
from pomona.rankers.forests.cluster.fit import ClusterError, ClusterTraining

PATIENT = {"distributed.comm.timeouts.connect": "300s", "distributed.comm.timeouts.tcp": "300s"}
RANKER = pm.LambdaMART(n_trees=5, n_leaves=5, min_docs=3, query_fraction=0.8)


@contextlib.contextmanager
def workers(count):
    """Workers in this process, each with links of its own; processes are started where one is killed."""
    how = {"threads_per_worker": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0"}
    with (
        dask.config.set(PATIENT),
        distributed.LocalCluster(n_workers=count, **how) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with workers(3) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    train = pm.simulate(23, docs_per_query=12, n_features=5, seed=4)
    X = train.X.copy()
    X[::9, 1] = np.nan
    train, valid = train.replace(X=X), pm.simulate(9, docs_per_query=8, n_features=5, seed=5)
    # What is read or compiled once is ready before workers that are threads of this process want it at once.
    pm.LambdaMART(n_trees=1).fit(train, valid=valid)
    return train, valid


def same(found, expected):
    arrays = [
        {name: array.tobytes() for name, array in each.get_state()[1].items()} for each in (found, expected)
    ]
    assert arrays[0] == arrays[1]
    assert found.evals_ == expected.evals_
    assert (found.best_iteration_, found.interrupted_) == (expected.best_iteration_, False)
    assert found.feature_names_ == expected.feature_names_


def frame_of(data, **more):
    import pandas as pd

    columns = {name: data.X[:, j] for j, name in enumerate(data.feature_names)}
    return pd.DataFrame({"qid": data.qid, "label": data.y, **columns, **more})


@pytest.mark.parametrize("count", [1, 2, 5])
def test_any_number_of_workers_learns_the_model_of_one_machine(data, count):
    train, valid = data
    weights = np.random.default_rng(1).random(train.n_docs)
    expected = copy.copy(RANKER).fit(train, valid=valid, sample_weight=weights)
    with workers(count) as client:
        found = copy.copy(RANKER).fit(train, valid=valid, sample_weight=weights, client=client)
    same(found, expected)
    assert found.predict(valid).tolist() == expected.predict(valid).tolist()


def test_a_dask_frame_whose_partitions_cut_queries_apart(data, client):
    dd = pytest.importorskip("dask.dataframe")
    train, valid = data
    weights = np.random.default_rng(1).random(train.n_docs).astype(np.float32)
    expected = pm.MART(n_trees=4, n_leaves=4, early_stopping=1).fit(train, valid=valid, sample_weight=weights)
    order = np.random.default_rng(2).permutation(train.n_docs)
    frame = frame_of(train, heft=weights).iloc[order]
    parts = dd.from_pandas(frame.reset_index(drop=True), npartitions=4)
    found = pm.MART(n_trees=4, n_leaves=4, early_stopping=1)
    found.fit(
        parts, sample_weight="heft", valid=dd.from_pandas(frame_of(valid), npartitions=2), client=client
    )
    same(found, expected)
    assert found.feature_names_in_.tolist() == list(train.feature_names)


def test_files_in_parts(data, client, tmp_path):
    train, valid = data
    frame = frame_of(train).rename(columns={"qid": "query", "label": "grade"})
    for k, some in enumerate(np.array_split(np.arange(train.n_docs), 3)):
        frame.iloc[some].to_parquet(tmp_path / f"train-{k}.parquet", index=False)
    expected = copy.copy(RANKER).fit(train)
    found = copy.copy(RANKER).fit(str(tmp_path / "train-*.parquet"), "grade", "query", client=client)
    same(found, expected)
    # LETOR text; the last part mentions fewer features than the others.
    X = train.X.copy()
    X[train.query_ptr[20] :, 4] = 0
    sparse = train.replace(X=np.nan_to_num(X))
    paths = [tmp_path / f"{k}.txt" for k in range(2)]
    pm.write_letor(sparse.take(np.arange(20)), paths[0])
    last = sparse.take(np.arange(20, 23))
    pm.write_letor(last.replace(X=np.ascontiguousarray(last.X[:, :4])), paths[1])
    pm.write_letor(valid, tmp_path / "valid.txt")
    expected = copy.copy(RANKER).fit(pm.read(paths), valid=pm.read(tmp_path / "valid.txt"))
    found = copy.copy(RANKER).fit(paths, valid=tmp_path / "valid.txt", client=client)
    same(found, expected)


def test_a_base_model_and_few_queries(data, client):
    train, valid = data
    few, base = train.take([0, 1]), pm.MART(n_trees=2, n_leaves=3, min_docs=2).fit(train)
    ranker = pm.RCRank(n_trees=3, max_depth=2)
    expected = copy.copy(ranker).fit(few, valid=valid.take([0]), base_model=base)
    found = copy.copy(ranker).fit(few, valid=valid.take([0]), base_model=base, client=client)
    same(found, expected)
    assert found.predict(valid).tolist() == expected.predict(valid).tolist()


def test_what_cannot_be_learnt_is_refused_in_one_line(data, client, tmp_path):
    train, _ = data
    flat = train.replace(y=np.ones_like(train.y))
    with pytest.raises(NothingToLearnError, match="all labels of each query are equal"):
        pm.LambdaMART(n_trees=2).fit(flat, client=client)
    with pytest.raises(InputError, match="McRank cannot be trained on a cluster"):
        pm.McRank(n_trees=2).fit(train, client=client)
    with pytest.raises(InputError, match="with warm_start"):
        pm.MART(warm_start=True).fit(train, client=client)
    with pytest.raises(InputError, match="no file of this pattern"):
        pm.MART().fit(str(tmp_path / "*.txt"), client=client)
    with pytest.raises(InputError, match="no such file"):
        pm.MART().fit(str(tmp_path / "nothing.txt"), client=client)
    with pytest.raises(InputError, match="name of a column"):
        pm.MART().fit([tmp_path / "a.txt"], sample_weight=[1.0], client=client)
    with pytest.raises(InputError, match="above max_grade"):
        pm.LambdaMART(measure="err(max_grade=1)@5").fit(train, client=client)


def test_ctrl_c_keeps_what_is_learnt(data, client, monkeypatch):
    train, valid = data
    done = ClusterTraining._done

    def interrupted(self, futures, addresses):
        if not self._is_interrupted:
            while len(self.trees) < 3 and not all(future.done() for future in futures):
                time.sleep(0.01)
            if len(self.trees) >= 3:
                raise KeyboardInterrupt
        done(self, futures, addresses)

    monkeypatch.setattr(ClusterTraining, "_done", interrupted)
    ranker = pm.LambdaMART(n_trees=5000, learning_rate=0.1, n_leaves=5, min_docs=3, early_stopping=None)
    with pytest.warns(UserWarning, match="interrupted: keeping tree"):
        ranker.fit(train, valid=valid, client=client)
    n_grown = len(ranker.evals_["valid"])
    assert ranker.interrupted_
    assert 3 <= n_grown < 5000
    expected = pm.LambdaMART(n_trees=n_grown, n_leaves=5, min_docs=3, early_stopping=None)
    expected.fit(train, valid=valid)
    ranker.interrupted_ = False
    same(ranker, expected)


@contextlib.contextmanager
def worker_processes(scheduler, count):
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-nanny", "--no-dashboard"]
    started = [
        subprocess.Popen([*command, "--nthreads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(count)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def kill_later(trainings, process):
    """Kill a process as soon as its training has three trees; the list will tell when that was."""
    times = []

    def wait():
        while not trainings or len(trainings[0].trees) < 3:
            time.sleep(0.005)
        times.append(time.monotonic())
        os.kill(process.pid, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()
    return times


@pytest.mark.slow
def test_killed_workers(data, monkeypatch):
    train, valid = data
    trainings = []
    begin = ClusterTraining.__init__
    monkeypatch.setattr(
        ClusterTraining, "__init__", lambda self, *given: (begin(self, *given), trainings.append(self))[0]
    )
    ranker = pm.LambdaMART(n_trees=40, n_leaves=5, min_docs=3, query_fraction=0.8, early_stopping=None)
    expected = copy.copy(ranker).fit(train, valid=valid)
    monkeypatch.setattr(fit, "_PATIENCE_SECONDS", 3.0)
    with workers(0) as client, worker_processes(client.scheduler.address, 3) as processes:
        client.wait_for_workers(3, timeout=120)
        # One of three: the others go on, to the same model.
        kill_later(trainings, processes[0])
        with pytest.warns(UserWarning, match=r"worker.* lost.*the others go on from tree \d+"):
            found = copy.copy(ranker).fit(train, valid=valid, client=client)
        same(found, expected)
        # Both that are left: one line, soon.
        trainings.clear()
        times = [kill_later(trainings, process) for process in processes[1:]]
        ranker.n_trees = 100_000
        with (
            pytest.raises(ClusterError, match=r"no worker after \d+ trees"),
            pytest.warns(UserWarning, match="lost"),
        ):
            ranker.fit(train, valid=valid, client=client)
        assert time.monotonic() - times[0][0] < 30
        assert not hasattr(ranker, "n_features_in_")
