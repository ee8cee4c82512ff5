"""Likelihood of the true order (ListMLE: Xia et al. 2008).   L = Σ_t (log Σ_{l ≥ t} exp(s_{π(l)}) − s_{π(t)})

With weights r of documents, exp(s_j) becomes r_j exp(s_j), and the term of t counts r_{π(t)}.

π puts the documents in the order of their labels. The paper assumes that no two labels are equal; where they
are, π is drawn anew at every call, all orders of equal labels being as true as each other: the input's own
order would bias the model. `k` stops the sum after the first k places (Xia, Liu & Li 2009).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pomona.errors import InputError
from pomona.measures.lists import encode
from pomona.objectives._plackett_luce import follow_orders
from pomona.objectives.query_objective import DrawingObjective


class ListMLEObjective(DrawingObjective):
    """The order of the labels should be the likeliest of all orders.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    k : only the first k places count; None for all.
    weights : one a query, multiplies its loss.
    relative : one a document, r: its place counts r in the sum over t, its exp(score) r in those over l. None
        for 1.
    seed : of the orders of equal labels.

    >>> objective = ListMLEObjective([2, 1, 0], [0, 3])
    >>> objective.losses(np.array([0.0, 1.0, 2.0])).round(6)
    array([3.720868])
    """

    def __init__(
        self,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        *,
        k: int | None = None,
        weights: ArrayLike | None = None,
        relative: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(labels, query_ptr, weights, relative)
        if k is not None and k < 1:
            raise InputError(f"k must be at least 1, found {k}")
        self._codes = encode(self._labels)[0]
        self._k = len(self._labels) if k is None else k
        self._random = np.random.default_rng(seed)

    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        keys = self._codes + self._random.random((1, len(self._codes)))
        return follow_orders, (self._relative, keys, self._k)
