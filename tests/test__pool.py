"""Each test's worker calls functions of the standard library, which every interpreter finds."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pomona._pool import Pool, Worker, start_early, thread_counts


def is_gone(pid, patience=60.0):
    until = time.monotonic() + patience
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def worker():
    worker = Worker({"FRUIT": "apple"})
    yield worker
    worker.close()


def test_calls_are_made_one_after_the_other_in_one_other_process(worker):
    pid = worker.call(os.getpid)
    assert pid == worker.call(os.getpid) == worker.process.pid != os.getpid()
    assert worker.call(divmod, 7, 3) == (2, 1)
    assert worker.call(os.getenv, "FRUIT") == "apple"
    worker.close()
    assert is_gone(pid, patience=0)
    with pytest.raises(ChildProcessError, match="was closed"):
        worker.call(os.getpid)


def test_large_arguments_and_answers_go_through(worker):
    assert worker.call(bytes, 10_000_000) == bytes(10_000_000)
    assert worker.call(len, bytes(10_000_000)) == 10_000_000


def test_what_a_function_prints_does_not_come_between_and_there_is_nothing_to_read(worker):
    assert worker.call(print, "hello") is None
    assert worker.call(os.system, "echo hello") == 0
    assert worker.call(os.read, 0, 5) == b""


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (os._exit, (3,), "its process ended with code 3"),
        (sys.exit, (4,), "its process ended with code 4"),
        (int, ("x",), "its process ended with code 1: ValueError: invalid literal"),
        (memoryview, (b"",), "its process ended with code 1: TypeError: cannot pickle"),
        (os.abort, (), "its process ended by SIGABRT"),
        (signal.raise_signal, (signal.SIGKILL,), "was killed, most likely because memory ran out"),
    ],
)
def test_a_process_that_dies_says_how_and_the_next_call_has_another(worker, function, arguments, expected):
    with pytest.raises(ChildProcessError, match=expected):
        worker.call(function, *arguments)
    assert worker.call(divmod, 7, 3) == (2, 1)


def test_a_call_past_its_limit_is_ended_with_all_that_it_started(worker):
    child = worker.call(os.posix_spawn, "/bin/sleep", ["sleep", "1000"], {})
    with pytest.raises(TimeoutError):
        worker.call(time.sleep, 1000, time_limit=0.2)
    assert is_gone(child)
    assert worker.call(divmod, 7, 3, time_limit=1e300) == (2, 1)


def test_ctrl_c_in_the_terminal_does_not_reach_a_worker(worker):
    assert os.getsid(worker.call(os.getpid)) != os.getsid(0)


def test_a_worker_ends_with_the_process_that_started_it_even_in_the_middle_of_a_call():
    code = "import os, threading, time; from pomona._pool import Worker; worker = Worker({})\n"
    code += "print(worker.call(os.getpid), flush=True); worker.call(time.sleep, 1000)"
    starter = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(starter.stdout.readline())
    assert not is_gone(pid, patience=0)
    starter.kill()
    starter.communicate()
    assert is_gone(pid)


def test_a_pool_shares_calls_among_its_workers_and_ends_them():
    with Pool(2, {}, os.getpid) as pool:
        futures = [pool.submit(Worker.call, os.getpid) for _ in range(8)]
        pids = {future.result() for future in futures}
        assert pids <= {worker.process.pid for worker in pool.workers if worker.process}
        late = [pool.submit(Worker.call, time.sleep, 1000) for _ in range(3)]
    assert all(is_gone(pid, patience=0) for pid in pids)
    assert all(future.cancelled() or isinstance(future.exception(), ChildProcessError) for future in late)


def test_workers_that_were_started_early_are_those_of_the_next_pool_of_their_environment():
    start_early(1, {"FRUIT": "pear"}, "json")
    with Pool(1, {"FRUIT": "apple"}, os.getpid) as other:
        assert other.submit(Worker.call, os.getenv, "FRUIT").result() == "apple"
    with Pool(2, {"FRUIT": "pear"}, os.getpid) as pool:
        early, late = pool.workers
        assert early.call(eval, "'json' in __import__('sys').modules")
        assert not late.call(eval, "'json' in __import__('sys').modules")
        assert late.call(os.getenv, "FRUIT") == "pear"


def test_what_cannot_be_loaded_early_does_not_hinder_the_pool():
    start_early(1, {"FRUIT": "plum"}, "no_such_module")
    with Pool(1, {"FRUIT": "plum"}, os.getpid) as pool:
        assert pool.submit(Worker.call, divmod, 7, 3).result() == (2, 1)


def test_every_library_is_given_the_same_number_of_threads():
    assert set(thread_counts(3).values()) == {"3"}
    assert {"POMONA_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"} <= thread_counts(3).keys()
