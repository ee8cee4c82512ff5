"""Average precision; its mean over queries is MAP.   AP = (1/R) Σ_{r: relevant} (relevant up to r) / r"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pomona._jit import kernel
from pomona._types import Values
from pomona.errors import UnknownNameError
from pomona.measures.base import Measure
from pomona.measures.conventions import Relevant, relevant_of
from pomona.measures.lists import RankedLists
from pomona.measures.precision import ANY_POSITIVE, RELEVANT_SPELLINGS


@kernel
def _sum_precision(first, last, codes, query_ptr, relevant, depth, out):
    for q in range(first, last):
        begin = query_ptr[q]
        found, total = 0, 0.0
        for r in range(min(query_ptr[q + 1] - begin, depth)):
            if relevant[codes[begin + r]]:
                found += 1
                total += found / (r + 1)
        out[q] = total


@kernel
def _expected_sum_precision(first, last, codes, query_ptr, block_end, relevant, depth, out):
    """McSherry & Najork 2008: place i of a block of m with ρ relevant is relevant with chance ρ/m, and then
    (i − 1)(ρ − 1)/(m − 1) of those before it in the block are, on average."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        cut = min(end - begin, depth)
        before, total = 0, 0.0
        at = begin
        while at < begin + cut:
            stop = block_end[at]
            m, rho = stop - at, 0
            for i in range(at, stop):
                rho += relevant[codes[i]]
            for i in range(1, m + 1):
                rank = at - begin + i
                if rank <= cut:
                    above = (i - 1) * (rho - 1) / (m - 1) if m > 1 else 0.0
                    total += rho / m * (before + 1 + above) / rank
            before += rho
            at = stop
        out[q] = total


@kernel
def _swap(relevant, depth, out):
    """relevant (n,) at each rank · out (n, n) change of the sum of precisions."""
    n = relevant.size
    count, inverse = np.zeros(n + 1), np.zeros(n + 1)  # A_r and H_r: prefix sums of rel and of rel / rank
    for r in range(1, n + 1):
        count[r] = count[r - 1] + relevant[r - 1]
        inverse[r] = inverse[r - 1] + (relevant[r - 1] / r if r <= depth else 0.0)
    for a in range(1, n + 1):
        for b in range(a + 1, n + 1):
            if relevant[a - 1] == relevant[b - 1]:
                continue
            between = inverse[b - 1] - inverse[a]
            at_b = count[b] / b if b <= depth else 0.0
            if relevant[a - 1]:
                delta = -between + at_b - (count[a] / a if a <= depth else 0.0)
            else:
                delta = between - at_b + ((count[a] + 1) / a if a <= depth else 0.0)
            out[a - 1, b - 1] = delta
            out[b - 1, a - 1] = delta


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(Measure):
    """Average precision: the mean precision at the ranks of the relevant documents.

    Parameters
    ----------
    relevant : the smallest relevant label, or the set of relevant labels.
    empty : the value of a query with no relevant document.
    divisor : `all` relevant documents, or `cut`: at most k of them, as LightGBM has it.

    >>> AveragePrecision().of_query([0, 1, 1]) == (1 / 2 + 2 / 3) / 2
    True
    """

    name: ClassVar[str] = "ap"
    aliases: ClassVar[tuple[str, ...]] = ("map", "map_cut", "average_precision")
    is_discounted: ClassVar[bool] = True
    relevant: Relevant = 1.0
    empty: float = 0.0
    divisor: str = "all"

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "letor3": {"relevant": (1.0, 2.0), "k": None},
        "letor4": {"relevant": (1.0, 2.0), "k": None},
        "mslr": {"relevant": (2.0, 3.0, 4.0), "k": None},
        "ranklib": {"relevant": ANY_POSITIVE, "k": None},
        "trec_eval": {},
        "lightgbm": {"relevant": ANY_POSITIVE, "empty": 1.0, "divisor": "cut"},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = RELEVANT_SPELLINGS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.divisor not in ("all", "cut"):
            raise UnknownNameError("divisor", self.divisor, ("all", "cut"))

    def values(self, levels: Values) -> Values:
        """1 for a relevant label."""
        return relevant_of(levels, self.relevant).astype(np.float64)

    def normalizer(self, lists: RankedLists) -> Values:
        """The number of relevant documents that each query's sum is divided by."""
        return self._divisor(lists.pool_count(relevant_of(lists.levels, self.relevant)))

    def of_lists(self, lists: RankedLists) -> Values:
        """Walk down every list, then divide by its number of relevant documents."""
        relevant = relevant_of(lists.levels, self.relevant)
        n_relevant = self.normalizer(lists)
        depth = self.k or lists.longest
        if lists.block_end is None:
            sums = lists.each_query(_sum_precision, lists.codes, lists.query_ptr, relevant, depth)
        else:
            sums = lists.each_query(
                _expected_sum_precision, lists.codes, lists.query_ptr, lists.block_end, relevant, depth
            )
        values = np.full(len(sums), self.empty)
        np.divide(sums, n_relevant, out=values, where=n_relevant > 0)
        return values

    def _divisor(self, n_relevant: Values) -> Values:
        return np.minimum(n_relevant, self.k) if self.divisor == "cut" and self.k else n_relevant

    def swap_deltas(self, labels: ArrayLike) -> Values:
        """Closed form from prefix sums, every pair in O(1)."""
        lists = RankedLists.of_labels([labels])
        relevant = relevant_of(lists.levels, self.relevant)
        n_relevant = self.normalizer(lists)[0]
        out = np.zeros((len(lists.codes), len(lists.codes)))
        if n_relevant:
            _swap(relevant[lists.codes].astype(np.int64), self.k or len(lists.codes), out)
            out /= n_relevant
        return out
