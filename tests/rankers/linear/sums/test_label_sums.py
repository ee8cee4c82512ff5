import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pomona.rankers.linear.sums.label_sums import grades, insert_terms, sum_terms


def test_grades_are_places_among_the_labels_of_a_query():
    labels = np.array([0.5, -1, 0.5, 7, 3, 3, 0], np.float32)
    grade, pairs = grades(labels, np.array([0, 4, 6, 7]))
    assert grade.tolist() == [2, 1, 2, 3, 1, 1, 1]
    assert pairs.tolist() == [2 + 3, 0, 0]


@given(st.lists(st.tuples(st.integers(1, 6), st.floats(-5, 5)), max_size=20), st.integers(0, 6))
def test_sums_of_lower_grades(documents, asked):
    tree, found = np.zeros((7, 2)), np.empty(2)
    for grade, value in documents:
        insert_terms(tree, grade, np.array([1.0, value]))
    sum_terms(tree, asked, found)
    below = [value for grade, value in documents if grade <= asked]
    np.testing.assert_allclose(found, [len(below), sum(below)], atol=1e-12)
