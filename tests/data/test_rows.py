import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pomona.data.rows import gather, ranks_of, read_only


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_gathering_keeps_every_row_and_the_order_within_a_query(ids):
    ids = np.array(ids)
    order, query_ptr, qids = gather(ids)
    rows = np.arange(len(ids)) if order is None else order
    assert sorted(rows) == list(range(len(ids)))
    assert qids.tolist() == list(dict.fromkeys(ids.tolist()))
    for q, qid in enumerate(qids):
        assert rows[query_ptr[q] : query_ptr[q + 1]].tolist() == np.flatnonzero(ids == qid).tolist()


def test_the_place_of_each_among_those_given():
    assert ranks_of(np.array([7, 2, 9])).tolist() == [1, 0, 2]
    assert ranks_of(np.array([2, 7, 9])) is None


def test_a_view_that_is_not_written_to():
    array = np.zeros(3)
    view = read_only(array)
    assert not view.flags.writeable
    assert array.flags.writeable
    assert np.shares_memory(view, array)
