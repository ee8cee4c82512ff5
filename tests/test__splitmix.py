import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pomona._splitmix import GOLDEN, mix, word_of
from reference.stats import splitmix


def test_the_published_words():
    # Of seed 1234567, as Vigna's splitmix64.c prints them.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [int(word_of(np.uint64(1234567), np.uint64(k))) for k in range(4)] == expected


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
def test_one_word_at_a_time_as_the_twin(seed, k):
    assert int(word_of(np.uint64(seed), np.uint64(k))) == splitmix(seed, 0, k)


def test_arrays_are_mixed_word_by_word():
    counters = np.arange(1, 6, dtype=np.uint64) * GOLDEN
    assert mix(counters).tolist() == [int(word_of(np.uint64(0), np.uint64(k))) for k in range(5)]
