from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pomona as pm
from pomona.data.concatenation import concatenated
from pomona.errors import InputError


@given(st.permutations(range(12)).map(np.array), st.lists(st.integers(1, 11), max_size=3))
def test_rows_end_to_end(order, cuts):
    """Parts of scattered rows, joined, are the rows as if they had come at once."""
    X, y, qid = np.arange(24.0).reshape(12, 2)[order], order % 3, np.array(["a", "b", "c"])[order % 3]
    ids = [f"d{i}" for i in order]
    bounds = [0, *sorted(cuts), 12]
    parts = [pm.Dataset(X[a:b], y[a:b], qid[a:b], doc_ids=ids[a:b]) for a, b in pairwise(bounds) if a < b]
    joined, whole = concatenated(parts), pm.Dataset(X, y, qid, doc_ids=ids)
    for data in (joined, whole):
        assert data.X.tolist() == X.tolist()
        assert data.qid.tolist() == qid.tolist()
    assert joined.qids.tolist() == whole.qids.tolist()
    assert (joined.gathered().query_ptr == whole.gathered().query_ptr).all()
    assert list(joined.doc_ids) == ids


def test_narrower_parts_are_widened():
    joined = concatenated([pm.Dataset([[1.0]], [0], [1]), pm.Dataset([[2.0, 3.0]], [1], [2])], np.nan)
    assert np.array_equal(joined.X, [[1, np.nan], [2, 3]], equal_nan=True)


def test_beyond_the_budget(monkeypatch):
    part = pm.Dataset(np.ones((100_000, 10)), np.ones(100_000), np.arange(100_000))
    monkeypatch.setenv("POMONA_MEMORY", "1MB")
    with pytest.raises(InputError, match="joining 2 datasets takes about"):
        concatenated([part, part])
