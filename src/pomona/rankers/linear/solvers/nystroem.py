"""Nyström's features (Williams & Seeger 2001): a kernel machine as a linear one, by a few landmarks.

    k(x, x') ≈ φ(x)·φ(x'),   φ(x) = L⁻¹ (k(x, m_1), …, k(x, m_r)),   L Lᵀ = (k(m_i, m_j))

with landmarks m drawn from the training documents; those that depend on others already drawn are left out. A
line w·φ(x) is Σ_i v_i k(x, m_i) with Lᵀ v = w, so a model is its landmarks and one weight for each. Where all
documents are landmarks, it is the kernel machine itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Scores, Values
from pomona.data.rows import read_only
from pomona.rankers.linear.sums.feature_sums import feature_sums

_LEAST = 1e-6
"""A landmark of which the others explain all but so small a share is left out."""


@kernel(fastmath=True)
def _kernel_value(x, m, is_rbf, gamma, degree):
    """exp(−γ‖x − m‖²), or (γ x·m + 1)^degree · x, m (n_features,) float32."""
    total = 0.0
    if is_rbf:
        for j in range(x.size):
            apart = np.float64(x[j]) - np.float64(m[j])
            total += apart * apart
        return np.exp(-gamma * total)
    for j in range(x.size):
        total += np.float64(x[j]) * np.float64(m[j])
    return (gamma * total + 1.0) ** degree


@kernel
def _kernel_values(first, last, X, landmarks, is_rbf, gamma, degree, out):
    """out (n_docs, n_landmarks)."""
    for i in range(first, last):
        for k in range(len(landmarks)):
            out[i, k] = _kernel_value(X[i], landmarks[k], is_rbf, gamma, degree)


@kernel
def _kernel_sums(first, last, X, landmarks, is_rbf, gamma, degree, weights, out):
    """out (n_docs,): Σ_k weights_k k(x, m_k)."""
    for i in range(first, last):
        total = 0.0
        for k in range(len(landmarks)):
            total += weights[k] * _kernel_value(X[i], landmarks[k], is_rbf, gamma, degree)
        out[i] = total


@kernel
def _factor(products, least, kept, lower):
    """Cholesky's factor of the rows that do not depend on those before; returns how many.

    products, lower (n, n) · kept (n,): which rows.
    """
    n = 0
    for i in range(len(products)):
        rest = products[i, i]
        for c in range(n):
            total = products[i, kept[c]]
            for e in range(c):
                total -= lower[n, e] * lower[c, e]
            lower[n, c] = total / lower[c, c]
            rest -= lower[n, c] ** 2
        if rest > least * products[i, i]:
            lower[n, n], kept[n] = np.sqrt(rest), i
            n += 1
    return n


@kernel
def _solve(first, last, lower, values, out):
    """Lx = values, row by row · lower (r, r) · values (n, r) · out (n, r) float32."""
    solution = np.empty(len(lower))
    for i in range(first, last):
        for c in range(len(lower)):
            total = values[i, c]
            for e in range(c):
                total -= lower[c, e] * solution[e]
            solution[c] = total / lower[c, c]
            out[i, c] = solution[c]


@dataclass(frozen=True)
class Kernel:
    """exp(−gamma ‖x − x'‖²), or (gamma x·x' + 1)^degree.

    >>> X = np.array([[0, 0], [1, 2]], np.float32)
    >>> Kernel("rbf", 0.1).values(X, X).round(6).tolist()
    [[1.0, 0.606531], [0.606531, 1.0]]
    >>> Kernel("poly", 1.0, 2).values(X, X).tolist()
    [[1.0, 1.0], [1.0, 36.0]]
    """

    kind: Literal["rbf", "poly"]
    gamma: float
    degree: int = 3

    @property
    def _rules(self) -> tuple[bool, float, int]:
        return self.kind == "rbf", self.gamma, self.degree

    def values(self, X: Features, landmarks: Features) -> Values:
        """(n_docs, n_landmarks) values of the kernel."""
        out = np.empty((len(X), len(landmarks)))
        over_chunks(
            _kernel_values, len(X), read_only(X), read_only(landmarks), *self._rules, out, smallest=64
        )
        return out

    def sums(self, X: Features, landmarks: Features, weights: Values) -> Scores:
        """Σ_k weights_k k(x, m_k) of each document."""
        out = np.empty(len(X))
        given = read_only(X), read_only(landmarks), *self._rules, read_only(weights)
        over_chunks(_kernel_sums, len(X), *given, out, smallest=64)
        return out

    def mean_slope(self, landmarks: Features, weights: Values) -> Values:
        """How Σ_k weights_k k(x, m_k) grows with each feature, on average over the landmarks."""
        values = self.values(landmarks, landmarks)
        if self.kind == "rbf":
            terms = weights * values
            factors = -2.0 * self.gamma * (terms.sum(axis=1) - terms.sum(axis=0))
        else:
            factors = weights * self.degree * self.gamma * (values ** (1 - 1 / self.degree)).sum(axis=0)
        return feature_sums(landmarks, factors / max(len(landmarks), 1))


class NystroemFeatures:
    """The features of a kernel by landmarks drawn from documents.

    Parameters
    ----------
    kernel, X : whose features, and the documents.
    n_components : the most landmarks.
    seed : draws them.
    """

    def __init__(self, kernel: Kernel, X: Features, n_components: int, seed: int) -> None:
        drawn = np.random.default_rng(seed).permutation(len(X))[:n_components]
        products = kernel.values(X[drawn], X[drawn])
        kept, lower = np.empty(len(drawn), np.int64), np.zeros(products.shape)
        n = _factor(products, _LEAST, kept, lower)
        self._kernel, self._lower = kernel, np.ascontiguousarray(lower[:n, :n])
        self.landmarks: Features = np.ascontiguousarray(X[drawn[kept[:n]]])

    def of(self, X: Features) -> Features:
        """φ of documents."""
        values = self._kernel.values(X, self.landmarks)
        out = np.empty(values.shape, np.float32)
        over_chunks(_solve, len(X), read_only(self._lower), read_only(values), out, smallest=64)
        return out

    def landmark_weights(self, coef: Values) -> Values:
        """The v of the line w = `coef`: Lᵀ v = w."""
        v = coef.copy()
        for c in range(len(v) - 1, -1, -1):
            v[c] /= self._lower[c, c]
            v[:c] -= self._lower[c, :c] * v[c]
        return v
