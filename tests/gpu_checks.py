"""Checks of kernels for a GPU, in processes of their own: in Numba's simulator, and on a GPU if there is one.

A check is a function of a test file that imports what it needs by itself. `everywhere` makes a test of it.
"""

import atexit
import json
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from pomona.trees.device import _problem

# One check after another: to load what all of them need takes longer than most. The simulator's threads are
# Python's, and one of them does nothing but look whether the others wait: it must not keep them waiting long.
_SERVE = """
import json, runpy, sys, traceback
answers, sys.stdout = sys.stdout, sys.stderr
sys.setswitchinterval(1e-4)
for line in sys.stdin:
    file, name = json.loads(line)
    try:
        runpy.run_path(file)[name]()
        problem = None
    except BaseException:
        problem = traceback.format_exc()
    print(json.dumps(problem), file=answers, flush=True)
"""


@cache
def _there_is_no_gpu():
    return _problem()


@cache
def _server(where):
    """The process that does the checks there, until this one ends."""
    more = {"NUMBA_ENABLE_CUDASIM": "1"} if where == "simulator" else {}
    environment = {**os.environ, **more, "PYTHONPATH": os.pathsep.join(sys.path)}
    # The simulator's integers warn where those of a GPU wrap around.
    command = [sys.executable, "-W", "ignore", "-c", _SERVE]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    atexit.register(process.communicate)
    return process


def everywhere(file, name):
    @pytest.mark.parametrize("where", ["simulator", "gpu"])
    def test(where):
        if where == "gpu" and (reason := _there_is_no_gpu()):
            pytest.skip(reason)
        server = _server(where)
        print(json.dumps([file, name]), file=server.stdin, flush=True)
        answer = server.stdout.readline()
        if problem := json.loads(answer) if answer else "the process ended":
            _server.cache_clear()  # the next check has a process that nothing happened to
            pytest.fail(problem[-3000:], pytrace=False)

    return test


def assert_same_bits(one, other):
    """Two records, of arrays of the same bits."""
    for name, array in vars(one).items():
        found = getattr(other, name)
        if array is None:
            assert found is None, name
            continue
        assert array.dtype == found.dtype, name
        assert array.tobytes() == found.tobytes(), (name, array, found)


def compare_trees(seed, *, oblivious=False, bag=None, n_features=None, trees=2, **rules):
    """Grow the same trees on the CPU and on the GPU; returns the last."""
    from pomona._cuda import SIMULATED
    from pomona.trees.binning import Bins
    from pomona.trees.cuda.grower import CUDA_GROWTHS
    from pomona.trees.grow_leafwise import LeafwiseGrower
    from pomona.trees.grow_oblivious import ObliviousGrower
    from pomona.trees.grower import GrowthRules

    n, width = (40, n_features or 3) if SIMULATED else (100_000, n_features or 40)
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, width)) * random.choice([1, 3, 50], width)).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 0] = 1  # constant
    if (signs := rules.get("monotone")) is not None:
        rules["monotone"] = tuple(signs[f % len(signs)] for f in range(width))
    if not SIMULATED:
        rules = {name: {"n_leaves": 31, "max_depth": 6}.get(name, value) for name, value in rules.items()}
    bins, limits = Bins.of(X), GrowthRules(**rules)
    cpu = (ObliviousGrower if oblivious else LeafwiseGrower)(bins, bins.codes(X), limits)
    gpu = CUDA_GROWTHS["oblivious" if oblivious else "leafwise"](bins, X, limits)
    draws = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(trees):
        gradient, hessian = random.normal(size=n).astype(np.float32), random.random(n).astype(np.float32)
        rows = None if bag is None else np.sort(random.choice(n, int(bag * n))).astype(np.int32)
        tree = cpu.grow(gradient, hessian, rows, draws[0])
        assert_same_bits(tree, gpu.grow(gradient, hessian, rows, draws[1]))
    return tree
