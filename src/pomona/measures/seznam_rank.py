"""SeznamRank (Modrý 2014, 3.3.2.9).   SR = min(1, Σ_{r≤20} w(r) · v(label_r))

*Reconstructed*: Seznam.cz never published the weights. w(1..4) and v reproduce all 24 values of the
thesis' Table 3.2; that a list of 4s is worth 1.17 makes the weights sum to 1. Rows π_4, π_5 and π_7 of
Table 3.5 fix w(17..20) = 0.004 and, with w(20) = 0.001, w(5..7) = 0.046 in sum; the shape of the rest is our
choice. Lists without any top grade (π_2, π_6, π_8) do not fit: the thesis says that the score depends on
whether one is present, not how, and no such rule is applied here.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.conventions import require_integers
from pomona.measures.lists import RankedLists
from pomona.measures.position import PositionMeasure

WEIGHTS = (
    *(0.702, 0.134, 0.047, 0.035, 0.020, 0.015, 0.011, 0.0083, 0.006, 0.005),
    *(0.0037, 0.003, 0.002, 0.0016, 0.0013, 0.0011, 0.001, 0.001, 0.001, 0.001),
)
WORTH = (0.0, 0.06, 0.33, 0.60, 1.17)
"""Of the five grades, worst to best."""


@dataclass(frozen=True, kw_only=True)
class SeznamRank(PositionMeasure):
    """SeznamRank (reconstructed): weighted labels of the first 20 documents, for labels 1 to 5.

    Parameters
    ----------
    clip : take the smaller of the sum and 1; the thesis' tables show the sum itself.

    >>> round(SeznamRank().of_query([5, 4, 3, 2]), 5)
    0.91935
    """

    name: ClassVar[str] = "sr"
    aliases: ClassVar[tuple[str, ...]] = ("seznamrank", "seznam_rank")
    lowest_grade: ClassVar[int] = 1
    clip: bool = True

    def values(self, levels: Values) -> Values:
        """The worth of each grade; grades below the lowest are unlabelled documents, worth nothing."""
        require_integers(levels, "SeznamRank")
        grades = levels - self.lowest_grade
        if grades.max() >= len(WORTH):
            raise InputError(
                f"SeznamRank knows labels {self.lowest_grade} to {self.lowest_grade + 4}, "
                f"found {levels.max():g}: use sr for labels 1 to 5, sr4 for labels 0 to 4"
            )
        return np.where(grades < 0, 0.0, np.array(WORTH)[np.maximum(grades, 0).astype(int)])

    def weights(self, n: int) -> tuple[Values, Values]:
        """The weights of the first 20 ranks."""
        weights = np.array(WEIGHTS[:n])
        return weights, np.ones(len(weights))

    def of_lists(self, lists: RankedLists) -> Values:
        """The sum, or 1 if that is less."""
        sums = self.sums(lists)
        if not self.clip:
            return sums
        if lists.block_end is None:
            np.minimum(sums, 1.0, out=sums)
            return sums
        excess = [self._expected_excess(lists, q) for q in range(lists.n_queries)]
        sums -= np.array(excess)
        return sums

    def _expected_excess(self, lists: RankedLists, query: int) -> float:
        """The mean over orders of ties of max(0, sum − 1): branch on the grade of each rank, and stop as soon
        as the rest can no longer reach 1 (nothing) or is above it for certain (then the sum is linear)."""
        assert lists.block_end is not None
        begin, end = int(lists.query_ptr[query]), int(lists.query_ptr[query + 1])
        worth = self.values(lists.levels)[lists.codes[begin:end]]
        blocks: list[Counter[float]] = []
        at = begin
        while at < end:
            stop = int(lists.block_end[at])
            blocks.append(Counter(worth[at - begin : stop - begin].tolist()))
            at = stop
        return _mean_excess(blocks, WEIGHTS[: self.k], 0, 0, 0.0)

    def swap_deltas(self, labels: ArrayLike) -> Values:
        """min(1, S + (v_b − v_a)(w_a − w_b)) − min(1, S)."""
        change = super().swap_deltas(labels)
        if not self.clip:
            return change
        total = float(self.sums(RankedLists.of_labels([labels]))[0])
        clipped: Values = np.minimum(total + change, 1.0) - min(total, 1.0)
        return np.where(change == 0.0, 0.0, clipped)


def _mean_excess(
    blocks: list[Counter[float]], rank_weights: tuple[float, ...], block: int, rank: int, total: float
) -> float:
    """The mean of max(0, sum − 1) over the orders of what is left of `blocks` from `block` on."""
    remaining = [Counter({w: n for w, n in part.items() if n}) for part in blocks[block:]]
    lowest, mean, highest = total, total, total
    place = rank
    for part in remaining:
        size = part.total()
        weights = np.array(rank_weights[place : place + size])
        worths = np.array(sorted(part.elements()))
        highest += float(worths[::-1][: len(weights)] @ weights)
        lowest += float(worths[: len(weights)] @ weights)  # weights fall, so this is the least there is
        mean += float(worths.mean() * weights.sum()) if size else 0.0
        place += size
    if highest <= 1.0 or math.isclose(highest, 1.0, abs_tol=1e-15):
        return 0.0
    if lowest >= 1.0:
        return mean - 1.0
    current = blocks[block]
    size = current.total()
    if size == 0:
        return _mean_excess(blocks, rank_weights, block + 1, rank, total)
    excess = 0.0
    for worth, count in list(current.items()):
        if count:
            current[worth] -= 1
            reached = total + rank_weights[rank] * worth
            excess += count / size * _mean_excess(blocks, rank_weights, block, rank + 1, reached)
            current[worth] += 1
    return excess


@dataclass(frozen=True, kw_only=True)
class SR4(SeznamRank):
    """SeznamRank4 (reconstructed): SeznamRank with labels shifted to 0 to 4.

    >>> round(SR4().of_query([4, 3, 2, 1]), 5)
    0.91935
    """

    name: ClassVar[str] = "sr4"
    lowest_grade: ClassVar[int] = 0
