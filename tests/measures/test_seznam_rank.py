import itertools

import numpy as np
import pytest

import pomona as pm
from golden import thesis
from pomona.errors import InputError
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.measures.parse import measure
from pomona.measures.seznam_rank import FLAT_WEIGHTS, SR4, WEIGHTS, SeznamRank


def test_thesis_tables():
    for labels, (_, _, printed) in thesis.rows(thesis.GRADED, 3):
        assert f"{SR4().of_query(labels):.5f}" == printed
    for (labels, _, _), printed in zip(thesis.LONG, thesis.LONG_SR4, strict=True):
        assert f"{SR4(clip=False).of_query(labels):.6f}" == printed


def test_lists_without_the_top_grade():
    # Without a 4: 0.1, 0.55 and 1.0 for grades 1 to 3, by flatter weights; 0.40, 0.16, 0.10, 0.06 come first.
    assert SR4().of_query([3, 2, 1, 0]) == pytest.approx(0.40 * 1 + 0.16 * 0.55 + 0.10 * 0.1)
    assert SeznamRank().of_query([4, 3, 2, 1]) == SR4().of_query([3, 2, 1, 0])
    # With one, anywhere in the query: 0.06, 0.33, 0.60 and 1.17.
    below = 0.702 * 0.60 + 0.134 * 0.33 + 0.047 * 0.06
    assert SR4().of_query([3, 2, 1, *[0] * 17]) == pytest.approx(0.40 + 0.16 * 0.55 + 0.01)
    assert SR4().of_query([3, 2, 1, *[0] * 17, 4]) == pytest.approx(below)
    assert SR4(k=2).of_query([3, 2, 4]) == pytest.approx(0.702 * 0.60 + 0.134 * 0.33)
    assert sum(FLAT_WEIGHTS) == pytest.approx(1)
    assert list(FLAT_WEIGHTS) == sorted(FLAT_WEIGHTS, reverse=True)


def test_a_top_grade_that_was_not_retrieved_belongs_to_the_list():
    # A system cannot gain by leaving the only perfect document out.
    pool, pool_ptr = np.array([4.0, 3.0, 0.0]), np.array([0, 3])
    run = ScoredQueries(np.array([3.0]), np.array([1.0]), np.array([0, 1]), None, pool, pool_ptr)
    assert SR4().of_lists(run.ranked())[0] == pytest.approx(0.702 * 0.60)


def test_queries_of_both_kinds_each_by_its_rule():
    random = np.random.default_rng(3)
    labels = random.integers(0, 5, 200)
    query_ptr = np.arange(0, 201, 4)
    scores = random.integers(0, 3, 200).astype(float)  # with ties
    for one in (SR4(), SR4(clip=False), SR4(k=3)):
        for ties in ("stable", "expected"):
            together = one.of_lists(ScoredQueries(labels, scores, query_ptr).ranked(ties))
            for q, (begin, end) in enumerate(itertools.pairwise(query_ptr)):
                alone = ScoredQueries(labels[begin:end], scores[begin:end], np.array([0, 4])).ranked(ties)
                assert together[q] == pytest.approx(one.of_lists(alone)[0], abs=1e-12)


def test_correlations_of_table_3_4():
    for names in thesis.CORRELATIONS:
        table = thesis.BINARY if "ap" in names or "wta" in names else thesis.GRADED
        lists = [labels for labels, _ in thesis.rows(table, 3)]
        # The thesis correlated the values as printed: only so do all digits agree.
        first, second = (np.round([measure(name).of_query(labels) for labels in lists], 5) for name in names)
        assert f"{np.corrcoef(first, second)[0, 1]:.5f}" == thesis.CORRELATIONS[names]


def test_by_hand():
    assert SR4().of_query([4] * 20) == 1.0  # 1.17 without the clip
    assert (
        SeznamRank().of_query([5, 4]) == SR4().of_query([4, 3]) == pytest.approx(0.702 * 1.17 + 0.134 * 0.6)
    )
    assert sum(WEIGHTS) == pytest.approx(1)
    assert list(WEIGHTS) == sorted(WEIGHTS, reverse=True)
    assert SR4().of_query([4] * 20) == SR4().of_query([4] * 20 + [4])


def test_refusals():
    with pytest.raises(InputError, match="labels 0 to 4, found 5"):
        SR4().of_query([5])
    with pytest.raises(InputError, match="not an integer"):
        SR4().of_query([0.5])


def test_labels_on_another_scale_are_noted():
    five_grades = RankedLists.of_labels([[4, 3, 0], [1, 2]])
    assert SR4().notes(five_grades) == []
    (zero, top) = SeznamRank().notes(five_grades)  # labels of SR4, judged by SR
    assert "label 0 counts as unlabelled: SeznamRank is for labels 1 to 5, sr4 for labels 0 to 4" in zero
    assert "largest label is 4, below the top grade 5" in top
    (three_grades,) = SR4().notes(RankedLists.of_labels([[2, 1, 0], [-1, 0]]))
    assert "largest label is 2, below the top grade 4" in three_grades
    assert SeznamRank().notes(RankedLists.of_labels([[5, 1, -1]])) == []  # −1: not judged
    assert SR4().notes(RankedLists.of_labels([[0, 0]])) == []  # nothing to tell
    data = pm.Dataset([[1.0], [2.0]], [0, 2], [1, 1])
    assert any("below the top grade 4" in note for note in pm.evaluate(data, [1, 2], "sr4").notes)
