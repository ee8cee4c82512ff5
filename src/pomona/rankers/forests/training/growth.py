"""How trees grow where nothing was asked: by the number of training documents.

    documents       growth      depth, if oblivious   leaves, if leaf-wise   noise of LambdaMART   rate
    up to 50,000    oblivious   4                     7                      0.5                   0.05 to 0.1
    up to 500,000   oblivious   6                     15                     0                     0.1
    more            leaf-wise   6                     31                     0                     0.1

Few documents make large trees learn them by heart. Oblivious trees are smoother, as a split must serve all
nodes of a level, and noise smoothes what they are taught; of more documents larger trees make more. Of very
many, the two learn alike, and leaf-wise trees are those of other libraries.

Of few documents many small steps learn better than fewer large ones, if there are trees enough to come as
far: the rate is 25 / n_trees, but not below 0.05 (500 trees, the default, or more) nor above 0.1 (up to 250).

`python -m benchmarks.defaults` measures the table; docs/benchmarks.md has what it printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pomona.errors import InputError

_FEW = 50_000
_TABLE = {
    _FEW: {"growth": "oblivious", "max_depth": 4, "n_leaves": 7, "noise": 0.5},
    500_000: {"growth": "oblivious", "max_depth": 6, "n_leaves": 15, "noise": 0.0},
    float("inf"): {"growth": "leafwise", "max_depth": 6, "n_leaves": 31, "noise": 0.0},
}
_LEARNT, _SLOWEST, _FASTEST = 25, 0.05, 0.1
LEFT_OPEN = {"growth": "auto", "max_depth": None, "n_leaves": None, "noise": None, "learning_rate": None}
"""The parameters that the data can choose, as they stand when nothing was asked."""


def growth_for(
    asked: Mapping[str, Any], n_docs: int, n_trees: int, *, is_categorical: bool = False
) -> dict[str, Any]:
    """The parameters that are asked for, those `LEFT_OPEN` as suits so many training documents and trees.

    is_categorical : whether some features are categories, which oblivious trees cannot split on.

    >>> growth_for({"growth": "auto", "max_depth": None, "n_leaves": None}, n_docs=5000, n_trees=500)
    {'growth': 'oblivious', 'max_depth': 4, 'n_leaves': None}
    >>> growth_for({"growth": "auto", "max_depth": None, "n_leaves": 10}, n_docs=5000, n_trees=500)
    {'growth': 'leafwise', 'max_depth': None, 'n_leaves': 10}
    """
    row = next(dict(row) for most, row in _TABLE.items() if n_docs <= most)
    if asked["n_leaves"] is not None or is_categorical:  # leaves mean nothing to oblivious trees
        row["growth"] = "leafwise"
    growth = row["growth"] if asked["growth"] == "auto" else asked["growth"]
    if growth == "oblivious" and is_categorical:
        raise InputError(
            "oblivious trees cannot split on categories so far: use growth='leafwise', or encode them, by "
            "CategoryMean, say"
        )
    row["learning_rate"] = min(max(_LEARNT / n_trees, _SLOWEST), _FASTEST) if n_docs <= _FEW else _FASTEST
    row["n_leaves" if growth == "oblivious" else "max_depth"] = None
    return {name: row[name] if value == LEFT_OPEN[name] else value for name, value in asked.items()}
