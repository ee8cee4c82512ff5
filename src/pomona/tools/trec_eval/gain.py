"""The gains of trec_eval's NDCG family: of the documents in rank order, and of the best possible list.

The gain of a document is its label, or what `-m ndcg.1=3,2=7` gives its label. The best list takes the
labels by gain descending, but as the tool sorts them: it compares two gains by their difference cut to
an integer, with a merge sort, so that gains less than 1 apart count as equal and may stand in the wrong
order; and the best list ends at the first gain that is not above 0. Both are kept, because with
fractional gains they decide the number printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pomona._types import Values
from pomona.tools.trec_eval.ranking import Ranking

Pairs = tuple[tuple[int, float], ...]
"""Gains given for labels, in the order of the command line."""


@dataclass(frozen=True, slots=True)
class Gains:
    """The gains of a ranking and of its best order, and their discounted sums over 0, 1, 2 … documents."""

    gains: Values  # (n_ret,)
    ideal: Values  # (n_ideal,), all above 0
    top: float  # the gain that the sort put on top, whether or not a document has it
    dcg: Values  # (n_ret + 1,)
    ideal_dcg: Values  # (n_ideal + 1,)


class Level(NamedTuple):
    """A label and its gain; `counted` unless the same label was given before with another gain."""

    label: int
    gain: float
    counted: bool


def gains_of(ranking: Ranking, pairs: Pairs = ()) -> Gains:
    """The gains of one query: the labels themselves, or what the pairs give."""
    levels = levels_of(ranking, pairs)
    gain_of_label = gain_by_label(levels)
    labels, place = np.unique(ranking.labels, return_inverse=True)
    gains = np.array([gain_of_label.get(label, 0.0) for label in labels.tolist()], np.float64)[place]
    ideal = _ideal(ranking, levels)
    return Gains(gains, ideal, levels[-1].gain, _discounted(gains), _discounted(ideal))


def levels_of(ranking: Ranking, pairs: Pairs) -> Sequence[Level]:
    """The labels with their gains, in the order in which the tool sorts them."""
    if pairs:
        return _sorted_levels(len(ranking.levels), pairs)
    return [Level(label, float(label), True) for label in np.flatnonzero(ranking.levels).tolist()]


def gain_by_label(levels: Sequence[Level]) -> dict[int, float]:
    """The gain of each label; of a label with two gains, the one that was sorted first."""
    return {level.label: level.gain for level in reversed(levels)}


def _ideal(ranking: Ranking, levels: Sequence[Level]) -> Values:
    """The gains of the best list, ending before the first one that is not above 0."""
    gains: list[float] = []
    counts: list[int] = []
    if levels[-1].gain > 0:
        for label, gain, counted in reversed(levels):
            n = int(ranking.levels[label]) if counted and 0 <= label < len(ranking.levels) else 0
            if n and not gain > 0:
                break
            gains.append(gain)
            counts.append(n)
    return np.repeat(np.array(gains, np.float64), counts)


def _discounted(gains: Values) -> Values:
    """The sums of gain / log2(rank + 1) over the first 0, 1, 2 … documents, added in rank order."""
    discounts = _log2_table(1 << len(gains).bit_length())[: len(gains)]
    return np.concatenate(([0.0], np.cumsum(gains / discounts)))


@lru_cache
def _log2_table(n: int) -> Values:
    # The C library's log2, which math.log2 calls: NumPy's own can differ in the last bit.
    return np.array([math.log2(rank + 1) for rank in range(1, n + 1)])


@lru_cache
def _sorted_levels(n_levels: int, pairs: Pairs) -> list[Level]:
    """The given labels, then all others from 0 up, in the order in which the tool's sort leaves them."""
    given: list[Level] = []
    for label, gain in pairs:
        given.append(Level(label, gain, all(label != other.label for other in given)))
    named = {level.label for level in given}
    others = [Level(label, float(label), True) for label in range(n_levels) if label not in named]
    return _merge_sorted([*given, *others])


def _merge_sorted(levels: list[Level]) -> list[Level]:
    """The C library's merge sort: halves, and the left one wins a tie."""
    if len(levels) < 2:
        return levels
    left, right = _merge_sorted(levels[: len(levels) // 2]), _merge_sorted(levels[len(levels) // 2 :])
    out: list[Level] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if _as_c_int(left[i].gain - right[j].gain) <= 0:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    return [*out, *left[i:], *right[j:]]


def _as_c_int(difference: float) -> int:
    """A double as a C int: cut at the point, and the least int where it does not fit (x86)."""
    return int(difference) if abs(difference) < 2**31 else -(2**31)
