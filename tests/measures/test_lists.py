import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError, UnknownNameError
from pomona.measures.lists import TIE_RULES, RankedLists, ScoredQueries, encode
from reference.measures import stable_order


def ranked_labels(judged, *rules):
    lists = judged.ranked(*rules)
    return lists.levels[lists.codes].tolist()


def one_query(labels, scores, **more):
    return ScoredQueries(np.array(labels, float), np.array(scores, float), np.array([0, len(labels)]), **more)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3)), min_size=1, max_size=100))
def test_sorting_is_stable_and_descending(rows):
    labels, scores = zip(*rows, strict=True)
    marked = [label + i * 10 for i, label in enumerate(labels)]  # every document its own label
    assert ranked_labels(one_query(marked, scores)) == stable_order(marked, scores)


def test_every_query_is_sorted_apart():
    judged = ScoredQueries(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3]))
    assert ranked_labels(judged) == [2, 1, 3]


def test_tie_rules():
    judged = one_query([0, 2, 1], [1, 1, 1], doc_ids=["a", "b", "c"])
    assert ranked_labels(judged, "stable") == [0, 2, 1]
    assert ranked_labels(judged, "docid") == [1, 2, 0]
    assert ranked_labels(judged, "worst") == [0, 1, 2]
    assert ranked_labels(judged, "best") == [2, 1, 0]
    assert judged.ranked("expected").block_end.tolist() == [3, 3, 3]
    assert set(TIE_RULES) == {"stable", "docid", "worst", "best", "expected"}
    with pytest.raises(UnknownNameError, match="unknown tie rule 'random'"):
        judged.ranked("random")


def test_document_ids_are_ordered_by_bytes():
    judged = one_query([0, 1, 2], [1, 1, 1], doc_ids=["é", "Z", "a"])
    assert ranked_labels(judged, "docid") == [0, 2, 1]


def test_ties_without_ids_are_refused_only_where_there_are_ties():
    assert ranked_labels(one_query([0, 1], [1, 2]), "docid") == [1, 0]
    with pytest.raises(InputError, match="2 documents tie with another and there are no document ids"):
        one_query([0, 1, 2], [1, 1, 1]).ranked("docid")


def test_score_precision_makes_ties():
    judged = one_query([0, 1], [0.7, 0.700000001])
    assert ranked_labels(judged) == [1, 0]
    assert ranked_labels(judged, "stable", np.float32) == [0, 1]


def test_scores_beyond_single_precision_tie_at_infinity():
    judged = one_query([0, 1], [1e300, 2e300])
    assert ranked_labels(judged, "stable", np.float32) == [0, 1]
    assert ranked_labels(judged) == [1, 0]


def test_minus_zero_ties_with_zero():
    assert one_query([0, 1], [-0.0, 0.0]).ranked("expected").block_end.tolist() == [2, 2]


@given(st.lists(st.floats(-5, 300, width=32), min_size=1, max_size=50))
def test_codes_give_the_labels_back(labels):
    codes, levels = encode(np.array(labels))
    assert levels[codes].tolist() == labels
    assert (np.diff(levels) > 0).all()


def test_many_levels():
    labels = np.random.default_rng(0).permutation(1000).astype(float)
    lists = RankedLists.of_labels([labels])
    assert lists.levels[lists.pool_codes].tolist() == sorted(labels, reverse=True)


def test_no_documents():
    codes, levels = encode(np.empty(0))
    assert len(codes) == 0
    assert levels.tolist() == [0]


def test_labels_of_very_many_values_are_sorted_too():
    labels = np.random.default_rng(0).permutation(700) / 7
    lists = RankedLists.of_documents(labels, np.array([0, 300, 300, 700]))
    expected = np.concatenate([np.sort(labels[:300])[::-1], np.sort(labels[300:])[::-1]])
    np.testing.assert_array_equal(lists.levels[lists.pool_codes], expected)
