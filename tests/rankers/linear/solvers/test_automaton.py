import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.rankers.linear.solvers.automaton import choose, penalize, random_number, relative_gains, reward

ALL = np.ones(3, bool)


def test_reward_by_hand():
    p = np.array([0.2, 0.5, 0.3])
    reward(p, ALL, 0, 0.1)
    assert p == pytest.approx([0.2 + 0.1 * 0.8, 0.9 * 0.5, 0.9 * 0.3])


def test_penalty_by_hand():
    p = np.array([0.2, 0.5, 0.3])
    penalize(p, ALL, 0, 0.1)
    assert p == pytest.approx([0.9 * 0.2, 0.1 / 2 + 0.9 * 0.5, 0.1 / 2 + 0.9 * 0.3])


def test_a_variable_action_set_is_scaled_updated_and_scaled_back():
    p, available = np.array([0.2, 0.5, 0.3]), np.array([True, False, True])
    reward(p, available, 2, 0.1)
    scaled = np.array([0.2, 0.3]) / 0.5
    assert p == pytest.approx([0.9 * scaled[0] * 0.5, 0.5, (scaled[1] + 0.1 * (1 - scaled[1])) * 0.5])
    p = np.array([0.2, 0.5, 0.3])
    penalize(p, available, 2, 0.1)
    assert p == pytest.approx([(0.1 + 0.9 * scaled[0]) * 0.5, 0.5, 0.9 * scaled[1] * 0.5])


def test_a_single_action_has_nobody_to_lose_to():
    p = np.array([0.2, 0.5, 0.3])
    penalize(p, np.array([False, True, False]), 1, 0.5)
    assert p.tolist() == [0.2, 0.5, 0.3]


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.floats(0, 1), st.integers(0, 31)), max_size=30)
)
def test_probabilities_stay_probabilities(updates):
    p = np.full(5, 0.2)
    for good, action, rate, others in updates:
        available = np.array([bool(others >> i & 1) for i in range(5)])
        available[action] = True
        (reward if good else penalize)(p, available, action, rate)
        assert p.sum() == pytest.approx(1)
        assert (p >= 0).all()


def test_choices_follow_the_probabilities():
    p, available = np.array([0.1, 0.4, 0.2, 0.3]), np.array([True, False, True, True])
    drawn = [choose(p, available, random_number(np.uint64(5), k)) for k in range(30_000)]
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    assert shares == pytest.approx(np.array([0.1, 0, 0.2, 0.3]) / 0.6, abs=0.01)
    assert choose(p, available, 0.0) == 0
    assert choose(p, available, 1.0) == 3  # rounding may leave a little over


def test_random_numbers_are_uniform():
    numbers = np.array([random_number(np.uint64(2**64 - 1), k) for k in range(20_000)])
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert np.histogram(numbers, 10, (0, 1))[0] == pytest.approx(np.full(10, 2000), rel=0.1)
    assert len(np.unique(numbers)) == len(numbers)


def test_relative_gains():
    labels = np.array([3, 0, 1, 0, 0, -1], np.float32)
    gain, counted = relative_gains(labels, np.array([0, 2, 3, 6]), np.array([2.0, 1.0, 1.0]))
    assert gain == pytest.approx([1, 0, 1 / 7, 0, 0, 0])
    assert counted.tolist() == [2.0, 1.0, 0.0]
    huge, _ = relative_gains(np.array([5000, 4999, 1], np.float32), np.array([0, 3]), np.ones(1))
    assert huge == pytest.approx([1, 0.5, 0])
    with pytest.raises(InputError, match="no query that counts has a relevant document"):
        relative_gains(labels, np.array([0, 2, 3, 6]), np.array([0.0, 0.0, 1.0]))
