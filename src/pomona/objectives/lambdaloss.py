"""LambdaLoss (Wang, Li, Golbandi, Bendersky & Najork 2018): pairs weighted so that their loss bounds NDCG.

    L = Σ_{v_i > v_j} (|w_i − w_j| + μ |w_d − w_{d+1}|) · (v_i − v_j) · log(1 + exp(−σ (s_i − s_j)))

i and j are the ranks of two documents, d = |i − j|, w the discount of a rank, v the gain of a document over
the best sum: NDCG-Loss2++. The first weight is LambdaRank's, what the measure changes by when the two trade
places. The second is what a document loses when it falls by one rank, had the other been the first; with it
alone the loss is a bound of 1 − NDCG (NDCG-Loss2).

What we do differently: any measure that is a sum over ranks of gains and discounts, not NDCG alone. As the
paper's, weights know no cut-off; `truncation` leaves out pairs far down.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.closed_form import POSITION
from pomona.measures.parse import measure as parse_measure
from pomona.objectives._lambda_kernels import delta_gradients
from pomona.objectives._rank_kernel import rank_all
from pomona.objectives.base import scores_of
from pomona.objectives.lambdas import LambdaObjective


@kernel
def _lambdaloss_gradients(
    first, last, scores, query_ptr, place, query_weight, relative, value, weight, mu, truncation, sigma,
    normalize, order, out_gradient, out_hessian,
):  # fmt: skip
    """As `lambda_gradients`, of which the arguments are; weight (longest,) the discounts of all ranks."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, query_ptr[q + 1] - query_ptr[q])
    keys, spare_keys, spare_rows = np.empty(longest), np.empty(longest), np.empty(longest, np.int32)
    deltas = np.empty((min(truncation, longest), longest))
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        gradient, hessian = out_gradient[begin:end], out_hessian[begin:end]
        if query_weight[q] == 0:
            gradient[:] = 0
            hessian[:] = 0
            continue
        rows, values = order[begin:end], value[begin:end]
        rank_all(scores[begin:end], place[begin:end], rows, keys, spare_keys, spare_rows)
        for a in range(min(truncation, end - begin)):
            for b in range(a + 1, end - begin):
                apart = abs(weight[a] - weight[b]) + mu * abs(weight[b - a - 1] - weight[b - a])
                deltas[a, b] = (values[rows[b]] - values[rows[a]]) * apart
        delta_gradients(
            scores[begin:end], rows, deltas, truncation, sigma, normalize, query_weight[q],
            relative[begin:end], gradient, hessian,
        )  # fmt: skip


class LambdaLossObjective(LambdaObjective):
    """The pairs of lambda gradients, weighted as in NDCG-Loss2++.

    Parameters
    ----------
    measure : a measure of gains and discounts (NDCG, DCG, RBP …) or its string; its cut-off does not matter.
    mu : how much the bound weighs beside the swap.

    The others are those of `LambdaObjective`.

    >>> objective = LambdaLossObjective("ndcg", [1, 0], [0, 2], mu=0.0, normalize=False)
    >>> gradient, hessian = np.empty(2, np.float32), np.empty(2, np.float32)
    >>> objective.gradients(np.array([0.0, 0.0]), gradient, hessian)
    >>> gradient.round(4)  # (1 − 1 / log2(3)) / 2
    array([-0.1845,  0.1845], dtype=float32)
    """

    def __init__(
        self,
        measure: str | Measure,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        *,
        mu: float = 10.0,
        **options: Any,
    ) -> None:
        if not 0 <= mu < np.inf:
            raise InputError(f"mu must be at least 0, found {mu:g}")
        super().__init__(replace(parse_measure(measure), k=None), labels, query_ptr, **options)
        if self._form is None or self._form.kind != POSITION or self._form.ceiling < np.inf:
            raise InputError(
                f"LambdaLoss weighs pairs by gains and discounts, which {self.measure} has none of: "
                "train towards ndcg, dcg or rbp, or leave lambdaloss out"
            )
        longest = int(np.diff(self._query_ptr).max(initial=0))
        self._mu, self._discount = float(mu), np.zeros(max(longest, len(self._form.weight)))
        self._discount[: len(self._form.weight)] = self._form.weight  # of ranks that count nothing, 0

    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """−λ and its second derivative for every document (the loss is minimized)."""
        over_chunks(
            _lambdaloss_gradients,
            len(self._weights),
            scores_of(scores, len(self._labels)),
            self._query_ptr,
            self._place,
            self._weights,
            self._relative,
            self._values,
            self._discount,
            self._mu,
            self._truncation,
            self._sigma,
            self._normalize,
            self._order,
            out_gradient,
            out_hessian,
            smallest=16,
        )
