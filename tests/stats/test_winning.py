import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError, UnknownNameError
from pomona.stats.winning import READINGS, pareto, rank2, winning_numbers
from reference import stats as slow


@st.composite
def tables(draw, cells):
    n_columns = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(cells, min_size=n_columns, max_size=n_columns), min_size=1, max_size=6))


sparse_tables = tables(st.none() | st.integers(0, 4).map(lambda i: i / 4))


def test_a_tie_for_the_first_place():
    column = [[0.5], [0.5], [0.3]]
    pairs, attained = (winning_numbers(column, reading) for reading in READINGS)
    assert pairs.winning.tolist() == attained.winning.tolist() == [1, 1, 0]
    assert pairs.ideal.tolist() == [2, 2, 2]
    assert attained.ideal.tolist() == [1, 1, 1]


def test_a_result_that_only_one_method_has_counts_nothing():
    for reading in READINGS:
        won = winning_numbers([[0.9], [np.nan]], reading)
        assert won.winning.tolist() == won.ideal.tolist() == [0, 0]
        assert np.isnan(won.normalized).all()
        assert not won.is_pareto.any()
        assert not won.is_rank2.any()


@given(sparse_tables, st.sampled_from(READINGS))
def test_as_the_slow_twin(table, reading):
    won = winning_numbers(np.array(table, float), reading)
    assert (won.winning.tolist(), won.ideal.tolist()) == slow.winning_numbers(table, reading)
    known = won.normalized[won.ideal > 0]
    assert ((known >= 0) & (known <= 1)).all()


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 50))
def test_complete_without_ties(n_methods, n_results, seed):
    table = np.random.default_rng(seed).permuted(np.tile(np.arange(n_methods), (n_results, 1)), axis=1).T
    won = winning_numbers(table)
    assert won.winning.sum() == n_results * n_methods * (n_methods - 1) / 2
    if n_methods > 1:
        best = winning_numbers(np.vstack([table, np.full(n_results, n_methods)]))
        assert best.normalized[-1] == 1.0
        assert best.is_pareto[-1]


def test_the_front_as_in_the_paper():
    # Rising accuracy, falling certainty: ListNet … LARF, as listed in the paper's abstract.
    ideal, accuracy = [980, 800, 700, 600, 480, 100], [0.50, 0.65, 0.75, 0.85, 0.97, 0.99]
    assert pareto(ideal, accuracy).all()
    below = pareto([*ideal, 700], [*accuracy, 0.7])
    assert below.tolist() == [True] * 6 + [False]


def test_rank_2_by_hand():
    x, y = [3, 2, 1, 3], [3, 2, 1, 2]
    # (2, 2) has (3, 3) above it in both, (1, 1) all three, (3, 2) is equalled in x.
    assert pareto(x, y).tolist() == [True, False, False, False]
    assert rank2(x, y).tolist() == [False, True, False, False]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_front_and_second_rank_are_apart(points):
    x, y = zip(*points, strict=True)
    front, second = pareto(x, y), rank2(x, y)
    assert front.any()
    assert not (front & second).any()
    for i, (a, b) in enumerate(points):
        beaten = any(c >= a and d >= b and (c, d) != (a, b) for c, d in points)
        assert front[i] == (not beaten)
        assert second[i] == (sum(c > a and d > b for c, d in points) == 1)


def test_refused():
    with pytest.raises(UnknownNameError, match="unknown reading 'pair': did you mean 'pairs'"):
        winning_numbers([[1.0]], "pair")
    with pytest.raises(InputError, match="expected a table of methods × results"):
        winning_numbers([1.0])
