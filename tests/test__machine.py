import pathlib
import subprocess
import sys

import numpy as np
import pytest

from pomona import _machine
from pomona._machine import PeakMemory, available_memory, machine, memory_room, require_memory
from pomona.errors import InputError


@pytest.mark.parametrize("knows_peak", [True, False])
def test_the_peak_of_memory_starts_anew(knows_peak, monkeypatch):
    if not knows_peak:  # as outside of Linux
        monkeypatch.setattr(pathlib.Path, "write_text", lambda *_: (_ for _ in ()).throw(OSError))
    with PeakMemory() as memory:
        much = np.ones(20_000_000)
        much += 1
        del much
    assert 0.9 * 160e6 < memory.added < 320e6
    assert memory.process > memory.added
    with PeakMemory() as memory:
        pass
    assert 0 <= memory.added < 80e6


def test_there_is_some_memory():
    assert available_memory() > 10**6


def test_the_machine_in_words():
    assert "cores" in machine()


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("2GiB", 2 << 30),
        ("500MB", 500 * 10**6),
        ("1.5G", 15 * 10**8),
        ("4 kib", 4096),
        ("1000", 1000),
        ("7 b", 7),
        ("1TiB", 1 << 40),
    ],
)
def test_sizes_in_words(text, n_bytes):
    assert _machine._bytes_of(text) == n_bytes


@pytest.mark.parametrize("text", ["lots", "-1", "1e9", "GiB", "1 GiB 2", "nan", "1PB"])
def test_a_size_that_is_none_is_refused(text, monkeypatch):
    monkeypatch.setenv("POMONA_MEMORY", text)
    with pytest.raises(InputError, match=r"POMONA_MEMORY is .* expected a size such as 2GiB"):
        memory_room()


def test_the_budget_counts_what_the_process_holds(monkeypatch):
    monkeypatch.delenv("POMONA_MEMORY", raising=False)
    assert memory_room() == pytest.approx(0.8 * available_memory(), rel=0.2)
    monkeypatch.setenv("POMONA_MEMORY", "1")
    assert memory_room() == 0
    with pytest.raises(
        InputError, match=r"^a\.txt: reading it takes about 1 MiB of memory, and 0 MiB may be used"
    ):
        require_memory(1, "a.txt")
    require_memory(0, "a.txt")
    monkeypatch.setattr(_machine, "available_memory", lambda: 1 << 40)
    monkeypatch.setenv("POMONA_MEMORY", "64GiB")
    before = memory_room()
    much = np.ones(20_000_000)
    assert 150e6 < before - memory_room() < 300e6
    del much


@pytest.mark.parametrize("version", [2, 1])
def test_the_limit_of_a_container_is_kept(version, monkeypatch, tmp_path):
    limit, used = [("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current")][
        version - 1
    ]
    monkeypatch.setattr(_machine, "_CONTROL_GROUPS", [("none", str(tmp_path), limit, used)])
    (tmp_path / used).write_text("700000\n")
    (tmp_path / "memory.stat").write_text(
        "anon 1\ninactive_file 100000\nactive_file 200000\ntotal_active_file 9\n"
    )
    (tmp_path / limit).write_text("max\n")
    free = available_memory()
    assert free > 10**6
    (tmp_path / limit).write_text("1000000\n")
    assert available_memory() == 600000


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space as on Linux")
def test_the_limit_of_the_shell_is_kept():
    code = "from pomona._machine import available_memory; print(available_memory())"
    command = f"ulimit -v 2000000; exec {sys.executable} -c '{code}'"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert 0 < int(shown.stdout) < 2_000_000 * 1024
