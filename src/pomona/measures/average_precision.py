"""Average precision; its mean over queries is MAP.   AP = (1/R) Σ_{r: relevant} (relevant up to r) / r"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._kinds import Chance
from pomona._types import Values
from pomona.measures.base import Measure
from pomona.measures.closed_form import PRECISION, ClosedForm
from pomona.measures.conventions import NOT_NEGATIVE, LabelRange, Relevant, relevant_of
from pomona.measures.lists import RankedLists
from pomona.measures.precision import ABOVE_HALF, ANY_POSITIVE, RELEVANT_SPELLINGS


@kernel
def _sum_precision(first, last, codes, query_ptr, relevant, depth, out):
    for q in range(first, last):
        begin = query_ptr[q]
        n_relevant, total = 0, 0.0
        for r in range(min(query_ptr[q + 1] - begin, depth)):
            if relevant[codes[begin + r]]:
                n_relevant += 1
                total += n_relevant / (r + 1)
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


class PrecisionForm(ClosedForm):
    """The sum of the precisions at the ranks of the relevant documents."""

    kind: ClassVar[int] = PRECISION

    def sums(self) -> Values:
        """Walk down every list once."""
        rules = (self.level_values > 0, len(self.divisor))
        return self.lists.each_ranking(_sum_precision, _expected_sum_precision, *rules)


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(Measure):
    """Average precision: the mean precision at the ranks of the relevant documents.

    Parameters
    ----------
    relevant : the smallest relevant label, or the set of relevant labels.
    empty : the value of a query with no relevant document.
    divisor : `all` relevant documents, or `cut`: at most k of them, as LightGBM and XGBoost have it.

    >>> AveragePrecision().of_query([0, 1, 1]) == (1 / 2 + 2 / 3) / 2
    True
    """

    name: ClassVar[str] = "ap"
    aliases: ClassVar[tuple[str, ...]] = ("map", "map_cut", "average_precision")
    user_model: ClassVar[str] = "position"
    is_discounted: ClassVar[bool] = True
    relevant: Relevant = 1.0
    empty: Chance = 0.0
    divisor: Literal["all", "cut"] = "all"

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "letor3": {"relevant": (1.0, 2.0), "k": None},
        "letor4": {"relevant": (1.0, 2.0), "k": None},
        "mslr": {"relevant": (2.0, 3.0, 4.0), "k": None},
        "ranklib": {"relevant": ANY_POSITIVE, "k": None, "labels": NOT_NEGATIVE},
        "trec_eval": {},
        "lightgbm": {"relevant": ABOVE_HALF, "empty": 1.0, "divisor": "cut"},
        "xgboost": {"empty": 1.0, "divisor": "cut", "k": 32, "labels": LabelRange(1, whole=True)},
        "catboost": {"relevant": ABOVE_HALF, "divisor": "cut"},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = RELEVANT_SPELLINGS

    def relevant_levels(self, levels: Values) -> NDArray[np.bool_]:
        """The relevant ones."""
        return relevant_of(levels, self.relevant)

    def normalizer(self, lists: RankedLists) -> Values:
        """The number of relevant documents that each query's sum is divided by."""
        n_relevant = lists.pool_count(self.relevant_levels(lists.levels))
        return np.minimum(n_relevant, self.k) if self.divisor == "cut" and self.k else n_relevant

    def closed_form(self, lists: RankedLists) -> ClosedForm | None:
        """A sum of precisions over the ranks of the relevant documents."""
        self.check_labels(lists)
        depth = self.depth(lists.longest)
        return PrecisionForm(
            lists=lists,
            level_values=self.relevant_levels(lists.levels).astype(np.float64),
            numerator=np.ones(depth),
            divisor=np.arange(1.0, depth + 1.0),
            normalizer=self.normalizer(lists),
            empty_value=self.empty,
        )
