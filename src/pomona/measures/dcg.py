"""Discounted cumulative gain (Järvelin & Kekäläinen 2002).   DCG = Σ_r gain(label_r) · discount(r)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pomona._types import Values
from pomona.measures.conventions import NOT_NEGATIVE, Discount, Gain, discount, gains_of
from pomona.measures.position import PositionMeasure


@dataclass(frozen=True, kw_only=True)
class DCG(PositionMeasure):
    """Discounted cumulative gain: gains of the ranked documents, that count less further down.

    Parameters
    ----------
    gain : `exp2` (2^l − 1), `linear`, or a tuple with the gains of labels 0, 1, 2, …
    discount : `log2`, `letor` (ranks 1 and 2 undiscounted), `ln` or `ranklib`.

    >>> DCG().of_query([2, 0, 1]) == 3 / 1 + 0 + 1 / 2
    True
    """

    name: ClassVar[str] = "dcg"
    user_model: ClassVar[str] = "position"
    is_discounted: ClassVar[bool] = True
    gain: Gain = "exp2"
    discount: Discount = "log2"

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ranklib": {"gain": "exp2_int", "discount": "ranklib", "labels": NOT_NEGATIVE},
        "sklearn": {"gain": "linear", "labels": NOT_NEGATIVE},
        "catboost": {"gain": "linear", "labels": NOT_NEGATIVE},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
        "dcg": ("gain", {"log2": "linear", "exp-log2": "exp2"}),  # ir_measures
        "gains": ("gain", {}),
    }

    def values(self, levels: Values) -> Values:
        """The gains."""
        return gains_of(levels, self.gain)

    def weights(self, n: int) -> tuple[Values, Values]:
        """The discounts."""
        return discount(self.discount, n)
