"""Normalized expected reciprocal rank.   nERR@k = ERR@k / ERR@k of the best possible order

Modrý 2014, 3.3.3 asks for it: ERR of a perfect ranking depends on the labels that a query happens to have, so
that a list in the worst order can be worth more than another query's in the best (Table 3.5, π6 and π8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pomona._kinds import Chance
from pomona._types import Values
from pomona.measures.cascade import walk_down
from pomona.measures.err import ERR
from pomona.measures.lists import RankedLists


@dataclass(frozen=True, kw_only=True)
class NERR(ERR):
    """Normalized expected reciprocal rank: ERR as a share of the best possible.

    Parameters
    ----------
    max_grade, gain, beyond : as for ERR.
    empty : the value of a query with no relevant document (no order of it satisfies anybody).

    >>> NERR().of_query([2, 1, 0]), NERR(max_grade=1).of_query([0, 1])
    (1.0, 0.5)
    """

    name: ClassVar[str] = "nerr"
    aliases: ClassVar[tuple[str, ...]] = ("normalized_err",)
    user_model: ClassVar[str] = "cascade"
    empty: Chance = 0.0

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # no tool has it

    def normalizer(self, lists: RankedLists) -> Values:
        """ERR of the judged documents, best first."""
        chance = self.satisfies(lists.levels)
        weights = self.weights(self.depth(lists.longest))
        return lists.each_query(walk_down, lists.pool_by(chance), lists.pool_ptr, chance, *weights)
