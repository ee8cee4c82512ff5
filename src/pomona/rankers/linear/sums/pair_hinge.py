"""The squared hinge over pairs of documents, in O(n log n) a query.

    F(s) = Σ_q u_q Σ_{y_i > y_j} max(0, 1 − s_i + s_j)²  /  Σ_q u_q (number of pairs of q)

No pair is ever looked at. With the scores sorted, the worse documents that come too near to a better one lie
in a window that only grows while we walk down the ranking; sums over the window by label (Lee & Lin 2014)
give value, gradient and curvature. Each query is summed by itself, then the queries in order.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Labels, Offsets, Values
from pomona.data.dataset import read_only
from pomona.errors import InputError
from pomona.measures.judge import sum_in_order
from pomona.rankers.linear.sums.feature_sums import sum_of_pieces, symmetric
from pomona.rankers.linear.sums.label_sums import grades, insert_terms, sum_terms


@kernel
def _push(first, last, scores, grade, query_ptr, factor, out_value, out_gradient):
    """out_value (n_queries,) · out_gradient (n_docs,), or empty when only the value is wanted."""
    terms, found = np.empty(3), np.empty(3)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        out_value[q] = 0.0
        if out_gradient.size:
            out_gradient[begin:end] = 0.0
        if factor[q] == 0.0:
            continue
        n = end - begin
        order = np.argsort(scores[begin:end])
        # Sums of squares lose fewer digits around 0.
        s = scores[begin:end][order] - scores[begin + order[n // 2]]
        y = grade[begin:end][order]
        top = y.max()
        tree = np.zeros((top + 1, 3))
        inside, value = n - 1, 0.0
        for i in range(n - 1, -1, -1):  # the worse documents that are too near to i
            while inside >= 0 and s[inside] > s[i] - 1.0:
                terms[0], terms[1], terms[2] = 1.0, s[inside], s[inside] * s[inside]
                insert_terms(tree, y[inside], terms)
                inside -= 1
            sum_terms(tree, y[i] - 1, found)
            lack = 1.0 - s[i]
            value += found[0] * lack * lack + 2.0 * lack * found[1] + found[2]
            if out_gradient.size:
                out_gradient[begin + order[i]] -= 2.0 * factor[q] * (found[0] * lack + found[1])
        out_value[q] = factor[q] * max(value, 0.0)
        if not out_gradient.size:
            continue
        tree[:] = 0.0
        inside = 0
        for i in range(n):  # the better documents that i is too near to
            while inside < n and s[inside] < s[i] + 1.0:
                terms[0], terms[1], terms[2] = 1.0, s[inside], 0.0
                insert_terms(tree, top + 1 - y[inside], terms)
                inside += 1
            sum_terms(tree, top - y[i], found)
            out_gradient[begin + order[i]] += 2.0 * factor[q] * (found[0] * (1.0 + s[i]) - found[1])


@kernel
def _look_along(first, last, scores, direction, step, grade, query_ptr, factor, out_slope, out_bend):
    """First and second derivative of each query's value by `step`, at scores + step · direction."""
    terms, found = np.empty(5), np.empty(5)
    for q in range(first, last):
        out_slope[q] = out_bend[q] = 0.0
        if factor[q] == 0.0:
            continue
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        moved = scores[begin:end] + step * direction[begin:end]
        order = np.argsort(moved)
        s = moved[order] - moved[order[n // 2]]
        d = direction[begin:end][order]
        y = grade[begin:end][order]
        tree = np.zeros((y.max() + 1, 5))
        inside, slope, bend = n - 1, 0.0, 0.0
        for i in range(n - 1, -1, -1):
            while inside >= 0 and s[inside] > s[i] - 1.0:
                v, w = s[inside], d[inside]
                terms[0], terms[1], terms[2], terms[3], terms[4] = 1.0, v, w, v * w, w * w
                insert_terms(tree, y[inside], terms)
                inside -= 1
            sum_terms(tree, y[i] - 1, found)
            lack = 1.0 - s[i]
            slope += lack * found[2] + found[3] - d[i] * (found[0] * lack + found[1])
            bend += found[0] * d[i] * d[i] - 2.0 * d[i] * found[2] + found[4]
        out_slope[q], out_bend[q] = 2.0 * factor[q] * slope, 2.0 * factor[q] * max(bend, 0.0)


@kernel
def _bend(first, last, X, features, scores, grade, query_ptr, factor, out):
    """Second derivatives by the weights of some features · out (n_pieces, n, n), lower triangles."""
    n_features = features.size
    size = -(-(query_ptr.size - 1) // out.shape[0])
    found = np.empty(n_features + 1)
    for piece in range(first, last):
        for q in range(piece * size, min((piece + 1) * size, query_ptr.size - 1)):
            if factor[q] == 0.0:
                continue
            begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
            order = np.argsort(scores[begin : begin + n])
            s = scores[begin : begin + n][order]
            y = grade[begin : begin + n][order]
            x = np.ones((n, n_features + 1))  # the last column counts
            for i in range(n):
                for c in range(n_features):
                    x[i, c] = X[begin + order[i], features[c]]
            # x_i − x_j, summed over all j on the other side of a pair with too small a margin
            apart = np.zeros((n, n_features))
            top = y.max()
            tree = np.zeros((top + 1, n_features + 1))
            inside = n - 1
            for i in range(n - 1, -1, -1):
                while inside >= 0 and s[inside] > s[i] - 1.0:
                    insert_terms(tree, y[inside], x[inside])
                    inside -= 1
                sum_terms(tree, y[i] - 1, found)
                for c in range(n_features):
                    apart[i, c] += found[n_features] * x[i, c] - found[c]
            tree[:] = 0.0
            inside = 0
            for i in range(n):
                while inside < n and s[inside] < s[i] + 1.0:
                    insert_terms(tree, top + 1 - y[inside], x[inside])
                    inside += 1
                sum_terms(tree, top - y[i], found)
                for c in range(n_features):
                    apart[i, c] += found[n_features] * x[i, c] - found[c]
            for i in range(n):
                for c in range(n_features):
                    u, total = 2.0 * factor[q] * x[i, c], out[piece, c]
                    for e in range(c + 1):
                        total[e] += u * apart[i, e]


class SquaredPairHinge:
    """The mean squared hinge over all pairs of documents of a query of which one has the higher label.

    Parameters
    ----------
    labels, query_ptr : documents grouped by query.
    weights : one a query: what each of its pairs counts; 1 when None.

    >>> hinge = SquaredPairHinge(np.array([2, 1, 0], np.float32), np.array([0, 3]))
    >>> value, gradient = hinge.gradient(np.array([2.0, 1.5, 1.0]))
    >>> value == (0.5**2 + 0.5**2 + 0) / 3, (3 * gradient).tolist()
    (True, [-1.0, 0.0, 1.0])
    """

    def __init__(self, labels: Labels, query_ptr: Offsets, weights: Values | None = None) -> None:
        grade, pairs = grades(labels, query_ptr)
        counted = np.where(pairs > 0, 1.0 if weights is None else weights, 0.0)
        total = sum_in_order(counted * pairs)
        if total == 0:
            raise InputError(
                "there is nothing to learn: no query that counts has two documents of different labels"
            )
        self._rules = (grade, np.array(query_ptr, np.int64), counted / total)
        self._n_queries = len(pairs)

    def value(self, scores: Values) -> float:
        """The mean over all pairs."""
        values = np.empty(self._n_queries)
        over_chunks(_push, self._n_queries, scores, *self._rules, values, np.empty(0), smallest=16)
        return sum_in_order(values)

    def gradient(self, scores: Values) -> tuple[float, Values]:
        """The value, and its derivative by the score of each document."""
        values, gradient = np.empty(self._n_queries), np.empty(len(scores))
        over_chunks(_push, self._n_queries, scores, *self._rules, values, gradient, smallest=16)
        return sum_in_order(values), gradient

    def curvature(self, X: Features, features: Offsets, scores: Values) -> Values:
        """Second derivatives by the weights of some features of X, at these scores."""
        pieces = np.zeros((16, len(features), len(features)))
        over_chunks(_bend, len(pieces), read_only(X), features, scores, *self._rules, pieces)
        return symmetric(sum_of_pieces(pieces))

    def along(self, scores: Values, direction: Values, step: float) -> tuple[float, float]:
        """First and second derivative by `step` of the value at scores + step · direction."""
        slopes, bends = np.empty(self._n_queries), np.empty(self._n_queries)
        over_chunks(
            _look_along, self._n_queries, scores, direction, step, *self._rules, slopes, bends, smallest=16
        )
        return sum_in_order(slopes), sum_in_order(bends)

    def best_step(self, scores: Values, direction: Values) -> float:
        """The step of [0, 1] along a direction that lowers the value most.

        The slope rises in straight pieces, so that Newton's steps, kept between a point where the value
        falls and one where it rises, find the exact minimum after a few.
        """
        first, bend = self.along(scores, direction, 0.0)
        if first >= 0:
            return 0.0
        low, high, step = 0.0, 1.0, 1.0 if first + bend <= 0 else -first / bend
        for _ in range(60):
            slope, bend = self.along(scores, direction, step)
            if abs(slope) <= -1e-12 * first or (slope < 0 and step == 1):
                break
            low, high = (step, high) if slope < 0 else (low, step)
            step = step - slope / bend if bend > 0 else high
            if not low < step < high:
                step = 1.0 if step >= high == 1 else (low + high) / 2
        return step
