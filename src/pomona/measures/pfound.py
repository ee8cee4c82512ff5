"""pFound (Yandex).   pFound = Σ_r (1 − p_break)^(r−1) · pRel_r · Π_{t<r} (1 − pRel_t)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from pomona._kinds import Chance, Several
from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.cascade import CascadeMeasure, beyond_chance
from pomona.measures.conventions import NOT_NEGATIVE, judged_levels, require_integers
from pomona.measures.lists import RankedLists


@dataclass(frozen=True, kw_only=True)
class PFound(CascadeMeasure):
    """pFound: the probability that a user finds an answer before giving up.

    The probabilities by grade are those commonly attributed to Yandex; they were never published.

    Parameters
    ----------
    p_break : the chance of giving up after each document.
    p_relevant : the chance that labels 0, 1, 2, … satisfy; `label` if the label itself is the chance, as
        CatBoost has it.
    beyond : whether labels above 1, which are no chances, are computed with all the same.

    >>> PFound().of_query([4, 4]) == 0.61 + 0.85 * 0.39 * 0.61
    True
    """

    name: ClassVar[str] = "pfound"
    user_model: ClassVar[str] = "cascade"
    is_discounted: ClassVar[bool] = True
    p_break: Chance = 0.15
    p_relevant: Annotated[tuple[Chance, ...], Several()] | Literal["label"] = (0.0, 0.07, 0.14, 0.41, 0.61)
    beyond: bool = False

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "catboost": {"p_relevant": "label", "beyond": True, "labels": NOT_NEGATIVE},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {"p_rel": ("p_relevant", {})}

    def satisfies(self, levels: Values) -> Values:
        """The table's probability of each label, or the label."""
        levels = judged_levels(levels)
        if self.p_relevant == "label":
            if not self.beyond and levels.max() > 1:
                raise InputError(f"pFound: label {levels.max():g} is no chance, expected labels from 0 to 1")
            return np.maximum(levels, 0.0)
        require_integers(levels, "pFound's table of probabilities")
        if levels.max() >= len(self.p_relevant):
            raise InputError(
                f"pFound: label {levels.max():g} has no probability: p_relevant lists labels 0 to "
                f"{len(self.p_relevant) - 1}; give more, as in pfound(p_relevant=0/0.1/0.2/0.4/0.6/0.8)"
            )
        return np.where(levels < 0, 0.0, np.array(self.p_relevant)[np.maximum(levels, 0).astype(int)])

    def notes(self, lists: RankedLists) -> list[str]:
        """That a label is no chance, where labels are taken as chances."""
        notes, largest = super().notes(lists), judged_levels(lists.levels).max()
        if self.p_relevant == "label" and largest > 1:
            notes.append(beyond_chance(self.convention, largest))
        return notes

    def weights(self, n: int) -> tuple[Values, Values]:
        """The chance of not having given up."""
        return np.power(1.0 - self.p_break, np.arange(n, dtype=np.float64)), np.ones(n)
