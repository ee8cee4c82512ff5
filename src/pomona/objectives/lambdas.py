"""Lambda gradients towards any measure (Burges, Ragno & Le 2006; Wu, Burges, Svore & Gao 2010).

    λ_ij = σ |Δ_ij| ρ,   h_ij = σ² |Δ_ij| ρ (1 − ρ),   ρ = 1 / (1 + exp(σ (s_i − s_j)))

for every pair of documents of a query of which i should stand above j; Δ_ij is what the measure changes by
when the two trade places in the current ranking, all others fixed.

What we do differently:

- Δ is the measure's own, under its convention. Beyond the cut-off a rank counts nothing, as in the measure;
  LightGBM and RankLib keep discounting there, and RankLib's ERR deltas are wrong from rank 4 on.
- Which document should stand above is the measure's word too: the one whose rise increases it. For every
  measure that prefers higher labels this is the one of the higher label, as in the papers; but under a
  convention in which label 3 gains nothing, training by label would work against the measure.
- Ties are broken by a random order, drawn once from the seed. In the first round all scores tie, and input
  order would tell the label: LETOR files are often sorted by it.
- Labels may be any numbers and queries any size; LightGBM stops at 31 levels and 10,000 documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import over_chunks
from pomona._team import by_team
from pomona._types import Codes, Offsets, Values
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.closed_form import ClosedForm
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure as parse_measure
from pomona.objectives._lambda_kernels import (
    add_pairs_address,
    compile_gradients,
    delta_gradients,
    lambda_gradients,
)
from pomona.objectives.base import Objective, Whole, labels_of, offsets_of, scores_of, weights_of

_LARGEST = 2.0**100
"""Of a value: 2^28 of them, the documents of a query, still have a sum in single precision."""
_DRAWN = 1 << 22  # random numbers at a time, where most are for documents on other machines


class LambdaObjective(Objective):
    """Gradients that raise a measure, any measure.

    Parameters
    ----------
    measure : a measure or its string, e.g. `letor4:ndcg@10`. Position measures, average precision and
        cascade measures (ERR, pFound, reciprocal rank) have fast closed forms; any other, also a user's own
        class, is trained by its `swap_deltas`, at worst re-evaluating every swap.
    labels, query_ptr : documents grouped by query.
    sigma : steepness of the sigmoid.
    truncation : only pairs with at least one document among the first so many ranks; None for all that count.
    normalize : as LightGBM: Δ is divided by 0.01 + |s_i − s_j| unless a query's scores are all equal, and its
        gradients are multiplied by log2(1 + S) / S, S the sum of 2 λ_ij over its pairs.
    weights : one a query, multiplies its gradients and hessians.
    relative : one a document, r; a pair counts r_i r_j. A document of 0 is ranked, and seen by the measure,
        but is in no pair. None for 1.
    seed : of the random order that breaks ties.

    The last ranking is remembered, to rank faster; it changes no result, but `gradients` of one objective
    must not run twice at the same time.

    >>> objective = LambdaObjective("ndcg", [2, 1, 0], [0, 3], normalize=False)
    >>> gradient, hessian = np.empty(3, np.float32), np.empty(3, np.float32)
    >>> objective.gradients(np.array([0.0, 1.0, 2.0]), gradient, hessian)
    >>> gradient.round(4)
    array([-0.4166, -0.0216,  0.4382], dtype=float32)
    """

    def __init__(
        self,
        measure: str | Measure,
        labels: ArrayLike,
        query_ptr: ArrayLike,
        *,
        sigma: float = 1.0,
        truncation: int | None = None,
        normalize: bool = True,
        weights: ArrayLike | None = None,
        relative: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        self.measure = parse_measure(measure)
        self._labels = labels_of(labels)
        self._query_ptr = offsets_of(query_ptr, len(self._labels))
        if not sigma > 0:
            raise InputError(f"sigma must be above 0, found {sigma:g}")
        if truncation is not None and truncation < 1:
            raise InputError(f"truncation must be at least 1, found {truncation}")
        self._sigma, self._normalize = float(sigma), bool(normalize)
        lists = RankedLists.of_documents(self._labels, self._query_ptr)
        self._truncation = max(lists.longest, 1) if truncation is None else truncation
        forms = self.measure.closed_forms(lists)
        values: Values | NDArray[np.float32] = self._labels
        if forms:
            compile_gradients()
            values = self._values = np.zeros(len(self._labels), np.float32)
        for of_query, form in forms:
            of_doc = np.repeat(of_query, lists.lengths)
            values[of_doc] = single_values(form, self._labels, self.measure)[of_doc]
        self._form = forms[0][1] if len(forms) == 1 else None
        given = weights_of(weights, lists.n_queries, "queries")
        self._relative = np.empty(0)
        if relative is not None:
            self._relative = weights_of(relative, len(self._labels), "documents")
        self._single_relative = self._relative.astype(np.float32)
        self._weights = np.where(differ(values, self._query_ptr, self._relative), given, 0.0)
        self._parts = [(form, np.where(of_query, self._weights, 0.0)) for of_query, form in forms]
        self._seed = seed
        self._set_tie_order(shuffled_rows(self._query_ptr, np.random.default_rng(seed)))

    def _set_tie_order(self, shuffled: tuple[Codes, Codes]) -> None:
        self._shuffle, self._place = shuffled
        self.tie_order, self._order = self._shuffle, self._shuffle.copy()

    def join(self, whole: Whole) -> None:
        """Ties are broken as they are where all queries stand together."""
        random, numbers, draws = np.random.default_rng(self._seed), whole.doc_numbers, []
        for first in range(0, whole.n_docs, _DRAWN):
            some = random.random(min(_DRAWN, whole.n_docs - first))
            begin, end = np.searchsorted(numbers, [first, first + len(some)])
            draws.append(some[numbers[begin:end] - first])
        self._set_tie_order(_shuffled(self._query_ptr, whole.query_numbers, np.concatenate(draws)))

    @property
    def n_usable_queries(self) -> int:
        """How many queries can teach anything: two documents that the measure tells apart, and a weight."""
        return int(np.count_nonzero(self._weights))

    @property
    def has_closed_form(self) -> bool:
        """Whether the measure's swap deltas are known by one formula for all queries."""
        return self._form is not None

    def kernel_arguments(self) -> tuple[tuple[NDArray[Any], ...], tuple[Any, ...]]:
        """What a kernel of the closed form reads: arrays, and numbers."""
        assert self._form is not None
        form = self._form
        of_docs = self._single_relative, self._values
        arrays = self._query_ptr, self._place, self._weights, *of_docs, form.weight, form.factors
        return arrays, (form.kind, form.ceiling, self._truncation, self._sigma, self._normalize)

    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """−λ and its second derivative for every document (the loss is minimized)."""
        scores = scores_of(scores, len(self._labels))
        if not self._parts:
            self._by_swaps(scores, out_gradient, out_hessian)
            return
        first, *others = self._parts
        self._by_form(*first, scores, out_gradient, out_hessian)
        for part in others:  # each is 0 for the queries of the others
            gradient, hessian = np.empty_like(out_gradient), np.empty_like(out_hessian)
            self._by_form(*part, scores, gradient, hessian)
            out_gradient += gradient
            out_hessian += hessian

    def _by_form(
        self,
        form: ClosedForm,
        weights: Values,
        scores: Values,
        out_gradient: NDArray[np.float32],
        out_hessian: NDArray[np.float32],
    ) -> None:
        """Of the queries with a weight, by a formula that holds for them."""
        by_team(
            lambda_gradients,
            len(weights),
            scores,
            self._query_ptr,
            self._shuffle,
            self._place,
            weights,
            self._single_relative,
            self._values,
            form.weight,
            form.factors,
            form.kind,
            form.ceiling,
            self._truncation,
            self._sigma,
            self._normalize,
            self._order,
            out_gradient,
            out_hessian,
            add_pairs_address(),
            smallest=16,
        )

    def _by_swaps(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """Query by query, for measures without a closed form here."""
        out_gradient[:], out_hessian[:] = 0.0, 0.0
        for query in np.flatnonzero(self._weights):
            begin, end = self._query_ptr[query], self._query_ptr[query + 1]
            query_scores = scores[begin:end]
            shuffle = self._shuffle[begin:end]
            rows = shuffle[np.argsort(-query_scores[shuffle], kind="stable")]
            deltas = self.measure.swap_deltas(self._labels[begin:end][rows])
            if not (np.abs(deltas) <= _LARGEST).all():
                labels = self._labels[begin:end]
                raise InputError(
                    f"{self.measure} changes by NaN, or more than {_LARGEST:.2g}, when documents of labels "
                    f"{labels.min():g} to {labels.max():g} trade places: give smaller labels"
                )
            delta_gradients(
                query_scores,
                rows,
                np.ascontiguousarray(deltas, np.float64),
                self._truncation,
                self._sigma,
                self._normalize,
                self._weights[query],
                self._relative[begin:end],
                out_gradient[begin:end],
                out_hessian[begin:end],
            )


def single_values(form: ClosedForm, labels: Values, measure: Measure) -> NDArray[np.float32]:
    """The values of documents in single precision, in which they are compared, subtracted and added up."""
    values = form.document_values
    if not (np.abs(values) <= _LARGEST).all():
        worst = int(np.flatnonzero(~(np.abs(values) <= _LARGEST))[0])
        raise InputError(
            f"label {labels[worst]:g} has a gain of {values[worst]:g} by {measure}, beyond what sums of "
            f"float32 can hold ({_LARGEST:.2g}): give smaller labels, or a measure with linear gains"
        )
    return values.astype(np.float32)


_ALL = np.empty(0)


def differ(values: NDArray[np.floating], query_ptr: Offsets, relative: Values = _ALL) -> NDArray[np.bool_]:
    """Which queries hold two documents of different values, both of an r above 0, if there are such r."""
    if relative.size and not relative.all():
        counts = relative > 0
        before = np.concatenate(([0], np.cumsum(counts)))
        return differ(values[counts], before[query_ptr])
    changes = np.append(np.flatnonzero(values[1:] != values[:-1]) + 1, len(values))
    # The first change after a query's first document lies inside the query.
    following = np.searchsorted(changes, query_ptr[:-1], side="right")
    differs: NDArray[np.bool_] = np.append(changes, len(values))[following] < query_ptr[1:]
    return differs


def shuffled_rows(query_ptr: Offsets, random: np.random.Generator) -> tuple[Codes, Codes]:
    """The rows of each query, counted from its first, in random order; and the place of each row in it."""
    return _shuffled(query_ptr, np.arange(len(query_ptr) - 1), random.random(int(query_ptr[-1])))


def _shuffled(query_ptr: Offsets, query_numbers: Offsets, draws: Values) -> tuple[Codes, Codes]:
    lengths = np.diff(query_ptr)
    keys = np.repeat(query_numbers, lengths) + draws
    shuffle, place = np.empty((2, len(keys)), np.int32)

    def sort(first: int, last: int) -> None:
        begin, end = query_ptr[first], query_ptr[last]
        begins = np.repeat(query_ptr[first:last], lengths[first:last])
        order = begin + np.argsort(keys[begin:end], kind="stable")
        shuffle[begin:end] = order - begins
        place[order] = np.arange(begin, end) - begins

    over_chunks(sort, len(lengths), smallest=64)
    return shuffle, place
