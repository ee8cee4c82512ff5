import pathlib

import numpy as np
import pytest

from pomona._machine import PeakMemory, available_memory, machine


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
