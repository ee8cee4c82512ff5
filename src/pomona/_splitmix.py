"""Random bits of a counter: splitmix64 (Steele, Lea & Flood 2014), any word of it without those before.

    word k of a seed = mix(seed + (k + 1) · 0x9E3779B97F4A7C15)

So what is drawn for a document depends on the seed and the document alone, whoever draws it, in whatever
order, on however many threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words in which every bit of those given turns half of the bits."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


_mix = kernel(mix)


@kernel
def word_of(seed, k):
    """The k-th word of a seed, both uint64."""
    return _mix(seed + (k + np.uint64(1)) * GOLDEN)
