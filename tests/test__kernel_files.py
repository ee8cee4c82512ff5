import ast
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pomona import _kernel_files


def test_kernels_are_kept_for_the_next_process(tmp_path):
    code = "from pomona.measures.parse import measure; print(measure('ndcg').of_query([2, 1]))"
    environment = {**os.environ, "POMONA_CACHE": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    files = "is_first_run('measures/position.py'), is_first_run('trees/grower.py')"
    asked = f"from pomona._kernel_files import is_first_run; print({files})"
    answer = subprocess.run([sys.executable, "-c", asked], env=environment, check=True, capture_output=True)
    assert answer.stdout.split() == [b"False", b"True"]
    stamps = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nbc")}
    assert stamps
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nbc")} == stamps


def test_a_kernel_is_compiled_again_when_one_that_it_calls_changes():
    package = Path(_kernel_files.__file__).parent
    behind = _kernel_files._files_behind(package / "objectives" / "_lambda_kernels.py")
    names = {path.relative_to(package).as_posix() for path in behind}
    assert {"_compiler.py", "_jit.py", "_quickly.py"} <= names
    assert {"objectives/_lambda_kernels.py", "measures/closed_form.py"} <= names
    assert "errors.py" not in names


def test_kernels_see_only_what_their_digest_covers():
    """A constant of a file without kernels could change unseen."""
    package = Path(_kernel_files.__file__).parent
    for path in package.rglob("*.py"):
        if _kernel_files._KERNEL.search(path.read_bytes()):
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
                    assert _kernel_files._KERNEL.search(home.read_bytes()), (
                        f"{path.name}: {name} of {home.name}"
                    )


def test_kernels_of_old_sources_are_forgotten(tmp_path, monkeypatch):
    """Only what numba made for us, in folders with our names: neither other files nor links to elsewhere."""
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    home, digest = tmp_path / "cache" / "pomona-kernels", "0123456789abcdef"
    kernel = f"trees_{digest * 2}{digest[:8]}/grower.fit-3.py311.nbi"
    folders = {"old": 31, "new": 1, "shared": 31, "mine": 31}
    for name in folders:
        file = home / f"{name}-{digest}" / kernel
        file.parent.mkdir(parents=True)
        file.write_bytes(b"precious" if name == "mine" else b"\x80\x04 pickled")
    (home / f"shared-{digest}" / "mine.txt").write_text("precious")
    (home / "notes").mkdir()
    (home / "notes" / "mine.txt").write_text("precious")
    (home / "linked").symlink_to(home / f"new-{digest}")
    for name, age in folders.items():
        os.utime(home / f"{name}-{digest}", times=(time.time() - age * 86400,) * 2)
    os.utime(home / "notes", times=(0, 0))
    _kernel_files._forget_old(home)
    left = {file.relative_to(home).as_posix() for file in home.rglob("*") if file.is_file()}
    ours, mine = f"new-{digest}/{kernel}", f"mine-{digest}/{kernel}"
    assert left - {f"linked/{kernel}"} == {ours, mine, f"shared-{digest}/mine.txt", "notes/mine.txt"}
    assert not (home / f"old-{digest}").exists()


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
