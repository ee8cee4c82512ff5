import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pomona as pm
from pomona import read_letor
from pomona.data.content_order import _hashes, in_content_order
from pomona.data.taken_rows import TakenRows

VALUES = st.sampled_from([0.0, 1.0, -0.0, np.nan, np.inf, 0.5])


def parts(data):
    names = ("X", "y", "query_ptr")
    return [getattr(data.gathered(), name).tobytes() for name in names]


@st.composite
def rows_and_shuffled(draw):
    """Few values, so that rows and whole queries repeat: (X, y, qid, weights) and an order of the rows."""
    n, width = draw(st.integers(1, 25)), draw(st.integers(1, 5))
    X = draw(st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=n, max_size=n))
    columns = [np.array(draw(st.lists(st.integers(0, most), min_size=n, max_size=n))) for most in (2, 5, 2)]
    return np.array(X, np.float32), *columns, np.array(draw(st.permutations(range(n))))


@given(rows_and_shuffled(), st.booleans())
def test_neither_places_nor_ids_take_part(rows, has_weights):
    X, y, qid, weights, order = rows
    weights = weights.astype(float) if has_weights else None

    def ordered(rows, names):
        data = pm.Dataset(X[rows], y[rows], names[qid[rows]])
        given = None if weights is None else data.from_input_order(weights[rows])
        after = in_content_order(data, given)
        assert after.y.tolist() == y[rows].tolist()
        assert after.qid.tolist() == names[qid[rows]].tolist()
        put = None if weights is None else after.from_input_order(weights[rows]).tobytes()
        return parts(after), put

    expected = ordered(np.arange(len(y)), np.arange(6))
    assert ordered(order, np.arange(6)) == expected
    assert ordered(order, np.array(["q9", "b", "", "a", "q10", "z"])) == expected


@given(rows_and_shuffled())
def test_in_order_already(rows):
    X, y, qid = rows[:3]
    once = in_content_order(pm.Dataset(X, y, qid))
    rows = once.gathered()
    assert in_content_order(rows) is rows
    assert parts(in_content_order(once, np.ones(len(y)))) == parts(once)
    half = once.gathered().take(np.arange(0, once.n_queries, 2))
    assert in_content_order(half) is half


def test_what_belongs_to_documents_goes_with_them():
    data = pm.simulate(20, docs_per_query=6, n_features=3, seed=2)
    ids = [f"d{i}" for i in range(data.n_docs)]
    named = pm.Dataset(data.X, data.y, data.qid, doc_ids=ids, feature_names=["a", "b", "c"])
    came = in_content_order(named)
    assert list(came.doc_ids) == ids
    assert (came.X == data.X).all()
    ordered = came.gathered()
    assert ordered.feature_names == ("a", "b", "c")
    assert list(ordered.doc_ids) == [ids[i] for i in came.input_order]
    assert (data.X[came.input_order] == ordered.X).all()
    assert sorted(ordered.qids) == sorted(data.qids)
    assert ordered.X.flags.writeable
    named.X.flags.writeable = False
    assert not in_content_order(named).gathered().X.flags.writeable


def test_the_order_does_not_follow_the_labels():
    """Documents by label in the file: their places afterwards are those of chance."""
    data = pm.simulate(300, docs_per_query=10, n_features=4, seed=2)
    by_label = in_content_order(
        pm.Dataset(*(a[np.lexsort((-data.y, data.qid))] for a in (data.X, data.y, data.qid)))
    )
    rows = by_label.gathered()
    first, last = rows.y[rows.query_ptr[:-1]], rows.y[rows.query_ptr[1:] - 1]
    spread = np.sqrt((first.var() + last.var()) / data.n_queries)
    assert abs(first.mean() - last.mean()) < 3 * spread
    assert abs(np.corrcoef(by_label.input_order, np.arange(data.n_docs))[0, 1]) < 0.1


def test_every_value_counts():
    X = np.random.default_rng(0).random((1, 7)).astype(np.float32)
    rows = np.repeat(X, 16, axis=0)
    for j in range(7):
        rows[1 + j, j] = np.nextafter(rows[0, j], np.float32(2))
    rows[8:15] = X[:, [(j + 1) % 7 for j in range(7)]]
    hashes = _hashes(pm.Dataset(rows, [0] * 15 + [1], [1] * 16))
    assert len(set(hashes[:8].tolist())) == 8
    assert len(set(hashes.tolist())) == 10


def test_features_stay_where_they_are_until_all_are_looked_at():
    data = in_content_order(pm.simulate(200, docs_per_query=50, n_features=30, seed=1)).gathered()
    assert in_content_order(data) is data
    turned = pm.Dataset(data.X[::-1], data.y[::-1], data.qid[::-1], feature_names=data.feature_names)
    lazy = in_content_order(turned)
    rows, ordered = lazy.lazy_features, lazy.gathered()
    assert isinstance(rows, TakenRows)
    assert rows.source is turned.gathered().X
    assert (rows[100:200] == data.X[100:200]).all()
    one = lazy.take([3, 1])
    assert isinstance(lazy.lazy_features, TakenRows)
    assert (one.gathered().X == data.take([3, 1]).X).all()
    names = lazy.feature_names[::-1]
    assert (ordered.with_features(names).X == data.with_features(names).X).all()
    for name in ("X", "y", "qid"):
        assert (getattr(lazy, name) == getattr(turned, name)).all()
        assert (getattr(ordered, name) == getattr(data, name)).all()
    assert isinstance(lazy.lazy_features, np.ndarray)
    assert lazy.lazy_features is ordered.lazy_features  # one copy


def test_labels_of_documents_that_do_not_count_only_tell_alike_ones_apart():
    random = np.random.default_rng(0)
    X, y, qid = random.random((12, 2)), random.integers(0, 3, 12), np.repeat([1, 2, 3], 4)
    weights = np.array([1, 0, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0.0])  # the last query has none that counts
    other = np.where(np.isin(np.arange(12), (1, 6, 7)), 4, y)
    orders = [in_content_order(pm.Dataset(X, labels, qid), weights).input_order for labels in (y, other)]
    assert orders[0].tolist() == orders[1].tolist()
    assert (
        orders[0].tolist()
        == in_content_order(pm.Dataset(X, np.where(other == 4, 0, y), qid)).input_order.tolist()
    )
    # Alike but for their labels, they stand in one order, however they came.
    X[1] = X[2] = 0
    y[1], y[2], weights[2] = 0, 1, 0
    ends = []
    for order in (np.arange(12), np.arange(12)[::-1]):
        data = pm.Dataset(X[order], y[order], qid[order], weight=weights[order])
        ordered = in_content_order(data, data.gathered().weight).gathered()
        ends.append((ordered.X.tolist(), ordered.y.tolist()))
    assert ends[0] == ends[1]


def test_documents_that_nobody_judged_have_one_order_however_their_nan_was_written(tmp_path):
    columns = zip(["nan", "-nan", "1", "NaN", "0"], "aabba", "53124", strict=True)
    lines = [f"{label} qid:{q} 1:{x}" for label, q, x in columns]
    found = []
    for order in ([0, 1, 2, 3, 4], [3, 0, 4, 2, 1]):
        texts = [lines[k].replace("-nan", "nan") if order[0] else lines[k] for k in order]
        (tmp_path / "a.txt").write_text("\n".join(texts) + "\n")
        found.append(in_content_order(read_letor(tmp_path / "a.txt")).gathered().X.tolist())
    assert found[0] == found[1]
