"""The squared hinge over pairs of documents, in O(n log n) a query.

    F(s) = Σ_q u_q Σ_{y_i > y_j} r_i r_j max(0, 1 − s_i + s_j)²  /  Σ_q u_q Σ_{y_i > y_j} r_i r_j

with u the weight of a query and r that of a document beside the others of its query, both 1 if not given.

No pair is ever looked at. With the scores sorted, the worse documents that come too near to a better one lie
in a window that only grows while we walk down the ranking; sums over the window by label (Lee & Lin 2014)
give value, gradient and curvature. Each query is summed by itself, then the queries in order.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Labels, Offsets, Values
from pomona.data.rows import read_only
from pomona.errors import NothingToLearnError
from pomona.measures.judge import sum_in_order
from pomona.rankers.linear.sums.feature_sums import sum_of_pieces, symmetric
from pomona.rankers.linear.sums.label_sums import grades, insert_terms, pair_weights, sum_terms


@kernel
def sum_below(s, grade, terms, out):
    """Of each document, the summed terms of those of a lower grade that are less than 1 below it, or above.

    s, grade (n,) by falling score · terms, out (n, n_terms).
    """
    tree, entering = np.zeros((grade.max() + 1, terms.shape[1])), 0
    for i in range(s.size):
        while entering < s.size and s[entering] > s[i] - 1.0:
            insert_terms(tree, grade[entering], terms[entering])
            entering += 1
        sum_terms(tree, grade[i] - 1, out[i])


@kernel
def sum_above(s, grade, terms, out):
    """As `sum_below`, over those of a higher grade that are less than 1 above it, or below."""
    top, entering = grade.max(), s.size - 1
    tree = np.zeros((top + 1, terms.shape[1]))
    for i in range(s.size - 1, -1, -1):
        while entering >= 0 and s[entering] < s[i] + 1.0:
            insert_terms(tree, top + 1 - grade[entering], terms[entering])
            entering -= 1
        sum_terms(tree, top - grade[i], out[i])


@kernel
def _value_and_gradient(
    first, last, scores, grade, query_ptr, factor, relative, out_value, out_gradient
):  # fmt: skip
    """relative (n_docs,) · out_value (n_queries,) · out_gradient (n_docs,).

    Where only the value is wanted, out_gradient is empty.
    """
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        out_value[q] = 0.0
        if out_gradient.size:
            out_gradient[begin:end] = 0.0
        if factor[q] == 0.0:
            continue
        n = end - begin
        order = np.argsort(scores[begin:end])[::-1]
        # Sums of squares lose fewer digits around 0.
        s = scores[begin:end][order] - scores[begin + order[n - 1 - n // 2]]
        y, r = grade[begin:end][order], relative[begin:end][order]
        terms, sums = np.empty((n, 3)), np.empty((n, 3))
        for i in range(n):
            terms[i, 0], terms[i, 1], terms[i, 2] = r[i], r[i] * s[i], r[i] * (s[i] * s[i])
        sum_below(s, y, terms, sums)
        value = 0.0
        for i in range(n):  # the worse documents that are too near to i
            count, total, squares = sums[i]
            lack = 1.0 - s[i]
            value += r[i] * (count * lack * lack + 2.0 * lack * total + squares)
            if out_gradient.size:
                out_gradient[begin + order[i]] -= 2.0 * factor[q] * r[i] * (count * lack + total)
        out_value[q] = factor[q] * max(value, 0.0)
        if out_gradient.size:
            sum_above(s, y, terms, sums)
            for i in range(n):  # the better documents that i is too near to
                slope = sums[i, 0] * (1.0 + s[i]) - sums[i, 1]
                out_gradient[begin + order[i]] += 2.0 * factor[q] * r[i] * slope


@kernel
def _derivatives_along(
    first, last, scores, direction, step, grade, query_ptr, factor, relative, out_slope, out_second
):  # fmt: skip
    """First and second derivative of each query's value by `step`, at scores + step · direction."""
    for q in range(first, last):
        out_slope[q] = out_second[q] = 0.0
        if factor[q] == 0.0:
            continue
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        moved = scores[begin:end] + step * direction[begin:end]
        order = np.argsort(moved)[::-1]
        s = moved[order] - moved[order[n - 1 - n // 2]]
        d, r = direction[begin:end][order], relative[begin:end][order]
        terms, sums = np.empty((n, 5)), np.empty((n, 5))
        for i in range(n):
            terms[i, 0], terms[i, 1], terms[i, 2] = r[i], r[i] * s[i], r[i] * d[i]
            terms[i, 3], terms[i, 4] = r[i] * (s[i] * d[i]), r[i] * (d[i] * d[i])
        sum_below(s, grade[begin:end][order], terms, sums)
        slope, second = 0.0, 0.0
        for i in range(n):
            count, total, moves, products, squares = sums[i]
            lack = 1.0 - s[i]
            slope += r[i] * (lack * moves + products - d[i] * (count * lack + total))
            second += r[i] * (count * d[i] * d[i] - 2.0 * d[i] * moves + squares)
        out_slope[q], out_second[q] = 2.0 * factor[q] * slope, 2.0 * factor[q] * max(second, 0.0)


@kernel
def _curvature(first, last, X, features, scores, grade, query_ptr, factor, relative, out):
    """Second derivatives by the weights of some features · out (n_pieces, n, n), lower triangles."""
    n_features = features.size
    size = -(-(query_ptr.size - 1) // out.shape[0])
    for piece in range(first, last):
        for q in range(piece * size, min((piece + 1) * size, query_ptr.size - 1)):
            if factor[q] == 0.0:
                continue
            begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
            order = np.argsort(scores[begin : begin + n])[::-1]
            s = scores[begin : begin + n][order]
            y, r = grade[begin : begin + n][order], relative[begin : begin + n][order]
            x, weighted = np.empty((n, n_features)), np.empty((n, n_features + 1))
            for i in range(n):
                for c in range(n_features):
                    x[i, c] = X[begin + order[i], features[c]]
                    weighted[i, c] = r[i] * x[i, c]
                weighted[i, n_features] = r[i]  # the last column counts
            # r_j (x_i − x_j), summed over all j on the other side of a pair with too small a margin
            apart, sums = np.zeros((n, n_features)), np.empty((n, n_features + 1))
            for side in range(2):
                if side == 0:
                    sum_below(s, y, weighted, sums)
                else:
                    sum_above(s, y, weighted, sums)
                for i in range(n):
                    for c in range(n_features):
                        apart[i, c] += sums[i, n_features] * x[i, c] - sums[i, c]
            for i in range(n - 1, -1, -1):
                for c in range(n_features):
                    u, total = 2.0 * factor[q] * r[i] * x[i, c], out[piece, c]
                    for e in range(c + 1):
                        total[e] += u * apart[i, e]


class SquaredPairHinge:
    """The mean squared hinge over all pairs of documents of a query of which one has the higher label.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    weights : one a query: what each of its pairs counts; 1 when None.
    relative : one a document: a pair counts the product of its two in addition; 1 when None.

    >>> hinge = SquaredPairHinge(np.array([2, 1, 0], np.float32), np.array([0, 3]))
    >>> value, gradient = hinge.gradient(np.array([2.0, 1.5, 1.0]))
    >>> value == (0.5**2 + 0.5**2 + 0) / 3, (3 * gradient).tolist()
    (True, [-1.0, 0.0, 1.0])
    """

    def __init__(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values | None = None,
        relative: Values | None = None,
    ) -> None:
        grade, pairs = grades(labels, query_ptr)
        if relative is None:
            relative = np.ones(len(grade))
        else:
            pairs = pair_weights(grade, query_ptr, relative)
        counted = np.where(pairs > 0, 1.0 if weights is None else weights, 0.0)
        total = sum_in_order(counted * pairs)
        if total == 0:
            raise NothingToLearnError("no query that counts has two documents of different labels")
        self._rules = (grade, np.array(query_ptr, np.int64), counted / total, np.array(relative))
        self._n_queries = len(pairs)

    def value(self, scores: Values) -> float:
        """The mean over all pairs."""
        values = np.empty(self._n_queries)
        over_chunks(
            _value_and_gradient, self._n_queries, scores, *self._rules, values, np.empty(0), smallest=16
        )
        return sum_in_order(values)

    def gradient(self, scores: Values) -> tuple[float, Values]:
        """The value, and its derivative by the score of each document."""
        values, gradient = np.empty(self._n_queries), np.empty(len(scores))
        over_chunks(_value_and_gradient, self._n_queries, scores, *self._rules, values, gradient, smallest=16)
        return sum_in_order(values), gradient

    def curvature(self, X: Features, features: Offsets, scores: Values) -> Values:
        """Second derivatives by the weights of some features of X, at these scores."""
        pieces = np.zeros((16, len(features), len(features)))
        over_chunks(_curvature, len(pieces), read_only(X), features, scores, *self._rules, pieces)
        return symmetric(sum_of_pieces(pieces))

    def along(self, scores: Values, direction: Values, step: float) -> tuple[float, float]:
        """First and second derivative by `step` of the value at scores + step · direction."""
        line, out = (scores, direction, step), (np.empty(self._n_queries), np.empty(self._n_queries))
        over_chunks(_derivatives_along, self._n_queries, *line, *self._rules, *out, smallest=16)
        return sum_in_order(out[0]), sum_in_order(out[1])

    def best_step(self, scores: Values, direction: Values) -> float:
        """The step of [0, 1] along a direction that lowers the value most.

        The slope rises in straight pieces, so that Newton's steps, kept between a point where the value
        falls and one where it rises, find the exact minimum after a few.
        """
        first, second = self.along(scores, direction, 0.0)
        if first >= 0:
            return 0.0
        low, high, step = 0.0, 1.0, 1.0 if first + second <= 0 else -first / second
        for _ in range(60):
            slope, second = self.along(scores, direction, step)
            if abs(slope) <= -1e-12 * first or (slope < 0 and step == 1):
                break
            low, high = (step, high) if slope < 0 else (low, step)
            step = step - slope / second if second > 0 else high
            if not low < step < high:
                step = 1.0 if step >= high == 1 else (low + high) / 2
        return step
