"""Graded average precision (Robertson, Kanoulas & Yilmaz 2010).

    GAP = Σ_n (1/n) Σ_{m≤n} δ_mn / Σ_n Σ_{j≤y_n} g_j,     δ_mn = Σ_{j ≤ min(y_m, y_n)} g_j

The user calls a document relevant from some label on, from label j with chance g_j. Ordered by j, both sums
are those of average precision with the threshold j, so that with R_j documents of label j or above

    GAP = Σ_j g_j R_j AP_j / Σ_j g_j R_j

and ties and swaps follow from average precision's. With one grade it is AP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._kinds import Chance, NonNegativeFloat, Several
from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.average_precision import PrecisionForm
from pomona.measures.base import Measure
from pomona.measures.conventions import judged_levels, require_integers
from pomona.measures.lists import RankedLists


@dataclass(frozen=True, kw_only=True)
class GradedAveragePrecision(Measure):
    """Graded average precision: AP of a user who may want label 1 or above, 2 or above, and so on.

    Parameters
    ----------
    thresholds : the chances that the user wants label 1, 2, … or above, as in gap(thresholds=0.2/0.3/0.5);
        they count by their proportions. None makes all labels equally likely.
    empty : the value of a query with no relevant document.

    >>> round(GradedAveragePrecision().of_query([1, 2]), 6) == round((2 * 1 + 1 * (1 / 2)) / (2 + 1), 6)
    True
    """

    name: ClassVar[str] = "gap"
    aliases: ClassVar[tuple[str, ...]] = ("graded_ap", "graded_average_precision")
    user_model: ClassVar[str] = "position"
    is_discounted: ClassVar[bool] = True
    enumerates_ties: ClassVar[bool] = False
    thresholds: Annotated[tuple[NonNegativeFloat, ...], Several()] | None = None
    empty: Chance = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.thresholds is not None and sum(self.thresholds) == 0:
            raise InputError(
                f"thresholds must be chances of labels 1, 2, …, and one above 0, found {self.thresholds}"
            )

    def relevant_levels(self, levels: Values) -> NDArray[np.bool_]:
        """Those that some user wants."""
        chances = np.cumsum((0.0, *self._chances(levels)))
        wanted: NDArray[np.bool_] = chances[np.maximum(judged_levels(levels), 0.0).astype(int)] > 0
        return wanted

    def of_lists(self, lists: RankedLists) -> Values:
        """Average precision for each threshold, weighted."""
        parts, normalizer = self._parts(lists)
        values = sum((part.evaluate() for part in parts), np.zeros(lists.n_queries))
        return np.where(normalizer > 0, values, self.empty)

    def swap_deltas(self, labels: ArrayLike) -> Values:
        """Those of average precision for each threshold, weighted."""
        n = len(np.asarray(labels))
        parts, _ = self._parts(RankedLists.of_labels([labels]))
        return sum((part.swap_deltas() for part in parts), np.zeros((n, n)))

    def _parts(self, lists: RankedLists) -> tuple[list[PrecisionForm], Values]:
        """The share of each threshold in the measure, and what all are divided by."""
        chances = self._chances(lists.levels)
        above = [lists.levels >= label for label in range(1, len(chances) + 1)]
        n_above = [lists.pool_count(wanted) for wanted in above]
        normalizer = sum((g * n for g, n in zip(chances, n_above, strict=True)), np.zeros(lists.n_queries))
        depth = self.depth(lists.longest)
        parts = [
            PrecisionForm(
                lists=lists,
                level_values=wanted.astype(np.float64),
                numerator=np.ones(depth),
                divisor=np.arange(1.0, depth + 1.0),
                normalizer=normalizer / g,
            )
            for g, wanted in zip(chances, above, strict=True)
            if g > 0
        ]
        return parts, normalizer

    def _chances(self, levels: Values) -> tuple[float, ...]:
        """How likely each label from 1 to the largest is the threshold."""
        require_integers(levels, "graded average precision")
        largest = max(int(judged_levels(levels).max()), 0)
        if self.thresholds is None:
            return (1.0,) * largest
        if largest > len(self.thresholds):
            raise InputError(
                f"gap: label {largest} has no threshold: thresholds lists labels 1 to "
                f"{len(self.thresholds)}; give one for each label"
            )
        return self.thresholds[:largest]
