import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pomona.rankers.neural.training.batches import lay_out


def offsets(lengths):
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 9), st.integers(0, 5))
def test_every_document_stands_once_and_queries_stay_whole(lengths, batch_size, seed):
    query_ptr = offsets(lengths)
    layout = lay_out(query_ptr, batch_size, np.random.default_rng(seed))
    assert sorted(layout.rows.tolist()) == list(range(query_ptr[-1]))
    assert sorted(np.concatenate([batch.queries for batch in layout.batches]).tolist()) == list(
        range(len(lengths))
    )
    end = 0
    for batch in layout.batches:
        assert batch.begin == end
        assert 1 <= len(batch.queries) <= batch_size
        end = batch.end
        for query, first, last in zip(batch.queries, batch.query_ptr[:-1], batch.query_ptr[1:], strict=True):
            own = layout.rows[batch.begin + first : batch.begin + last]
            assert sorted(own.tolist()) == list(range(query_ptr[query], query_ptr[query + 1]))
    assert end == query_ptr[-1]


@given(st.lists(st.integers(1, 20), min_size=1, max_size=20), st.integers(1, 9))
def test_padded_lists_of_a_batch_are_equally_long(lengths, batch_size):
    query_ptr = offsets(lengths)
    plain, padded = (
        lay_out(query_ptr, batch_size, np.random.default_rng(0), padded=padded) for padded in (False, True)
    )
    assert (padded.rows[padded.documents] == plain.rows).all()
    for batch, unpadded in zip(padded.batches, plain.batches, strict=True):
        lists = padded.rows[batch.begin : batch.end].reshape(len(batch.queries), -1)
        assert lists.shape[1] == batch.lengths.max()
        assert (batch.query_ptr == unpadded.query_ptr).all()
        for rows, length in zip(lists, batch.lengths, strict=True):
            assert (rows[length:] == rows[0]).all()
        assert (lists.ravel()[batch.places] == plain.rows[unpadded.begin : unpadded.end]).all()


def test_a_batch_has_queries_of_one_length():
    lengths = np.random.default_rng(0).permutation(np.repeat([10, 900], [64, 16]))
    layout = lay_out(offsets(lengths), 16, np.random.default_rng(0))
    assert [set(lengths[batch.queries].tolist()) for batch in layout.batches] == [{10}] * 4 + [{900}]
    lengths = np.random.default_rng(0).lognormal(4, 0.7, 500).astype(int) + 1
    layout = lay_out(offsets(lengths), 16, np.random.default_rng(0))
    rectangle = sum(len(batch.queries) * lengths[batch.queries].max() for batch in layout.batches)
    assert rectangle < 1.15 * lengths.sum()


def test_documents_and_queries_are_shuffled():
    layout = lay_out(offsets([20] * 8), 2, np.random.default_rng(0))
    assert (np.diff(layout.rows) < 0).any()
    assert sum(np.diff(np.concatenate([batch.queries for batch in layout.batches])) < 0) > 0
    again = lay_out(offsets([20] * 8), 2, np.random.default_rng(0))
    assert (again.rows == layout.rows).all()
