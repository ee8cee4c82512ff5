import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pomona._jit import kernel, n_threads, over_chunks, threads


@kernel
def _double(first, last, values, out):
    for i in range(first, last):
        out[i] = 2 * values[i]


@kernel(fastmath=True)
def _total(values):
    total = np.float32(0)
    for i in range(values.size):
        total += values[i]
    return total


def test_fast_sums_keep_nan_and_infinity():
    values = np.ones(1000, np.float32)
    assert _total(values) == 1000
    values[7] = np.inf
    assert _total(values) == np.inf
    values[500] = np.nan
    assert np.isnan(_total(values))


def test_chunks_cover_everything_once():
    for n in (0, 1, 7, 1000):
        for count in (1, 3):
            with threads(count):
                ranges = over_chunks(lambda first, last: (first, last), n)
            assert [i for first, last in ranges for i in range(first, last)] == list(range(n))


def test_a_kernel_runs_in_threads():
    values, out = np.arange(10_000.0), np.empty(10_000)
    with threads(4):
        over_chunks(_double, len(values), values, out)
    assert (out == 2 * values).all()


def test_an_error_in_a_thread_is_raised():
    def fail(first, last):
        raise ValueError(first)

    with threads(2), pytest.raises(ValueError):
        over_chunks(fail, 100)


def test_threads_are_restored(monkeypatch):
    monkeypatch.setenv("POMONA_THREADS", "3")
    assert n_threads() == 3
    with threads(1):
        assert n_threads() == 1
    assert n_threads() == 3


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # the very thing tested
def test_a_forked_child_makes_its_own_threads():
    with threads(2):
        over_chunks(lambda first, last: None, 100)
        child = os.fork()
        if child == 0:
            over_chunks(lambda first, last: None, 100)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


def test_kernels_are_kept_for_the_next_process(tmp_path):
    code = "from pomona.measures.parse import measure; print(measure('ndcg').of_query([2, 1]))"
    environment = {**os.environ, "POMONA_CACHE": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    asked = "from pomona._jit import is_first_run; print(is_first_run('position'), is_first_run('grower'))"
    answer = subprocess.run([sys.executable, "-c", asked], env=environment, check=True, capture_output=True)
    assert answer.stdout.split() == [b"False", b"True"]
    (directory,) = (tmp_path / "kernels").iterdir()
    compiled = list(Path(directory).rglob("*.nbc"))
    assert compiled
    stamps = {file: file.stat().st_mtime_ns for file in compiled}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    assert {file: file.stat().st_mtime_ns for file in Path(directory).rglob("*.nbc")} == stamps
