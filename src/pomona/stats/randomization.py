"""Fisher's randomization test: how often two rankers are as far apart when chance swaps their values.

    p = (1 + #{|Σ s_q d_q| ≥ |Σ d_q|}) / (B + 1),   s_q = ±1 at random     (Smucker, Allan & Carterette 2007)

Up to 16 queries all 2ⁿ sign patterns are counted instead, and p is exact. A pattern that equals the observed
sum but for rounding counts as at least as far. The +1 keeps p above 0, which RankLib's count / B does not.

Two things make it fast. Four queries have sixteen signed sums: these are tabulated once, and a resample adds
one table row for each four queries. And Σ s_q (a_q − b_q) = Σ s_q a_q − Σ s_q b_q: all pairs of rankers share
the signs, so that the work grows with the rankers and not with their pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Values
from pomona.errors import InputError
from pomona.stats.random_word import key_of, random_word
from pomona.stats.sample import sample_of

N_EXACT = 16
"""Queries up to which every sign pattern is counted."""

_ROUNDING = 1e-12  # of the summed magnitudes: what adding a million numbers in another order may change
_COLUMNS = 64  # at a time, so that their tables stay in the cache


@kernel
def _tabulate(values, first_query, left, out_table):
    """Signed sums of each four of 64 queries: bit i of a table's row number is the sign of query i.

    A loop over all fours, whose number the compiler knows, it would unroll, which takes it seconds.
    """
    fours, rows, width = out_table.shape
    n_fours = min(fours, (values.shape[0] - first_query + 3) // 4)
    out_table[n_fours:] = 0.0
    for four in range(n_fours):
        for c in range(width):
            out_table[four, 0, c] = 0.0
        query = first_query + 4 * four
        half = 1
        while half < rows:
            weight = 1.0 if query < values.shape[0] else 0.0
            at = min(query, values.shape[0] - 1)
            for row in range(half):
                for c in range(width):
                    value = weight * values[at, left + c]
                    out_table[four, row + half, c] = out_table[four, row, c] + value
                    out_table[four, row, c] -= value
            query += 1
            half *= 2


@kernel
def _add_signed(first, last, key, is_exact, values, out):
    """out[b, c] = Σ_q ± values[q, c] for resamples b; the signs of an exact one are the bits of b."""
    n, n_columns = values.shape
    for left in range(0, n_columns, _COLUMNS):
        width = min(n_columns - left, _COLUMNS)
        table = np.empty((16, 16, width))
        for place in range((n + 63) // 64):
            _tabulate(values, 64 * place, left, table)
            for b in range(first, last):
                word = np.uint64(b) if is_exact else random_word(key, b, place)
                for four in range(0, table.shape[0], 4):
                    i = word & np.uint64(15)
                    j = (word >> np.uint64(4)) & np.uint64(15)
                    k = (word >> np.uint64(8)) & np.uint64(15)
                    m = (word >> np.uint64(12)) & np.uint64(15)
                    word >>= np.uint64(16)
                    for c in range(width):
                        out[b, left + c] += (table[four, i, c] + table[four + 1, j, c]) + (
                            table[four + 2, k, c] + table[four + 3, m, c]
                        )


def _signed_sums(values: Values, n_resamples: int, seed: int) -> Values:
    """(series, resamples): the sums of each row under the same random signs, or under all there are."""
    if n_resamples < 1:
        raise InputError(f"found n_resamples={n_resamples}, expected at least 1")
    n_series, n = values.shape
    is_exact = n <= N_EXACT
    sums = np.zeros((2**n if is_exact else n_resamples, n_series))
    columns = np.ascontiguousarray(values.T)
    over_chunks(_add_signed, len(sums), key_of(seed), is_exact, columns, sums, smallest=256)
    return np.ascontiguousarray(sums.T)


def _p_value(sums: Values, observed: float, magnitude: float, is_exact: bool) -> float:
    count = int(np.count_nonzero(np.abs(sums) >= abs(observed) - _ROUNDING * magnitude))
    return count / len(sums) if is_exact else (1 + count) / (1 + len(sums))


def fisher_randomization(d: ArrayLike, n_resamples: int = 10_000, seed: int = 0) -> Values:
    """Two-sided p of differences, the last axis being the queries.

    >>> float(fisher_randomization([1, 2, 3, 4, 5]))  # 2 of the 32 sign patterns are as far from 0
    0.0625
    """
    sample = sample_of(d)
    rows = sample.reshape(-1, sample.shape[-1])
    sums = _signed_sums(rows, n_resamples, seed)
    is_exact = rows.shape[1] <= N_EXACT
    p = [_p_value(s, row.sum(), np.abs(row).sum(), is_exact) for s, row in zip(sums, rows, strict=True)]
    shaped: Values = np.reshape(p, sample.shape[:-1])[()]
    return shaped


def randomization_of_pairs(
    values: ArrayLike,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Values:
    """p of each pair `values[first[i]] − values[second[i]]`, rows of (series × queries) values.

    The same as `fisher_randomization` of the differences with the same seed, at the cost of the rows.

    >>> import numpy as np
    >>> randomization_of_pairs([[1, 2, 3], [0, 0, 0]], np.array([0]), np.array([1])).tolist()
    [0.25]
    """
    rows = sample_of(values)
    sums = _signed_sums(rows, n_resamples, seed)
    total, magnitude = rows.sum(axis=1), np.abs(rows).sum(axis=1)
    is_exact = rows.shape[1] <= N_EXACT
    p = [
        _p_value(sums[a] - sums[b], total[a] - total[b], magnitude[a] + magnitude[b], is_exact)
        for a, b in zip(first, second, strict=True)
    ]
    return np.array(p)
