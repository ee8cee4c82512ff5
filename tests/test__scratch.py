from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pomona import _scratch
from pomona._scratch import fits_memory, large_zeros
from pomona.errors import InputError


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("POMONA_MEMORY", "1")
    return tmp_path / "cache"


def test_large_arrays_lie_in_a_file_without_a_name(cache: Path) -> None:
    array = large_zeros((5, 1 << 22), np.uint8)
    assert (array.shape, array.dtype) == ((5, 1 << 22), np.uint8)
    assert not array.any()
    array[4, -1] = 7
    assert array.sum() == 7
    if os.name == "posix":
        assert list((cache / "pomona-parsed").iterdir()) == []
    assert large_zeros(3, np.int64).tolist() == [0, 0, 0]


def test_what_fits_into_memory_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_scratch, "memory_room", lambda: 100 << 20)
    assert fits_memory(50 << 20)
    assert not fits_memory(51 << 20)
    assert large_zeros(40 << 20, np.uint8).flags.owndata


def test_a_disk_without_room_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"fit neither into memory nor .*No space left.*POMONA_CACHE"):
        large_zeros(1 << 30, np.uint8)
