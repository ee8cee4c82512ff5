import numpy as np
import pytest

from pomona._jit import kernel
from pomona.trees.lanes import N_LANES, lane_numbers, lanes_above


@kernel
def _above(codes, offset, code):
    return lanes_above(codes, offset, code)


@kernel
def _numbers(words, n_bits, out):
    lane_numbers(words, n_bits, out)


@pytest.mark.parametrize("offset", [0, 1, 37])
@pytest.mark.parametrize("code", [0, 100, 127, 128, 254, 255])
def test_a_word_tells_which_codes_lie_above(offset, code):
    codes = np.random.default_rng(0).integers(0, 256, 128).astype(np.uint8)
    word = int(_above(codes, np.uint64(offset), np.uint8(code)))
    assert [word >> d & 1 for d in range(N_LANES)] == [
        int(c > code) for c in codes[offset : offset + N_LANES]
    ]


@pytest.mark.parametrize("n_bits", [0, 1, 6, 8, 9, 20])
def test_words_spell_a_number_in_every_lane(n_bits):
    numbers = np.random.default_rng(n_bits).integers(0, 2**n_bits, N_LANES)
    words = [sum(int(number) >> b & 1 and 1 << d for d, number in enumerate(numbers)) for b in range(n_bits)]
    out = np.full(N_LANES, 7, np.uint32)
    _numbers(np.array(words, np.uint64), np.uint64(n_bits), out)
    assert out.tolist() == numbers.tolist()
