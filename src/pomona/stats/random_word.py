"""Counter-based random words: any word of any resample, without drawing those before it.

word = splitmix64 (`_splitmix`) of (seed, resample, place): a resample is the same whoever computes it, in
whatever order, on however many threads.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel
from pomona._splitmix import word_of
from pomona.errors import InputError


@kernel
def random_word(key, resample, place):
    """64 random bits; `key` is `key_of(seed)`, `place` is below 2³²."""
    return word_of(key, (np.uint64(resample) << np.uint64(32)) + np.uint64(place))


def key_of(seed: int) -> np.uint64:
    """The seed, mixed, so that the words of neighboring seeds have nothing in common."""
    if seed < 0:
        raise InputError(f"found seed {seed}, expected 0 or more")
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
