import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.rankers.boosting.stumps.stump_sum import StumpSum

NAMES = ("bm25", "length", "clicks")


def plain_score(stumps, row):
    """The definition, stump by stump."""
    return sum(w for j, t, w, u in stumps if (u if np.isnan(row[j]) else row[j] > np.float32(t)))


@st.composite
def sums_and_rows(draw):
    place = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0])
    weight = st.integers(-8, 8).map(lambda n: n / 4)
    one = st.tuples(st.integers(0, 2), st.one_of(place, st.just(-np.inf)), weight, st.booleans())
    stumps = draw(st.lists(one, max_size=12))
    value = st.one_of(place, st.sampled_from([np.nan, np.inf, -np.inf, 0.25]))
    rows = draw(st.lists(st.tuples(value, value, value), min_size=1, max_size=6))
    return stumps, np.array(rows, np.float32)


@given(sums_and_rows())
def test_scores_are_as_defined(drawn):
    stumps, X = drawn
    assert StumpSum.of(stumps, NAMES).score(X).tolist() == [plain_score(stumps, row) for row in X]


def test_importance_and_print_by_hand():
    stumps = StumpSum.of(
        [(2, 1.0, 0.25, False), (0, 3.0, -0.5, False), (2, 1.0, 0.5, True), (2, 0.5, 1.0, True)], NAMES
    )
    assert stumps.importance().tolist() == [0.5, 0.0, 0.25 + 0.5 + 1.0]
    assert str(stumps).splitlines() == [
        "clicks > 0.5   +1.0000",
        "       > 1     +0.7500",
        "bm25   > 3     -0.5000",
    ]
    assert str(StumpSum.of([], NAMES)) == ""


def test_arrays_and_back():
    stumps = StumpSum.of([(0, 1.5, 0.25, False), (1, -np.inf, 2.0, True)], NAMES)
    again = StumpSum.of_arrays(stumps.arrays(), NAMES)
    X = np.array([[2.0, np.nan, 0.0], [1.0, 0.0, 0.0]], np.float32)
    assert again.score(X).tolist() == stumps.score(X).tolist() == [2.25, 2.0]


def test_arrays_that_do_not_fit_are_refused():
    arrays = StumpSum.of([(1, 1.5, 0.25, False)], NAMES).arrays()
    with pytest.raises(ValueError, match=r"weight is float64 of shape \(2,\), expected .* \(1,\)"):
        StumpSum.of_arrays({**arrays, "weight": np.zeros(2)}, NAMES)
    with pytest.raises(ValueError, match=r"feature holds a number outside 0\.\.0"):
        StumpSum.of_arrays(arrays, NAMES[:1])


@given(sums_and_rows())
def test_a_tree_for_each_feature_gives_the_same_bits(drawn):
    stumps, rows = drawn
    made = StumpSum.of(stumps, NAMES)
    forest = made.forest()
    assert forest.n_trees == len(set(made.feature.tolist()))
    assert forest.score(rows).tolist() == made.score(rows).tolist()


def test_it_keeps_what_it_was_given():
    given = StumpSum.of([(0, 0.5, 1.0, False), (2, 1.0, 2.0, True)], NAMES).arrays()
    given = {name: array.copy() for name, array in given.items()}
    made = StumpSum.of_arrays(given, NAMES)
    given["feature"][:] = 1000  # which the kernel would look up unseen
    assert made.score([[1.0, 0.0, 0.0]]).tolist() == [1.0]
    with pytest.raises(InputError, match="shape"):
        made.score(np.zeros((2, 1), np.float32))
