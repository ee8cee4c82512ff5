import subprocess
import sys

import pytest

from pomona import _threads
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


@pytest.fixture
def group(monkeypatch, tmp_path):
    """A control group, and its parent, on a machine of 64 cores."""
    folder = tmp_path / "pod"
    folder.mkdir()
    monkeypatch.delenv("POMONA_THREADS", raising=False)
    monkeypatch.setattr(_threads.os, "sched_getaffinity", lambda process: range(64), raising=False)
    monkeypatch.setattr(_threads, "control_groups", lambda controller, mount: [folder, tmp_path])
    monkeypatch.setattr(_threads, "_quota", _threads._quota.__wrapped__)
    return folder


@pytest.mark.parametrize(
    ("own", "outer", "count"),
    [
        ("max 100000", "max 100000", 64),
        ("200000 100000", "max 100000", 2),
        ("150000 100000", None, 2),
        ("10000 100000", None, 1),
        ("400000 100000", "300000 100000", 3),
        ("9900000 100000", None, 64),
        ("", None, 64),
    ],
)
def test_a_container_that_may_use_fewer_cores(group, own, outer, count):
    (group / "cpu.max").write_text(f"{own}\n")
    if outer is not None:
        (group.parent / "cpu.max").write_text(f"{outer}\n")
    assert n_threads() == count


@pytest.mark.parametrize(("quota", "count"), [(-1, 64), (250_000, 3), (50_000, 1)])
def test_a_container_of_an_older_kernel(group, quota, count):
    (group / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (group / "cpu.cfs_period_us").write_text("100000\n")
    assert n_threads() == count


def test_to_count_them_loads_no_compiler():
    code = "import sys, pomona._threads, pomona._pool, pomona.report.draw; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
