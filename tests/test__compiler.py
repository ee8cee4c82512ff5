"""Kernels compiled our way do what their Python does, leave nothing behind, and disturb nobody."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import pomona as pm
from pomona._jit import kernel


@kernel
def _largest(values, least):
    return max(values.max(), least)


@kernel
def _views(values, first):
    rest = values[first:]
    pair = rest, values
    total = 0.0
    for row in pair:
        for i in range(row.shape[0]):
            total += row[i, 0] + row[i].size + row.T[0, i]
    return total


@kernel
def _scratch(values, times):
    total = 0.0
    for _ in range(times):
        room = np.empty(values.size)
        for i in range(values.size):
            room[i] = _largest(values, values[i])
        total += room[0] + np.sort(room)[-1]
    return total


@kernel
def _picked(values, places):
    return values[places].sum() + values[values > 1].sum() + (values * 2 - values).sum()


@kernel
def _given_back(values, first):
    part = values[first:]
    return part, values, np.arange(first)


@kernel
def _tail(values, first):
    return values[first:]


@kernel
def _last_of_tail(values, first):
    return _tail(values, first)[-1]


@kernel
def _closure(values, first):
    def square(x):
        return x * x + first

    return sum([square(value) for value in values]) + np.array([1.0, 2.0])[first]


@kernel
def _fields(records, name):
    records["count"][0] += 1
    return records[0]["count"] + len(name)


@kernel
def _branches(values, first):
    """Variables that several blocks use: of an array that is made, of iterations, of views, assigned late."""
    room, total = np.zeros(3), 0.0
    for i in range(values.size):
        tail = values[i:]
        if values[i] > first:
            twice = tail[0] * 2
            for j in range(tail.size):
                if j == first:
                    continue
                room[j % 3] += tail[j] + twice
            last = tail
        elif i > 0:
            last = room
        else:
            continue
        total += last[0] + tail.size
    return total + room.sum()


@kernel(compact=True)
def _compact(values, first):
    room = np.zeros(values.size)
    for i in range(first, values.size):
        room[i] = values[i] * values[i - 1] + 0.1
    return _largest(room, 0.0) + room.sum()


@kernel
def _refused(values, first):
    if first > values.size:
        raise ValueError("too far")
    return values[first]


TABLE, ROW = np.arange(12.0).reshape(4, 3), np.arange(5.0)
CASES = {
    "largest": (_largest, ROW, 2.5),
    "views": (_views, TABLE, 1),
    "scratch": (_scratch, ROW, 3),
    "picked": (_picked, ROW, np.array([3, 0])),
    "given back": (_given_back, ROW, 2),
    "tail": (_last_of_tail, ROW, 2),
    "closure": (_closure, ROW, 1),
    "fields": (_fields, np.zeros(2, [("count", np.int64), ("share", np.float32)]), "ab"),
    "branches": (_branches, ROW, 1),
    "compact": (_compact, ROW, 1),
    "refused": (_refused, ROW, 2),
}


def _parts(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("case", CASES)
def test_a_kernel_gives_what_its_python_gives_and_owns_nothing_afterwards(case):
    function, *arguments = CASES[case]
    copies = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
    for theirs, ours in zip(_parts(function.py_func(*copies)), _parts(function(*arguments)), strict=True):
        np.testing.assert_array_equal(theirs, ours)
    gc.collect()
    _nrt_python.memsys_enable_stats()
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]
    counts, before = [sys.getrefcount(one) for one in arrays], rtsys.get_allocation_stats()
    for _ in range(10):
        function(*arguments)
    after = rtsys.get_allocation_stats()
    assert [sys.getrefcount(one) for one in arrays] == counts
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free


def test_an_array_given_back_lives_on():
    part, whole, made = _given_back(np.arange(1000.0), 990)
    np.empty(1000).fill(7)
    assert part.tolist() == list(range(990, 1000))
    assert whole[5] == 5
    assert made[-1] == 989


def test_an_error_is_raised():
    with pytest.raises(ValueError, match="too far"):
        _refused(ROW, 9)


def test_only_who_makes_arrays_counts_their_owners():
    _nrt_python.memsys_enable_stats()
    for function, table, counts in ((_views, TABLE, 0), (_scratch, ROW, 1)):
        function(table, 1)
        before = rtsys.get_allocation_stats().mi_alloc
        function(table, 1)
        assert bool(rtsys.get_allocation_stats().mi_alloc - before) == counts


UNKNOWN = """
import sys
sys.modules["pomona._compiler"] = None  # as where a later numba has other names
import pomona as pm
from pomona import _jit
assert not _jit.has_known_numba
data = pm.Dataset([[1.0], [2.0], [3.0]], [0, 2, 1], [7, 7, 7])
print(pm.evaluate(data, [1.0, 2.0, 3.0], "ndcg@2")["ndcg@2"])
"""


def test_a_numba_that_is_not_known_compiles_as_it_does_by_itself(tmp_path):
    alone = {**os.environ, "POMONA_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", UNKNOWN], capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stderr
    data = pm.Dataset([[1.0], [2.0], [3.0]], [0, 2, 1], [7, 7, 7])
    assert float(done.stdout) == pm.evaluate(data, [1.0, 2.0, 3.0], "ndcg@2")["ndcg@2"]
