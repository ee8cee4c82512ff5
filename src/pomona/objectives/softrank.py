"""Measures made smooth by noisy scores (SoftRank: Taylor et al. 2008; Yilmaz & Robertson 2009).

Let the score of document j be normal around s_j with deviation σ. Then i stands above j with probability
π_ij = Φ((s_i − s_j) / (√2 σ)), and the rank of j has a distribution p_j, built by adding one document after
the other: p(r) ← p(r − 1) π_ij + p(r) (1 − π_ij). The documents are taken as independent, so rows of p sum
to 1 but columns do not: the papers' own approximation, kept.

    position measures   M = Σ_j v_j Σ_r w_r p_j(r)     SoftNDCG, SoftPC(k) …, under any convention
    average precision   M = Σ_j rel_j num_j / (R den_j),   num_j = 1 + Σ_i π_ij rel_i,   den_j = 1 + Σ_i π_ij

The loss is −M, in which the term of j counts r_j, if documents have weights r. A document of weight 0 keeps
its place, so p_j knows of it, but is not moved. The gradient is that of the formulas: Yilmaz & Robertson's
printed ∂PC/∂s_m leaves out that moving m moves every p_j, and their ∂AP/∂s_m counts each ordered pair twice.

Ranks beyond the last that counts are never computed, nor is the distribution of a document of value
0: O(n R k) for R relevant documents and a cut-off k. An adjoint pass through the stored recursion gives
all ∂M/∂π_ij of one j for the price of two more recursions.

Without a cut-off k would be n, but there the distribution is not needed: the mean of d^rank, where each i is
above with its own chance, is the product of 1 − π_ij + π_ij d, and a smooth discount is a sum of at most 40
such powers, to twelve digits (`_decays`). So SoftNDCG of whole lists takes O(n R) too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pomona._jit import kernel
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.closed_form import POSITION, PRECISION, ClosedForm
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure as parse_measure
from pomona.objectives._decays import as_decays
from pomona.objectives.lambdas import single_values
from pomona.objectives.query_objective import QueryObjective

_FAR = 6.0  # beyond 6 · 2σ the chances are 0 or 1 in double precision
_STEPS = 64  # tabled values in a distance of 2σ
_TABLED = np.arange(-_FAR * _STEPS, _FAR * _STEPS + 1) / _STEPS
_CHANCE = np.array([0.5 * math.erfc(-x) for x in _TABLED])
_DENSITY = np.exp(-_TABLED * _TABLED) / math.sqrt(math.pi)


@kernel(fastmath=True)
def _chances(s, j, sigma, out_above, out_slope):
    """π_ij of every i, and its derivative by s_i: a series from the nearest tabled x, to nine digits."""
    per_score = 1.0 / (2.0 * sigma)
    for i in range(s.size):
        x = min(max((s[i] - s[j]) * per_score, -_FAR), _FAR)
        t = int(((x if x == x else 0.0) + _FAR) * _STEPS + 0.5)  # NaN has no place, but goes on below
        a = t * (1.0 / _STEPS) - _FAR
        d = x - a
        second, third = 2.0 * a * a - 1.0, a * (2.0 - (4.0 / 3.0) * a * a)
        density = _DENSITY[t]
        out_above[i] = _CHANCE[t] + density * d * (1.0 + d * (-a + d * (second / 3.0 + d * third / 4.0)))
        out_slope[i] = density * (1.0 + d * (-2.0 * a + d * (second + d * third))) * per_score
    out_above[j] = out_slope[j] = 0.0


@kernel
def _soft_sum(above, weight, ranks, adjoint, out_slopes):
    """Σ_r w_r p_j(r), and its derivative by every π_ij.

    ranks (n + 1, depth) : work space, row i the distribution after i documents · adjoint (depth + 1,).
    """
    n, depth = above.size, weight.size
    ranks[0, :] = 0.0
    ranks[0, 0] = 1.0
    for i in range(n):
        now, after, up = ranks[i], ranks[i + 1], above[i]
        stay = 1.0 - up
        after[0] = now[0] * stay
        for r in range(1, depth):
            after[r] = now[r] * stay + now[r - 1] * up
    total = 0.0
    for r in range(depth):
        total += weight[r] * ranks[n, r]
        adjoint[r] = weight[r]
    adjoint[depth] = 0.0
    for i in range(n - 1, -1, -1):
        now, up = ranks[i], above[i]
        stay, slope = 1.0 - up, 0.0
        for r in range(depth):
            slope += now[r] * (adjoint[r + 1] - adjoint[r])
        for r in range(depth):
            adjoint[r] = adjoint[r] * stay + adjoint[r + 1] * up
        out_slopes[i] = slope
    return total


@kernel(fastmath=True)
def _soft_decays(above, shares, decays, products, out_slopes):
    """As `_soft_sum`, for weights that are a sum of decays; products (n_decays,) is work space."""
    for m in range(decays.size):  # not `products[:] = shares`, which takes 1.5 s to compile
        products[m] = shares[m]
    for i in range(above.size):
        for m in range(decays.size):
            products[m] *= 1.0 - above[i] * (1.0 - decays[m])
    total = 0.0
    for m in range(decays.size):
        total += products[m]
        products[m] *= decays[m] - 1.0
    for i in range(above.size):
        slope = 0.0
        for m in range(decays.size):
            slope += products[m] / (1.0 - above[i] * (1.0 - decays[m]))
        out_slopes[i] = slope
    return total


@kernel
def _soft_precision(above, value, out_slopes):
    """num_j / den_j, and its derivative by every π_ij; relevant are documents of a value above 0."""
    n_relevant, passed = 1.0, 1.0
    for i in range(above.size):
        passed += above[i]
        if value[i] > 0:
            n_relevant += above[i]
    for i in range(above.size):
        out_slopes[i] = ((1.0 if value[i] > 0 else 0.0) - n_relevant / passed) / passed
    return n_relevant / passed


@kernel
def _soften(
    first, last, scores, query_ptr, weights, relative, values, rank_weight, shares, decays, is_precision,
    sigma, out_gradient, out_hessian, out_loss,
):  # fmt: skip
    """relative (n_docs,) weights of documents, or empty, where they are 1."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        s, value = scores[begin:end], values[begin:end]
        depth = min(n, rank_weight.size)
        weight = rank_weight[:depth]
        by_decays = 0 < decays.size < depth  # shorter lists have their distributions sooner
        ranks = np.empty((1 if is_precision or by_decays else n + 1, depth))
        adjoint, products = np.empty(depth + 1), np.empty(decays.size)
        above, slope, slopes, gradient = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
        total = 0.0
        for j in range(n):
            doc_value = np.float64(value[j])
            if relative.size:
                doc_value *= relative[begin + j]
            if doc_value == 0:
                continue
            _chances(s, j, sigma, above, slope)
            if is_precision:
                total += doc_value * _soft_precision(above, value, slopes)
            elif by_decays:
                total += doc_value * _soft_decays(above, shares, decays, products, slopes)
            else:
                total += doc_value * _soft_sum(above, weight, ranks, adjoint, slopes)
            for i in range(n):
                change = doc_value * slopes[i] * slope[i]
                gradient[i] += change
                gradient[j] -= change
        out_loss[q] = -weights[q] * total
        for i in range(n):
            out_gradient[begin + i] = -weights[q] * gradient[i]
            out_hessian[begin + i] = weights[q]
            if relative.size:
                out_hessian[begin + i] *= np.float32(relative[begin + i])
                if relative[begin + i] == 0:
                    out_gradient[begin + i] = 0


class SoftRankObjective(QueryObjective):
    """A measure of noisy scores should be high, on average.

    The loss has no useful second derivative (it is not convex): 1 stands for it, as in gradient descent.

    Parameters
    ----------
    measure : a position measure (`ndcg@10`, `p@10`, `rbp`, under any convention) or `ap`.
    labels, query_ptr : documents grouped by query.
    sigma : deviation of the scores' noise; smaller is closer to the measure, and rougher.
    weights : one a query, multiplies its loss.
    relative : one a document, r: its term counts r. None for 1.

    >>> objective = SoftRankObjective("ap", [0, 1, 1], [0, 3])
    >>> objective.losses(np.array([1.0, 0.5, 0.0])).round(6)
    array([-0.681969])
    """

    _smallest: ClassVar[int] = 1
    _sees_all: ClassVar[bool] = True

    def __init__(
        self,
        measure: str | Measure,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        *,
        sigma: float = 1.0,
        weights: ArrayLike | None = None,
        relative: ArrayLike | None = None,
    ) -> None:
        super().__init__(labels, query_ptr, weights, relative)
        if not sigma > 0:
            raise InputError(f"sigma must be above 0, found {sigma:g}")
        lists = RankedLists.of_documents(self._labels, self._query_ptr)
        parsed = parse_measure(measure)
        self._form = soft_form(parsed, lists)
        self._values = single_values(self._form, self._labels, parsed)
        self._decays = as_decays(self._form.weight, lists.longest)
        self._sigma = float(sigma)

    def _kernel(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        form, of_docs = self._form, (self._relative, self._values)
        return _soften, (*of_docs, form.weight, *self._decays, form.kind == PRECISION, self._sigma)


def soft_form(measure: Measure, lists: RankedLists) -> ClosedForm:
    """The values of documents and weights of ranks of a measure that has a soft twin."""
    form = measure.closed_form(lists)
    if form is not None and form.ceiling == np.inf:
        is_whole_list = measure.k is None and len(form.weight) >= lists.longest  # ap@k has no soft twin
        if form.kind == POSITION or (form.kind == PRECISION and is_whole_list):
            return form
    raise InputError(
        f"{measure} has no soft form: use a sum over ranks without a ceiling (ndcg@10, p@10, rbp …) or ap"
    )
