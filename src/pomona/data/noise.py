"""Label noise: what happens to a ranker when some of the judgments it learns from are wrong.

The protocol of the thesis that this library grew from (section 5.6): of N documents, ⌊ρN⌋ are chosen
without replacement, and the label of each is replaced by one of the K−1 *other* grades, each as likely.
Only training labels are meant to be treated so. What we do on top: one seed fixes an order of all
documents and a new label for each, and a rate takes a prefix of that order, so that the noise of a
smaller rate is part of the noise of a larger one, which takes variance out of the curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pomona._types import Labels
from pomona.data.dataset import Dataset
from pomona.errors import InputError


def with_label_noise(
    data: Dataset, rate: float, seed: int = 0, *, grades: Sequence[float] | None = None
) -> Dataset:
    """The same data with the share `rate` of its labels changed, each to another grade.

    `grades` are the valid labels; those that occur in `data` when left out. Documents that are not judged
    stay so, and do not count in the share.

    >>> data = Dataset(np.zeros((8, 1)), [0, 1, 2, 0, 0, 1, 0, 2], [1, 1, 1, 1, 2, 2, 2, 2])
    >>> noisy = with_label_noise(data, 0.5, seed=3)
    >>> int((noisy.y != data.y).sum()), noisy.X is data.X
    (4, True)
    """
    if not 0 <= rate <= 1:
        raise InputError(f"rate must be in [0, 1], found {rate}")
    is_judged = ~np.isnan(data.y)
    levels: Labels = np.unique(np.asarray(data.y[is_judged] if grades is None else grades, np.float32))
    if not is_judged.any():
        return data
    codes = np.searchsorted(levels, data.y).clip(max=levels.size - 1)
    if not np.array_equal(levels[codes][is_judged], data.y[is_judged]):
        raise InputError(f"a label of the data is none of the grades {levels.tolist()}")
    if rate > 0 and levels.size < 2:
        raise InputError(f"noise needs two grades at least, found only {levels.tolist()}")
    # 0.29 × 100 is 28.999…96 in floating point, and means 29.
    n_changed = math.floor(rate * int(is_judged.sum()) + 1e-9)
    rng = np.random.default_rng(seed)
    order = rng.permutation(data.n_docs)
    # Going 1..K−1 grades on, around the end, reaches every other grade and never the same.
    steps = rng.integers(1, max(2, levels.size), data.n_docs)
    changed = order[is_judged[order]][:n_changed]
    labels = data.y.copy()
    labels[changed] = levels[(codes[changed] + steps[changed]) % levels.size]
    return data.replace(y=labels)
