import numpy as np
import polars as pl
import pytest

import pomona as pm
from pomona.errors import InputError


@pytest.fixture(scope="module")
def data():
    return pm.simulate(20, docs_per_query=6, n_features=4, seed=2)


@pytest.fixture(scope="module")
def ranker(data):
    return pm.LambdaMART(n_trees=5, n_leaves=7, min_docs=3).fit(data)


def test_the_list_and_its_two_first(ranker, data):
    query = data.qids[3]
    found = pm.explain(ranker, data, query)
    scores = ranker.predict(data.take([3]))
    assert found.documents["score"].to_list() == sorted(scores.tolist(), reverse=True)
    # Documents of the same score share the better rank.
    ranks = [1 + int((scores > score).sum()) for score in found.documents["score"]]
    assert found.documents["rank"].to_list() == ranks
    assert [found.row(found.a)["rank"], found.row(found.b)["rank"]] == ranks[:2]
    apart = found.row(found.a)["score"] - found.row(found.b)["score"]
    assert found.difference["difference"].sum() == pytest.approx(apart)
    sums = found.contributions.group_by("document").agg(total=pl.col("contribution").sum())
    for document, total in sums.rows():
        assert total + found.expected == pytest.approx(found.row(document)["score"])


def test_without_a_background(data, ranker):
    """The forest knows its training documents; a line takes the data."""
    some, query = data.take([3, 4]), data.qids[3]
    assert pm.explain(ranker, some, query).expected == pytest.approx(pm.explain(ranker, data, query).expected)
    line = pm.LinearRegression(normalize=None).fit(data)
    assert pm.explain(line, some, query).expected == pytest.approx(line.predict(some).mean())


def test_carriers_are_needed_and_enough(ranker, data):
    for query in data.qids[:10]:
        found = pm.explain(ranker, data, query)
        parts = dict(found.difference.select("feature", "difference").rows())
        total = sum(parts.values())
        carried = [parts[name] for name in found.carriers]
        if total > 0:
            assert total - sum(carried) <= 1e-9
            assert total - sum(carried[:-1]) > 0
        else:
            assert found.carriers == ()


def test_documents_by_number_and_by_id(ranker, data):
    data = data.take(np.flatnonzero(np.diff(data.query_ptr) >= 5))
    query = data.qids[0]
    rows = [data.to_input_order(array) for array in (data.X, data.y, data.qid)]
    found = pm.explain(ranker, pm.Dataset(*rows), query, ["2", 5])
    assert (found.a, found.b) == ("2", "5")
    named = pm.Dataset(*rows, doc_ids=[f"d{i}" for i in range(data.n_docs)])
    other = pm.explain(ranker, named, query, ["d1", "d4"])
    assert other.difference.equals(found.difference)


def test_the_same_score():
    data = pm.Dataset([[1.0], [1.0], [2.0]], [0, 0, 1], ["q", "q", "q"])
    found = pm.explain(pm.LinearRegression(normalize=None).fit(data), data, "q", [1, 2])
    assert found.carriers == ()
    assert "have the same score" in found.answer


def test_refused(ranker, data):
    with pytest.raises(InputError, match="no query 'x' in the data"):
        pm.explain(ranker, data, "x")
    with pytest.raises(InputError, match="no document"):
        pm.explain(ranker, data, data.qids[0], [1, 99])
    same = pm.Dataset(np.zeros((2, 4)), [1, 0], [1, 1])
    with pytest.raises(InputError, match="expected two different ones"):
        pm.explain(ranker, same, 1, [1, 1])
    alone = pm.Dataset(np.zeros((1, 4)), [1], [1])
    with pytest.raises(InputError, match="one document"):
        pm.explain(ranker, alone, 1)


def test_categories_go_by_their_names():
    genres = ["news", "blog", "shop", "blog"] * 6
    frame = pl.DataFrame(
        {"genre": genres, "bm25": np.arange(24) / 8}, schema_overrides={"genre": pl.Categorical}
    )
    labels = [2 if genre == "blog" else 0 for genre in genres]
    data = pm.Dataset(frame, labels, np.repeat(np.arange(6), 4))
    ranker = pm.MART(n_trees=5, n_leaves=4, min_docs=1).fit(data)
    others = pm.Dataset(
        frame[:4].with_columns(genre=pl.Series(["shop", None, "news", "blog"])), [0, 0, 0, 1], [1] * 4
    )
    found = pm.explain(ranker, others, 1, ["1", "4"])  # of other codes than the model's
    row = found.difference.filter(feature="genre").row(0, named=True)
    assert (row["value_a"], row["value_b"]) == ("shop", "blog")
    assert found.difference.filter(feature="bm25")["value_b"].item() == "0.375"
    values = found.contributions.filter(feature="genre")
    assert set(values["value"]) <= {"shop", None, "news", "blog"}


def test_a_document_that_was_not_judged_has_no_label(ranker, data):
    own = data.take([3]).gathered()
    labels = own.y.copy()
    labels[0] = np.nan
    some = pm.Dataset(own.X, labels, np.repeat(own.qids, own.query_lengths))
    shown = pm.explain(ranker, some, own.qids[0], background=data).documents
    assert shown["label"].null_count() == 1
    assert not shown["label"].is_nan().any()
