import subprocess
import sys

from pomona._threads import n_threads, threads


def test_threads_are_restored(monkeypatch):
    monkeypatch.setenv("POMONA_THREADS", "3")
    assert n_threads() == 3
    with threads(1):
        assert n_threads() == 1
    assert n_threads() == 3
    first, second = threads(1), threads(2)  # of two workers in one process, say
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_threads() == 2
    second.__exit__(None, None, None)
    assert n_threads() == 3


def test_to_count_them_loads_no_compiler():
    code = "import sys, pomona._threads, pomona._pool, pomona.report.draw; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
