"""Bootstrap confidence intervals of means: over queries, and over folds × seeds.

Queries are drawn with replacement, n of n, B times. The interval is Efron's BCa (1987), SciPy's default: the
percentiles of the resampled means, moved by how far the observed mean is from their median (bias z₀) and by
the skewness of the values (acceleration a; the jackknife of a mean gives Σe³ / 6(Σe²)^1.5, e = x − x̄):

    α → Φ(z₀ + (z₀ + z_α) / (1 − a (z₀ + z_α)))

Measures lie in [0, 1], often piled up at its ends, which plain percentiles and t-intervals ignore. All rows
are resampled together, so that the mean difference of two rankers is that of their resampled means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from pomona._jit import kernel, over_chunks
from pomona._types import Values
from pomona.errors import InputError
from pomona.stats.random_word import key_of, random_word
from pomona.stats.sample import sample_of

_ROUNDING = 1e-12  # a resampled mean that close to the observed one equals it
_PIECE = 64  # resamples whose counts a thread holds at a time; a multiple of 4


@kernel
def _count_draws(first, key, out_counts):
    """How often each of n queries is drawn by resamples `first` and on: two draws from a random word."""
    n_resamples, n = out_counts.shape
    low = np.uint64(0xFFFFFFFF)
    for b in range(n_resamples):
        for q in range(n):
            out_counts[b, q] = 0.0
        for draw in range(0, n, 2):
            word = random_word(key, first + b, draw)
            out_counts[b, ((word & low) * np.uint64(n)) >> np.uint64(32)] += 1.0
            if draw + 1 < n:
                out_counts[b, ((word >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)] += 1.0


@kernel
def _weighted_sums(weights, values, out):
    """out[b, c] = Σ_q weights[b, q] values[q, c], summed in the order of q.

    Four sums at a time, since fetching a value takes longer than using it: `out` has a multiple of 4 rows.
    """
    n_sums, n_columns = out.shape
    for b in range(0, n_sums, 4):
        for row in range(b, b + 4):
            for c in range(n_columns):
                out[row, c] = 0.0
        for q in range(values.shape[0]):
            one, two, three, four = weights[b, q], weights[b + 1, q], weights[b + 2, q], weights[b + 3, q]
            for c in range(n_columns):
                value = values[q, c]
                out[b, c] += one * value
                out[b + 1, c] += two * value
                out[b + 2, c] += three * value
                out[b + 3, c] += four * value


@dataclass(frozen=True)
class Resampled:
    """Rows of values with the means of their resamples.

    Attributes
    ----------
    values : (series, queries).
    means : (series, resamples), the same queries drawn for every row.
    """

    values: Values
    means: Values

    @classmethod
    def of(cls, values: ArrayLike, n_resamples: int = 10_000, seed: int = 0) -> Resampled:
        """Draw the queries of (series × queries) values."""
        rows = sample_of(values)
        if n_resamples < 1:
            raise InputError(f"found n_resamples={n_resamples}, expected at least 1")
        n_series, n = rows.shape
        key, columns = key_of(seed), np.ascontiguousarray(rows.T)
        n_pieces = -(-n_resamples // _PIECE)
        sums = np.empty((n_pieces * _PIECE, n_series))

        def draw(first: int, last: int) -> None:
            counts = np.empty((_PIECE, n))
            for begin in range(first * _PIECE, last * _PIECE, _PIECE):
                _count_draws(begin, key, counts)
                _weighted_sums(counts, columns, sums[begin : begin + _PIECE])

        over_chunks(draw, n_pieces)
        return cls(rows, np.ascontiguousarray(sums[:n_resamples].T) / n)

    def intervals(self, level: float = 0.95) -> tuple[Values, Values]:
        """The lower and upper end for every row's mean."""
        return _intervals(self.values, self.means, level)

    def intervals_of_pairs(
        self, first: NDArray[np.intp], second: NDArray[np.intp], level: float = 0.95
    ) -> tuple[Values, Values]:
        """The lower and upper end for the mean of `values[first[i]] − values[second[i]]`."""
        return _intervals(
            self.values[first] - self.values[second], self.means[first] - self.means[second], level
        )


def interval(
    values: ArrayLike, n_resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """The confidence interval of the mean of one value a query; of a single query nothing is known (NaN).

    >>> low, high = interval([0.2, 0.4, 0.4, 0.5, 0.6, 0.9])
    >>> 0.2 < low < 0.5 < high < 0.9
    True
    >>> interval([0.5, 0.5])
    (0.5, 0.5)
    """
    low, high = Resampled.of(sample_of(values)[None, :], n_resamples, seed).intervals(level)
    return float(low[0]), float(high[0])


def interval_clustered(
    values: ArrayLike, folds: ArrayLike, n_resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[Values, Values]:
    """Percentile intervals of the mean over folds × seeds, for every column of (runs × points) values.

    Runs of one fold (its seeds) come and go together: folds are drawn with replacement, then seeds of each
    drawn fold. Folds share training data and are few: read it as the spread of runs, not as a test.

    folds : the fold of each run.

    >>> low, high = interval_clustered([[0.1], [0.3]], folds=[1, 2])
    >>> low.tolist(), high.tolist()
    ([0.1], [0.3])
    """
    runs = sample_of(values)
    fold_of_run = np.asarray(folds)
    if runs.ndim != 2 or fold_of_run.shape != runs.shape[:1]:
        raise InputError(f"found {fold_of_run.size} folds for {len(runs)} runs")
    if len(runs) == 1:
        return np.full(runs.shape[1], np.nan), np.full(runs.shape[1], np.nan)
    random = np.random.default_rng(seed)
    members = [np.flatnonzero(fold_of_run == fold) for fold in np.unique(fold_of_run)]
    n_sums = -(-n_resamples // 4) * 4
    weights = np.zeros((n_sums, len(runs)))
    drawn = random.multinomial(len(members), np.full(len(members), 1 / len(members)), size=n_sums)
    for times, runs_of_fold in zip(drawn.T, members, strict=True):
        n_seeds = len(runs_of_fold)
        chosen = random.multinomial(times * n_seeds, np.full(n_seeds, 1 / n_seeds))
        weights[:, runs_of_fold] = chosen / (n_seeds * len(members))
    means = np.empty((n_sums, runs.shape[1]))
    _weighted_sums(weights, np.ascontiguousarray(runs), means)
    low, high = np.quantile(means[:n_resamples], ((1 - level) / 2, (1 + level) / 2), axis=0)
    return low, high


def interval_crossed(
    values: ArrayLike, n_resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> tuple[Values, Values]:
    """Percentile intervals of the mean over draws × queries, for every series of (series × draws × queries).

    Queries are drawn with replacement, and so are the draws, in each resample alike for all series. A query
    is the same in every draw, so that more draws make the interval narrower by their own variance alone.

    >>> low, high = interval_crossed([[[0.1, 0.3]], [[0.2, 0.2]]])
    >>> low.tolist(), high.tolist()
    ([0.1, 0.2], [0.3, 0.2])
    """
    series = np.asarray(values, np.float64)
    if series.ndim != 3 or not series.size:
        raise InputError(f"expected series × draws × queries, found the shape {series.shape}")
    n_series, n_draws, n_queries = series.shape
    if n_draws * n_queries == 1:
        return np.full(n_series, np.nan), np.full(n_series, np.nan)
    random = np.random.default_rng(seed)
    queries = random.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=n_resamples)
    draws = random.multinomial(n_draws, np.full(n_draws, 1 / n_draws), size=n_resamples) / n_draws
    columns = series.reshape(-1, n_queries).T / n_queries
    by_draw = (queries.astype(np.float64) @ columns).reshape(n_resamples, n_series, n_draws)
    means = np.einsum("bsd,bd->bs", by_draw, draws)
    low, high = np.quantile(means, ((1 - level) / 2, (1 + level) / 2), axis=0)
    return low, high


def _intervals(values: Values, means: Values, level: float) -> tuple[Values, Values]:
    """BCa intervals of the row means of `values`, whose resampled means are given."""
    if not 0 < level < 1:
        raise InputError(f"found level={level}, expected a number between 0 and 1, such as 0.95")
    n, n_resamples = values.shape[1], means.shape[1]
    observed = values.mean(axis=1)
    if n == 1:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    errors = values - observed[:, None]
    squares = (errors**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        acceleration = np.where(squares > 0, (errors**3).sum(axis=1) / (6 * squares**1.5), 0.0)
    slack = _ROUNDING * np.abs(values).max(axis=1)[:, None]
    # Half of those equal to the observed mean count as below it: discrete values repeat.
    below = (means < observed[:, None] - slack).sum(axis=1) + (means <= observed[:, None] + slack).sum(axis=1)
    share = np.clip(below / (2 * n_resamples), 0.5 / n_resamples, 1 - 0.5 / n_resamples)
    bias = ndtri(share)
    ordered = np.sort(means, axis=1)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + ndtri(tail)
        ends.append(_quantiles(ordered, ndtr(bias + z / (1 - acceleration * z))))
    return ends[0], ends[1]


def _quantiles(ordered: Values, shares: Values) -> Values:
    """One quantile of each sorted row, with linear interpolation."""
    place = shares * (ordered.shape[1] - 1)
    left = np.floor(place).astype(np.intp)
    right = np.minimum(left + 1, ordered.shape[1] - 1)
    row = np.arange(len(ordered))
    low, high = ordered[row, left], ordered[row, right]
    between: Values = low + (high - low) * (place - left)
    return between
