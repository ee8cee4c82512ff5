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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Values
from pomona.errors import InputError, UnknownNameError

Gain = str | tuple[float, ...]
Relevant = float | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Convention:
    """A tool's rules that hold for all of its measures."""

    name: str
    summary: str
    ties: str = "stable"
    score_type: type[np.floating[Any]] = np.float64


CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention("definition", "the textbook: exp2 gain, log2 discount, empty query 0, short query whole"),
        Convention("letor3", "LETOR 3.0's Eval-Score-3.0.pl: undiscounted rank 2, 0 beyond the list"),
        Convention("letor4", "LETOR 4.0's Eval-Score-4.0.pl: as LETOR 3.0, precision divided by k"),
        Convention("mslr", "MSLR's eval-score-mslr.pl: as LETOR 4.0, label 1 is not relevant for P and AP"),
        Convention("yahoo", "the Yahoo challenge's evaluate.py: an empty query counts 1"),
        Convention("ranklib", "RankLib 2.x: labels truncated, precision divided by the list's length"),
        Convention(
            "trec_eval", "trec_eval 9: gain = label, ties by document id, float32 scores", "docid", np.float32
        ),
        Convention("lightgbm", "LightGBM's metrics: an empty query counts 1"),
        Convention(
            "xgboost", "XGBoost's metrics: an empty query counts 1, float32 scores", "stable", np.float32
        ),
        Convention("sklearn", "scikit-learn's ndcg_score: gain = label, tied scores averaged", "expected"),
        Convention(
            "catboost", "CatBoost's metrics: gain = label, an empty query counts 1, ties worst", "worst"
        ),
    )
}


def convention_named(name: str) -> Convention:
    """The convention of that name, in any case."""
    if name.lower() not in CONVENTIONS:
        raise UnknownNameError("convention", name, CONVENTIONS)
    return CONVENTIONS[name.lower()]


def gains_of(levels: Values, gain: Gain) -> Values:
    """The gain of each distinct label; a label below 0 is not judged and gains nothing.

    `exp2` is 2^l − 1, `linear` is l, `exp2_int` and `linear_int` cut the label to an integer first; a
    tuple lists the gains of labels 0, 1, 2, … and other labels gain 0.

    >>> gains_of(np.array([-1.0, 0.0, 1.0, 2.0]), "exp2")
    array([0., 0., 1., 3.])
    """
    judged = np.maximum(levels, 0.0)
    if isinstance(gain, tuple):
        return _from_table(levels, gain)
    if gain.endswith("_int"):
        judged = np.floor(judged)
    if gain in ("linear", "linear_int"):
        return judged
    if gain in ("exp2", "exp2_int"):
        if judged.max(initial=0.0) > 1000:
            raise InputError(f"label {judged.max():g} has no finite gain 2^l − 1: use gain=linear")
        return np.exp2(judged) - 1.0
    raise UnknownNameError("gain", gain, ("exp2", "exp2_int", "linear", "linear_int"))


def _from_table(levels: Values, table: tuple[float, ...]) -> Values:
    require_integers(levels, "a table of gains")
    inside = (levels >= 0) & (levels < len(table))
    gains = np.zeros(len(levels))
    gains[inside] = np.asarray(table, np.float64)[levels[inside].astype(int)]
    return gains


def require_integers(levels: Values, what: str) -> None:
    """Refuse fractional labels where a rule knows only grades."""
    fractions = levels[levels != np.floor(levels)]
    if fractions.size:
        raise InputError(f"label {fractions[0]:g} is not an integer, which {what} needs")


def relevant_of(levels: Values, relevant: Relevant) -> NDArray[np.bool_]:
    """Which distinct labels count as relevant: those from a threshold on, or those of a set."""
    if isinstance(relevant, tuple):
        return np.isin(levels, relevant)
    return levels >= relevant


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
