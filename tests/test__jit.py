import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from pomona._jit import address_of, call, kernel, over_chunks, threads, type_of, types
from pomona._jit import threads as n_threads_of
from pomona._team import rounds, team_board


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


def test_an_error_in_any_thread_ends_the_work_of_all():
    """Of the 16 ranges of two threads two are begun: the caller waits in its first for the error."""
    begun, has_failed, caller = [], threading.Event(), threading.current_thread()

    def work(first, last):
        begun.append(first)
        if threading.current_thread() is caller:
            has_failed.wait(timeout=60)
            time.sleep(0.05)
        else:
            has_failed.set()
            raise ValueError("seven")

    with n_threads_of(2), pytest.raises(ValueError, match="seven"):
        over_chunks(work, 1000)
    assert len(begun) == 2


def test_threads_that_ask_at_once_leave_no_threads_behind():
    def left():
        return {thread for thread in threading.enumerate() if thread.name.startswith("pomona_")}

    def use(count, barrier):
        barrier.wait(timeout=60)
        with rounds():
            for k in range(2):
                with n_threads_of(2 + (count + k) % 3):
                    over_chunks(lambda first, last: None, 100)
                    with team_board(2 + (count + k) % 3):
                        pass

    before = left()
    for _ in range(3):
        barrier = threading.Barrier(4)
        users = [threading.Thread(target=use, args=(k, barrier)) for k in range(4)]
        for user in users:
            user.start()
        for user in users:
            user.join()
    patience = time.monotonic() + 60
    while len(left() - before) > 6 and time.monotonic() < patience:
        time.sleep(0.01)
    assert len(left() - before) <= 6  # three that join in, three of the last team; all others went home


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # the very thing tested
def test_a_forked_child_makes_its_own_threads():
    with threads(2):
        over_chunks(lambda first, last: None, 100)
        child = os.fork()
        if child == 0:
            over_chunks(lambda first, last: None, 100)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


def test_a_full_disk_costs_only_the_cache(monkeypatch):
    def full(*_):
        tried.append(1)
        raise OSError(28, "No space left on device")

    @kernel
    def add(a, b):
        return a + b

    tried = []
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    assert add(1, 2) == 3
    assert tried


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("lock", [global_compiler_lock, ffi.lib._lock._lock], ids=["numba", "llvm"])
def test_a_child_forked_while_a_thread_compiles_can_compile(lock):
    held, may_go = threading.Event(), threading.Event()

    def compile_something():
        lock.acquire()
        held.set()
        may_go.wait(0.3)
        lock.release()

    thread = threading.Thread(target=compile_something)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a deadlock ends here
        lock.acquire()
        os._exit(0)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_versions_of_a_kernel_compiled_at_once_are_all_kept(tmp_path):
    """Numba alone gives versions that two processes save at once the same file."""
    (tmp_path / "doubled.py").write_text(
        "import sys, time, numpy as np\n"
        "from pomona._jit import kernel\n"
        "@kernel\ndef double(x):\n    return x + x\n"
        "save = double._cache._cache_file._save_index\n"
        "double._cache._cache_file._save_index = lambda index: (time.sleep(0.5), save(index))\n"
        "for kind in sys.argv[1:]:\n    print(double(np.ones(1, kind)).dtype)\n"
    )
    kinds = ["float32", "float64", "int32", "int64"]
    environment = {**os.environ, "POMONA_CACHE": str(tmp_path / "cache")}
    for at_once in [[kind] for kind in kinds], [kinds]:  # compiled one by one, then loaded by one process
        running = [
            subprocess.Popen(
                [sys.executable, tmp_path / "doubled.py", *some],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for some in at_once
        ]
        assert [process.communicate()[0].split() for process in running] == at_once
        assert len(list((tmp_path / "cache").rglob("*.nbc"))) == len(kinds)


@kernel(by_address=True)
def _put(place, numbers, amount):
    numbers[place] += amount


@kernel
def _put_twice(address, numbers):
    call(address, 1, numbers, 2.5)
    call(address, np.int64(2), numbers, 4.0)


def test_a_kernel_is_called_by_its_address():
    numbers = np.zeros(3)
    address = address_of(_put, types.int64, type_of(numbers), types.float64)
    assert address == address_of(_put, types.int64, type_of(numbers), types.float64)
    _put_twice(address, numbers)
    assert numbers.tolist() == [0.0, 2.5, 4.0]
