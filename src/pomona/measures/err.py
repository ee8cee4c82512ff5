"""Expected reciprocal rank (Chapelle et al. 2009).   ERR = Σ_r (1/r) R_r Π_{t<r} (1 − R_t)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.cascade import CascadeMeasure
from pomona.measures.conventions import Gain, gains_of


@dataclass(frozen=True, kw_only=True)
class ERR(CascadeMeasure):
    """Expected reciprocal rank: of the document at which a user who reads down the list stops.

    A label satisfies with probability R = (2^label − 1) / 2^max_grade.

    Parameters
    ----------
    max_grade : the highest label the judges could give; 4 in most tools, so say 2 for LETOR's labels.
    gain : `exp2`, or `exp2_int` for tools that cut labels to integers.
    beyond : whether labels above max_grade are computed with all the same (then ERR may pass 1).

    >>> ERR(max_grade=1).of_query([0, 1]) == (1 / 2) / 2
    True
    """

    name: ClassVar[str] = "err"
    user_model: ClassVar[str] = "cascade"
    is_discounted: ClassVar[bool] = True
    max_grade: int = 4
    gain: Gain = "exp2"
    beyond: bool = False

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "yahoo": {"gain": "exp2_int", "beyond": True, "k": None},
        "ranklib": {"gain": "exp2_int", "beyond": True},
    }
    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {"max_rel": ("max_grade", {})}

    def satisfies(self, levels: Values) -> Values:
        """(2^label − 1) / 2^max_grade."""
        if not self.beyond and levels.max() > self.max_grade:
            raise InputError(
                f"ERR: label {levels.max():g} is above max_grade={self.max_grade}: "
                f"give the highest possible label, as in err(max_grade={int(np.ceil(levels.max()))})"
            )
        return gains_of(levels, self.gain) / 2.0**self.max_grade

    def weights(self, n: int) -> tuple[Values, Values]:
        """1 / rank."""
        return np.ones(n), np.arange(1.0, n + 1.0)
