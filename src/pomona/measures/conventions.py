"""Conventions: the vocabulary of rules that published tools mix, and which tool sorts how.

What a tool does to a measure (gain, discount, empty and short queries) stands in that measure's file;
here are the words those rules are written in, and what concerns every measure of a tool: how it breaks
ties and how precisely it reads scores. `docs/conventions.md` tells what each tool really does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._kinds import NonNegativeFloat, Several
from pomona._types import Values
from pomona.errors import InputError, UnknownNameError

GAINS = ("exp2", "exp2_int", "linear", "linear_int")
Gain = (
    Literal["exp2", "exp2_int", "linear", "linear_int"] | Annotated[tuple[NonNegativeFloat, ...], Several()]
)
Relevant = NonNegativeFloat | Annotated[tuple[NonNegativeFloat, ...], Several()]
Discount = Literal["log2", "letor", "ln", "ranklib"]


@dataclass(frozen=True, slots=True)
class Convention:
    """A tool's rules that hold for all of its measures."""

    name: str
    summary: str
    ties: str = "stable"
    score_type: type[np.floating[Any]] = np.float64
    leaves_out_empty: bool = False
    """Whether the tool's means leave out a query without a relevant document."""


@dataclass(frozen=True, slots=True)
class LabelRange:
    """Labels that a tool takes: from 0 on, and none below, which it refuses or counts in its own way."""

    highest: float = math.inf
    whole: bool = False
    """Whether fractions are refused."""

    def holds(self, levels: Values) -> NDArray[np.bool_]:
        """Which distinct labels are taken; NaN, which no tool's file has, is not looked at."""
        within = (levels >= 0) & (levels <= self.highest)
        if self.whole:
            within &= levels == np.floor(levels)
        return within | np.isnan(levels)

    def __str__(self) -> str:
        if self.whole and self.highest <= 4:
            return ", ".join(str(label) for label in range(int(self.highest) + 1))
        what = "whole numbers" if self.whole else "labels"
        return f"{what} from 0 on" if self.highest == math.inf else f"{what} from 0 to {self.highest:g}"


NOT_NEGATIVE = LabelRange()

CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention(
            "definition",
            "the textbook: exp2 gain, log2 discount, empty query 0, short query whole, tied scores averaged",
            "expected",
        ),
        Convention("letor3", "LETOR 3.0's Eval-Score-3.0.pl: undiscounted rank 2, 0 beyond the list"),
        Convention("letor4", "LETOR 4.0's Eval-Score-4.0.pl: as LETOR 3.0, precision divided by k"),
        Convention("mslr", "MSLR's eval-score-mslr.pl: as LETOR 4.0, label 1 is not relevant for P and AP"),
        Convention("yahoo", "the Yahoo challenge's evaluate.py: an empty query counts 1"),
        Convention("ranklib", "RankLib 2.x: labels truncated, precision divided by the list's length"),
        Convention(
            "trec_eval", "trec_eval 9: gain = label, ties by document id, float32 scores", "docid", np.float32
        ),
        Convention(
            "gdeval",
            "gdeval.pl of TREC's Web tracks: first 20 documents, ties by document id, no empty queries",
            "docid",
            leaves_out_empty=True,
        ),
        Convention("lightgbm", "LightGBM's metrics: an empty query counts 1"),
        Convention(
            "xgboost",
            "XGBoost's metrics: first 32 documents, an empty query counts 1 for NDCG and MAP, float32 scores",
            "stable",
            np.float32,
        ),
        Convention("sklearn", "scikit-learn's ndcg_score: gain = label, tied scores averaged", "expected"),
        Convention(
            "catboost",
            "CatBoost's metrics: gain = label, an empty query counts 1 for NDCG and recall, ties worst",
            "worst",
        ),
    )
}


def convention_named(name: str) -> Convention:
    """The convention of that name, in any case."""
    if name.lower() not in CONVENTIONS:
        raise UnknownNameError("convention", name, CONVENTIONS)
    return CONVENTIONS[name.lower()]


def judged_levels(levels: Values) -> Values:
    """The distinct labels, where −1 stands for all that mean *not judged*: NaN, and labels below 0.

    >>> judged_levels(np.array([np.nan, -2.0, 0.0, 1.0]))
    array([-1., -1.,  0.,  1.])
    """
    return np.where(levels >= 0, levels, -1.0)


def gains_of(levels: Values, gain: Gain) -> Values:
    """The gain of each distinct label; one that means *not judged* gains nothing.

    `exp2` is 2^l − 1, `linear` is l, `exp2_int` and `linear_int` cut the label to an integer first; a
    tuple lists the gains of labels 0, 1, 2, … and other labels gain 0.

    >>> gains_of(np.array([-1.0, 0.0, 1.0, 2.0]), "exp2")
    array([0., 0., 1., 3.])
    """
    levels = judged_levels(levels)
    judged = np.maximum(levels, 0.0)
    if isinstance(gain, tuple):
        return _from_table(levels, gain)
    if gain not in GAINS:
        raise UnknownNameError("gain", gain, GAINS)
    if gain.endswith("_int"):
        judged = np.floor(judged)
    if gain.startswith("linear"):
        return judged
    if judged.max(initial=0.0) > 1000:
        raise InputError(f"label {judged.max():g} has no finite gain 2^l − 1: use gain=linear")
    gains: Values = np.exp2(judged) - 1.0
    return gains


def _from_table(levels: Values, table: tuple[float, ...]) -> Values:
    require_integers(levels, "a table of gains")
    inside = (levels >= 0) & (levels < len(table))
    gains = np.zeros(len(levels))
    gains[inside] = np.asarray(table, np.float64)[levels[inside].astype(int)]
    return gains


def require_integers(levels: Values, what: str) -> None:
    """Refuse fractional labels where a rule knows only grades."""
    fractions = levels[(levels >= 0) & (levels != np.floor(levels))]
    if fractions.size:
        raise InputError(f"label {fractions[0]:g} is not an integer, which {what} needs")


def relevant_of(levels: Values, relevant: Relevant) -> NDArray[np.bool_]:
    """Which distinct labels count as relevant: those from a threshold on, or those of a set.

    Labels are kept in single precision, so they are compared in it: 0.7 is relevant from 0.7 on. A label
    that means *not judged* is not relevant, whatever the threshold.

    >>> relevant_of(np.array([np.nan, 0.0, np.float32(0.7)]), 0.7)
    array([False, False,  True])
    """
    with np.errstate(over="ignore"):
        single, wanted = levels.astype(np.float32), np.asarray(relevant, np.float64).astype(np.float32)
    found = np.isin(single, wanted) if isinstance(relevant, tuple) else single >= wanted
    return found & (levels >= 0)


_DISCOUNTS: dict[str, Callable[[int], tuple[float, float]]] = {
    "log2": lambda r: (1.0, math.log2(r + 1)),
    "ln": lambda r: (1.0, math.log(r + 1)),
    "ranklib": lambda r: (1.0 / (math.log(r + 1) / math.log(2)), 1.0),
    "letor": lambda r: (1.0, 1.0) if r <= 2 else (math.log(2), math.log(r)),
}


@lru_cache(maxsize=256)
def discount(name: str, n: int) -> tuple[Values, Values]:
    """The discount of ranks 1..n as (numerator, divisor): a gain g at rank r adds g · num[r] / div[r].

    Two arrays, because the tools' last digits depend on whether they multiply or divide:
    `log2` divides by log2(r + 1), `ln` by ln(r + 1), `ranklib` multiplies by 1 / (ln(r + 1) / ln 2),
    and `letor` leaves ranks 1 and 2 alone, then multiplies by ln 2 and divides by ln r.
    """
    if name not in _DISCOUNTS:
        raise UnknownNameError("discount", name, _DISCOUNTS)
    pairs = np.array([_DISCOUNTS[name](r) for r in range(1, n + 1)], np.float64).reshape(n, 2)
    # Left writable, though shared: numba compiles a second kernel for read-only arrays.
    return pairs[:, 0].copy(), pairs[:, 1].copy()
