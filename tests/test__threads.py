import os
import subprocess
import sys

import pytest

from pomona import _threads
from pomona._threads import n_threads, threads
from pomona.errors import InputError


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


def test_set_to_nothing_is_not_set(monkeypatch):
    monkeypatch.delenv("POMONA_THREADS", raising=False)
    default = n_threads()
    monkeypatch.setenv("POMONA_THREADS", "")
    assert n_threads() == default


@pytest.mark.parametrize("asked", ["four", "-2", "1.5", "²", "0", " ", "+3", "1e1", "4_0", "99999999"])
def test_a_number_that_is_none_is_refused_by_name(monkeypatch, asked):
    monkeypatch.setenv("POMONA_THREADS", asked)
    with pytest.raises(InputError, match="POMONA_THREADS") as caught:
        n_threads()
    assert repr(asked) in str(caught.value)
    with threads(2):
        assert n_threads() == 2  # nobody asks the environment


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", None, True, 10**9])
def test_no_threads_are_none(count):
    with pytest.raises(InputError, match="number of threads"):
        threads(count)


def test_a_command_refuses_it_in_one_line(tmp_path):
    (tmp_path / "t.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.1\n")
    shown = subprocess.run(
        [sys.executable, "-m", "pomona", "stats", str(tmp_path / "t.txt")],
        env={**os.environ, "POMONA_THREADS": "four"},
        capture_output=True,
        text=True,
    )
    assert shown.returncode != 0
    assert "POMONA_THREADS" in shown.stderr
    assert "Traceback" not in shown.stderr


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
