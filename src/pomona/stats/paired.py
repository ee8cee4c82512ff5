"""Paired tests of two rankers on the same queries, from the differences d_q = A_q − B_q.

    t          mean(d) / (sd(d) / √n), n − 1 degrees of freedom
    Wilcoxon   ranks of |d|, zeros dropped: exact up to 25 untied, else normal with tie correction
    sign       wins against losses, zeros dropped, binomial with ½, exact

All are two-sided. A difference counts for Yilmaz & Robertson (2009) only if all three reject: each test
alone can be misled (a few large differences, many tiny ones), hardly all at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, stdtr

from pomona._jit import over_chunks
from pomona._types import Values
from pomona.stats.bootstrap import Resampled
from pomona.stats.effect import cohen_d, smallest_detectable, spread, win_tie_loss
from pomona.stats.randomization import randomization_of_pairs
from pomona.stats.sample import differences, sample_of

_N_EXACT = 25
_AT_ONCE = 2**20  # numbers in the largest array that a thread holds


def t_test(d: ArrayLike) -> Values:
    """p of the paired t-test, the last axis being the queries; 1 if all are 0, or if there is one query.

    >>> round(float(t_test([1, 2, 3])), 4)
    0.0742
    """
    sample = sample_of(d)
    n = sample.shape[-1]
    if n == 1:
        return np.ones(sample.shape[:-1])[()]
    p: Values = 2 * stdtr(n - 1, -np.abs(cohen_d(sample)) * np.sqrt(n))
    return p


def wilcoxon(d: ArrayLike) -> Values:
    """p of Wilcoxon's signed-rank test, the last axis being the queries; 1 if all are 0.

    >>> float(wilcoxon([1, 2, 3, 4, 5]))
    0.0625
    """
    sample = sample_of(d)
    rows = sample.reshape(-1, sample.shape[-1])
    n_nonzero = np.count_nonzero(rows, axis=1)
    is_exact = np.array(
        [n <= _N_EXACT and _is_untied(row) for n, row in zip(n_nonzero.tolist(), rows, strict=True)], bool
    )
    p = np.ones(len(rows))
    is_normal = ~is_exact & (n_nonzero > 0)
    if is_normal.any():
        p[is_normal] = _signed_ranks(rows[is_normal], "approx")
    for n in np.unique(n_nonzero[is_exact & (n_nonzero > 0)]):
        alike = is_exact & (n_nonzero == n)
        p[alike] = _signed_ranks(rows[alike][rows[alike] != 0].reshape(-1, n), "exact")
    shaped: Values = p.reshape(sample.shape[:-1])[()]
    return shaped


def _is_untied(row: Values) -> bool:
    sizes = np.abs(row[row != 0])
    return len(np.unique(sizes)) == len(sizes)


def _signed_ranks(rows: Values, method: Literal["exact", "approx"]) -> Values:
    """SciPy's p of each row, of which zeros are dropped."""
    from scipy.stats import wilcoxon as signed_ranks  # 0.3 s, which who tests nothing is spared

    return np.asarray(signed_ranks(rows, correction=False, method=method, axis=1).pvalue)


def sign_test(d: ArrayLike) -> Values:
    """p of the sign test, the last axis being the queries; 1 if all are 0.

    >>> float(sign_test([1, 2, 3, 4, 0, 5]))  # 2 (½)⁵
    0.0625
    """
    wins, _, losses = win_tie_loss(d)
    doubled = 2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5)
    # Of 217 : 218 half of all outcomes are as uneven, exactly; the sum of their chances is so to 12 digits.
    p: Values = np.where(np.abs(wins - losses) <= 1, 1.0, np.minimum(doubled, 1.0))[()]
    return p


@dataclass(frozen=True, slots=True)
class PairedTests:
    """What the queries say about rankers A and B.

    Attributes
    ----------
    n_queries : queries that both were judged on.
    difference : mean of A − B, with a bootstrap interval `low`, `high`.
    effect : Cohen's d_z.
    t_p, wilcoxon_p, sign_p, randomization_p : two-sided p-values.
    wins, ties, losses : of A.
    detectable : the smallest mean difference that these queries show with probability 0.8.
    """

    n_queries: int
    difference: float
    low: float
    high: float
    effect: float
    t_p: float
    wilcoxon_p: float
    sign_p: float
    randomization_p: float
    wins: int
    ties: int
    losses: int
    detectable: float

    def agree(self, alpha: float = 0.05) -> bool:
        """Yilmaz & Robertson's rule: t, Wilcoxon and sign test all reject.

        We also ask that the mean and the majority of the queries point the same way.
        """
        all_reject = max(self.t_p, self.wilcoxon_p, self.sign_p) <= alpha
        return all_reject and (self.difference > 0) == (self.wins > self.losses)


def compare_pairs(
    values: ArrayLike,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    *,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> list[PairedTests]:
    """Compare `values[first[i]]` with `values[second[i]]`, rows of (series × queries) values.

    alpha : the intervals cover 1 − alpha, and a detectable difference is one that is significant at alpha.
    """
    rows = sample_of(values)
    n, n_pairs = rows.shape[1], len(first)
    resampled = Resampled.of(rows, n_resamples, seed)
    randomization_p = randomization_of_pairs(rows, first, second, n_resamples, seed)
    step = max(1, _AT_ONCE // max(n, resampled.means.shape[1]))

    def compare(begin: int, end: int) -> list[PairedTests]:
        part = slice(begin, end)
        d = differences(rows[first[part]], rows[second[part]])
        columns = (
            d.mean(axis=1),
            *resampled.intervals_of_pairs(first[part], second[part], 1 - alpha),
            cohen_d(d),
            t_test(d),
            wilcoxon(d),
            sign_test(d),
            randomization_p[part],
            *win_tie_loss(d),
            smallest_detectable(n, spread(d), alpha),
        )
        return [PairedTests(n, *pair) for pair in zip(*(column.tolist() for column in columns), strict=True)]

    def compare_some(first_piece: int, last_piece: int) -> list[PairedTests]:
        begins = range(step * first_piece, min(step * last_piece, n_pairs), step)
        return [tests for begin in begins for tests in compare(begin, min(begin + step, n_pairs))]

    chunks = over_chunks(compare_some, -(-n_pairs // step))
    return [tests for chunk in chunks for tests in chunk]


def compare_pair(
    a: ArrayLike, b: ArrayLike, *, alpha: float = 0.05, n_resamples: int = 10_000, seed: int = 0
) -> PairedTests:
    """Compare ranker A with ranker B by their values of the same queries, in the same order.

    >>> tests = compare_pair([0.5, 0.6, 0.7, 0.4, 0.9], [0.4, 0.4, 0.4, 0.0, 0.4])
    >>> round(tests.difference, 6), tests.wins, tests.randomization_p, tests.agree()
    (0.3, 5, 0.0625, False)
    """
    differences(a, b)  # refuses values that do not belong together
    rows, zero, one = np.stack([sample_of(a), sample_of(b)]), np.array([0]), np.array([1])
    return compare_pairs(rows, zero, one, alpha=alpha, n_resamples=n_resamples, seed=seed)[0]
