import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.stats.random_word import key_of, random_word
from reference.stats import splitmix


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**31), st.integers(0, 2**31))
def test_words_are_splitmix(key, resample, place):
    assert int(random_word(np.uint64(key), resample, place)) == splitmix(key, resample, place)


def test_neighboring_seeds_share_no_word():
    words = {int(random_word(key_of(seed), b, w)) for seed in range(5) for b in range(20) for w in range(20)}
    assert len(words) == 5 * 20 * 20


def test_bits_are_fair():
    words = np.array([random_word(key_of(0), b, w) for b in range(100) for w in range(100)], np.uint64)
    share = np.array([(words >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(64)])
    # A fair bit of 10,000 words strays from ½ by 0.005 on average.
    assert np.abs(share - 0.5).max() < 4 * 0.005


def test_a_negative_seed_is_refused():
    with pytest.raises(InputError, match="found seed -1, expected 0 or more"):
        key_of(-1)
