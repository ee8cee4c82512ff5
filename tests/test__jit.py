import ast
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from pomona import _jit
from pomona._jit import address_of, call, kernel, n_threads, over_chunks, threads, type_of, types


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
    files = "is_first_run('measures/position.py'), is_first_run('trees/grower.py')"
    asked = f"from pomona._jit import is_first_run; print({files})"
    answer = subprocess.run([sys.executable, "-c", asked], env=environment, check=True, capture_output=True)
    assert answer.stdout.split() == [b"False", b"True"]
    stamps = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nbc")}
    assert stamps
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nbc")} == stamps


def test_a_kernel_is_compiled_again_when_one_that_it_calls_changes():
    package = Path(_jit.__file__).parent
    behind = _jit._files_behind(package / "objectives" / "_lambda_kernels.py")
    names = {path.relative_to(package).as_posix() for path in behind}
    assert {"_jit.py", "objectives/_lambda_kernels.py", "measures/closed_form.py"} <= names
    assert "errors.py" not in names


def test_kernels_see_only_what_their_digest_covers():
    """A constant of a file without kernels could change unseen."""
    package = Path(_jit.__file__).parent
    for path in package.rglob("*.py"):
        if _jit._KERNEL.search(path.read_bytes()):
            module = importlib.import_module(
                ".".join(("pomona", *path.relative_to(package).with_suffix("").parts))
            )
            imported = {
                alias.asname or alias.name: node.module
                for node in ast.parse(path.read_bytes()).body
                if isinstance(node, ast.ImportFrom) and node.module != "pomona._jit"
                for alias in node.names
            }
            for dispatcher in vars(module).values():
                python = getattr(dispatcher, "py_func", None)
                if python is None or python.__module__ != module.__name__:
                    continue
                for name in set(python.__code__.co_names) & set(imported):
                    home = package.joinpath(*imported[name].split(".")[1:]).with_suffix(".py")
                    assert _jit._KERNEL.search(home.read_bytes()), f"{path.name}: {name} of {home.name}"


def test_kernels_of_old_sources_are_forgotten(tmp_path):
    for name, age_days in (("old", 31), ("new", 1)):
        inner = tmp_path / name / "numba_made"
        inner.mkdir(parents=True)
        (inner / "kernel.nbi").touch()
        os.utime(tmp_path / name, times=(time.time() - age_days * 86400,) * 2)
    _jit._forget_old(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


_FIT = "from pomona.measures.parse import measure; print(measure('ndcg').of_query([2, 1]))"


@pytest.mark.parametrize("case", ["open", "no directory"])
def test_a_cache_that_cannot_be_trusted_or_used_is_not_used(tmp_path, case):
    """Loading a kernel runs code: never from where others can write. Nothing is left behind either."""
    cache, temporary = tmp_path / "cache", tmp_path / "temporary"
    temporary.mkdir()
    if case == "open":
        cache.mkdir()
        cache.chmod(0o777)
    else:
        cache.write_text("a file")
    environment = {**os.environ, "POMONA_CACHE": str(cache), "TMPDIR": str(temporary)}
    ran = subprocess.run(
        [sys.executable, "-c", _FIT], env=environment, check=True, capture_output=True, text=True
    )
    assert ran.stdout == "1.0\n"
    assert "every process compiles its own kernels" in ran.stderr
    assert not list(temporary.iterdir())
    assert not list(tmp_path.rglob("*.nb?"))


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
        "print(double(np.ones(1, sys.argv[1])).dtype)\n"
    )
    kinds = ["float32", "float64", "int32", "int64"]
    environment = {**os.environ, "POMONA_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        running = [
            subprocess.Popen(
                [sys.executable, tmp_path / "doubled.py", kind],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for kind in kinds
        ]
        assert [process.communicate()[0].strip() for process in running] == kinds
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
