"""MeanNDCG of the LETOR 4.0 and MSLR scripts.   MeanNDCG = (1/n) Σ_{k=1..n} NDCG@k, n the list's length

The `mean NDCG` column of the published LETOR baselines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._types import Offsets, Values
from pomona.measures.base import Measure
from pomona.measures.conventions import Discount, Gain, discount, gains_of
from pomona.measures.lists import RankedLists


@kernel
def _mean_over_cutoffs(first, last, codes, query_ptr, ideal, ideal_ptr, gain, weight, divisor, out):
    for q in range(first, last):
        begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        best, n_ideal = ideal_ptr[q], ideal_ptr[q + 1] - ideal_ptr[q]
        dcg, ideal_dcg, total = 0.0, 0.0, 0.0
        for r in range(min(n, weight.size)):
            dcg += gain[codes[begin + r]] * weight[r] / divisor[r]
            if r < n_ideal:
                ideal_dcg += gain[ideal[best + r]] * weight[r] / divisor[r]
            if ideal_dcg > 0:
                total += dcg / ideal_dcg
        out[q] = total / min(n, weight.size) if n > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class MeanNDCG(Measure):
    """The mean of NDCG@1, NDCG@2, …, NDCG@n over all positions of the list, as the LETOR scripts print it.

    Parameters
    ----------
    gain, discount : as for NDCG.

    >>> float(np.round(MeanNDCG().under("letor4").of_query([0, 2, 1]), 4))
    0.5526
    """

    name: ClassVar[str] = "meanndcg"
    aliases: ClassVar[tuple[str, ...]] = ("mean_ndcg",)
    user_model: ClassVar[str] = "position"
    enumerates_ties: ClassVar[bool] = False
    gain: Gain = "exp2"
    discount: Discount = "log2"

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "letor4": {"gain": (0.0, 1.0, 3.0), "discount": "letor"},
        "mslr": {"gain": (0.0, 1.0, 3.0, 7.0, 15.0), "discount": "letor"},
    }

    def relevant_levels(self, levels: Values) -> NDArray[np.bool_]:
        """Those with a gain."""
        return gains_of(levels, self.gain) > 0

    def of_lists(self, lists: RankedLists) -> Values:
        """One walk down each list beside its ideal."""
        gain = gains_of(lists.levels, self.gain)
        ideal = lists.pool_by(gain)
        weights = discount(self.discount, self.depth(lists.longest))
        codes = lists.codes
        if lists.block_end is not None:
            # DCG is linear in the gains: every place gets its block's mean gain, as a level of its own.
            gain, codes = (
                np.concatenate((gain, _mean_of_blocks(gain[codes], lists.block_end))),
                (np.arange(len(codes), dtype=np.int32) + np.int32(len(gain))),
            )
        return lists.each_query(
            _mean_over_cutoffs, codes, lists.query_ptr, ideal, lists.pool_ptr, gain, *weights
        )


def _mean_of_blocks(values: Values, block_end: Offsets) -> Values:
    starts = np.flatnonzero(np.append(True, block_end[1:] != block_end[:-1])) if len(values) else block_end
    sizes = np.diff(np.append(starts, len(values)))
    return np.repeat(np.add.reduceat(values, starts) / sizes, sizes) if len(values) else values
