"""The likelihood that documents, drawn one after the other, come in a given order.

    L = Σ_{t ≤ k} (log S_t − s_{π(t)}),   S_t = Σ_{l ≥ t} exp(s_{π(l)})

Each step draws from what is left, with chances in proportion to exp(score) (Plackett 1975, Luce 1959). All is
kept as logarithms, so that no gap between scores is too wide.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel


@kernel
def _log_sum(a, b):
    """log(exp(a) + exp(b))."""
    return max(a, b) + np.log1p(np.exp(-abs(a - b))) if a != b else a + np.log(2.0)


@kernel
def follow_orders(
    first, last, scores, query_ptr, weights, relative, keys, k, out_gradient, out_hessian, out_loss
):  # fmt: skip
    """The mean negative log likelihood of the orders that `keys` descending give.

    relative (n_docs,) what the step that draws a document counts, or empty, where that is 1 ·
    keys (n_orders, n_docs) · k : steps of each order that count.
    """
    n_orders = keys.shape[0]
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        n = end - begin
        s, log_sums = scores[begin:end], np.empty(n)
        gradient, hessian, loss = np.zeros(n), np.zeros(n), 0.0
        for one in range(n_orders):
            order = np.argsort(-keys[one, begin:end])
            left = -np.inf
            for t in range(n - 1, -1, -1):
                left = _log_sum(s[order[t]], left)
                log_sums[t] = left
            # log Σ 1 / S_u and log Σ 1 / S_u² over the steps so far
            inverse, squared = -np.inf, -np.inf
            for t in range(n):
                i = order[t]
                if t < k:
                    step = relative[begin + i] if relative.size else 1.0
                    log_step = np.log(step) if relative.size else 0.0
                    inverse = _log_sum(inverse, log_step - log_sums[t])
                    squared = _log_sum(squared, log_step - 2.0 * log_sums[t])
                    loss += step * (log_sums[t] - s[i])
                    gradient[i] -= step
                drawn = np.exp(s[i] + inverse)
                gradient[i] += drawn
                hessian[i] += drawn - np.exp(2.0 * s[i] + squared)
        weight = weights[q] / n_orders
        out_loss[q] = weight * loss
        for i in range(n):
            out_gradient[begin + i] = weight * gradient[i]
            out_hessian[begin + i] = weight * hessian[i]
