from __future__ import annotations

import numpy as np
import pytest

from pomona.data.taken_rows import TakenRows


def test_rows_are_those_of_the_table_in_the_order_asked_for() -> None:
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    rows = np.array([3, 0, 2])
    taken = TakenRows(X, rows)
    assert taken.shape == (len(taken), 3) == (3, 3)
    assert taken.dtype == np.float32
    assert np.asarray(taken).tolist() == X[rows].tolist()
    assert taken[1:].tolist() == X[[0, 2]].tolist()
    assert taken[np.array([2, 0])].tolist() == X[[2, 3]].tolist()


def test_all_rows_are_copied_once_unless_a_copy_is_asked_for() -> None:
    taken = TakenRows(np.arange(6, dtype=np.float32).reshape(3, 2), np.array([1, 2, 0]))
    assert np.asarray(taken) is np.asarray(taken)
    own = np.array(taken)
    own[:] = 7
    assert np.asarray(taken).tolist() == [[2, 3], [4, 5], [0, 1]]
    assert np.asarray(taken).flags.writeable
    taken.source.flags.writeable = False
    assert not np.asarray(TakenRows(taken.source, taken.rows)).flags.writeable


def test_a_copy_of_all_rows_goes_to_the_disk_where_memory_has_no_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path))
    monkeypatch.setenv("POMONA_MEMORY", "1")
    X = np.arange(6 << 20, dtype=np.float32).reshape(-1, 4)
    rows = np.random.default_rng(0).permutation(len(X))
    copy = np.asarray(TakenRows(X, rows))
    assert not copy.flags.owndata
    assert (copy == X[rows]).all()
