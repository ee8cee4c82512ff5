"""Data larger than memory: read, binned and learnt from within a budget, to the same bits as without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pomona._cache import cache_directory

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="memory that is not mapped is known where the kernel tells it"
)

N_DOCS, N_FEATURES = 120_000, 200
ROOM = 120 << 20
"""What may be held beyond what the process holds when it begins. Features take 96 MB, their text 130."""

# A small set first: what is compiled, or loaded when it is first used, does not count. Memory is looked at
# every few milliseconds; what takes a hundred megabytes cannot come and go in between.
PROGRAM = """
import hashlib, json, os, re, sys, threading, time
import pomona as pm

def held():
    return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10

def fitted(data):
    return pm.LambdaMART(n_trees=3, n_leaves=15, growth="leafwise", seed=1).fit(data)

path, cache, room = sys.argv[1], sys.argv[2] == "True", int(sys.argv[3])
fitted(pm.simulate(30, n_features=20))
before = peak = held()
if room:
    os.environ["POMONA_MEMORY"] = str(before + room)

def watch():
    global peak
    while True:
        peak = max(peak, held())
        time.sleep(0.002)

threading.Thread(target=watch, daemon=True).start()
model = fitted(pm.read_letor(path, cache=cache)).model_
bits = hashlib.sha256(b"".join(array.tobytes() for array in model.arrays().values())).hexdigest()
print(json.dumps({"added": peak - before, "bits": bits}))
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(5)
    values = random.integers(0, 40, (1000, N_FEATURES)).tolist()
    rows = [" ".join(f"{j}:{value}" for j, value in enumerate(row, 1)) for row in values]
    path = tmp_path_factory.mktemp("large") / "train.txt"
    with path.open("w") as file:
        for i in range(N_DOCS):
            file.write(f"{values[i % 1000][0] // 10} qid:{i // 100} {rows[i * 7 % 1000]}\n")
    return path


def run(path: Path, room: int, cache: bool, folder: Path) -> dict[str, Any]:
    environment = {**os.environ, "POMONA_THREADS": "2", "POMONA_CACHE": str(folder)}
    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM, path, str(cache), str(room)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(shown.stdout)
    return result


def test_a_forest_of_data_larger_than_memory_keeps_to_its_budget(text: Path, tmp_path: Path) -> None:
    (tmp_path / "kernels").symlink_to(cache_directory() / "kernels")  # a cache of its own, but compiled
    free = run(text, 0, False, tmp_path)
    assert free["added"] > 2 * ROOM  # else the set would be too small to tell
    for cache in (False, True):
        bounded = run(text, ROOM, cache, tmp_path)
        assert bounded["added"] < ROOM
        assert bounded["bits"] == free["bits"]


# Whoever runs the kernel, another thread or this one, 60 MB are not enough to rank a million documents.
LIMITED = """
import re, resource
import numpy as np
from pomona._jit import threads
from pomona._team import rounds
from pomona.objectives.lambdas import LambdaObjective

random = np.random.default_rng(0)

def gradients(sizes):
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    objective = LambdaObjective("ndcg@10", random.integers(0, 3, ptr[-1]), ptr)
    out = np.full((2, ptr[-1]), 7, np.float32)
    return lambda: objective.gradients(random.normal(size=ptr[-1]), *out), out

with threads(THREADS), rounds():
    gradients([10] * 240)[0]()
    run, out = gradients([10] * 240 + [1_000_000])
    used = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
    resource.setrlimit(resource.RLIMIT_AS, (used + (60 << 20),) * 2)
    try:
        run()
    except MemoryError:
        print("MemoryError")
    else:
        print((out == 7).sum(), "not written")
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_that_runs_out_in_a_kernel_is_an_error_whoever_runs_it(threads: int) -> None:
    program = [sys.executable, "-c", LIMITED.replace("THREADS", str(threads))]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout == "MemoryError\n"
