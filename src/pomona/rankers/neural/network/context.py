"""A network whose documents see the others of their query: self-attention, as plain arrays, without PyTorch.

    h = the hidden layers of a plain network, document by document; then in every block
    h ← h + attended(norm(h)) W_o + b_o,    attended_i = Σ_j softmax_j(q_i · k_j / √width of a head) v_j
    h ← h + φ(norm(h) W_1 + b_1) W_2 + b_2,    and last    score = norm(h) · w

q, k and v are norm(h) W + b, cut into heads, each of which attends by itself (Vaswani et al. 2017; norms
stand first, as in Xiong et al. 2020). Nothing tells the place of a document, so that scores follow the
documents into any order (Pobrotyn et al. 2020; Pasumarthi et al. 2020). The last norm has no gain, which w
is, and no shift, which would change no ranking.

Sums over documents depend, in the last bit, on their order. So those of a query are added in an order that
their hidden units alone decide; documents of the same place in it have the same units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets, Scores
from pomona.data.rows import read_only
from pomona.errors import InputError
from pomona.rankers.neural.network.network import (
    Architecture,
    Network,
    Parameters,
    activate,
    hidden_units,
    normalize,
    total,
    weighted,
    widest,
)
from pomona.rankers.neural.network.scaling import Scaling, scale_row


@kernel  # not of fast math: where it is compiled into others, sums would be in another order than alone
def _attend(queries, keys, values, scale, chances, out):
    """out_i = Σ_j softmax_j(scale q_i · k_j) v_j.

    queries, values, out (n, width) · keys (width, n) · chances (n,) : work space.
    """
    for i in range(len(queries)):
        chances[:] = 0.0
        for c in range(queries.shape[1]):
            q, along = queries[i, c] * scale, keys[c]
            for j in range(chances.size):
                chances[j] += q * along[j]
        highest = chances[0]
        for j in range(1, chances.size):
            highest = max(highest, chances[j])
        mass = np.float32(0.0)
        for j in range(chances.size):
            chances[j] = np.exp(chances[j] - highest)
            mass += chances[j]
        row = out[i]
        row[:] = 0.0
        for j in range(chances.size):
            chance, value = chances[j] / mass, values[j]
            for c in range(row.size):
                row[c] += chance * value[c]


@kernel
def _pass_block(h, parameters, at, n_heads, activation):
    """One block, in place; h (n, width). Returns where its parameters end.

    Numbers are copied one by one: that shapes differ is an error with a text, which takes 4 s to compile.
    """
    n, width = h.shape
    square, of_head = width * width, width // n_heads
    gain, at = parameters[at : at + 2 * width], at + 2 * width
    w_in, b_in, at = (
        parameters[at : at + 3 * square],
        parameters[at + 3 * square :],
        at + 3 * square + 3 * width,
    )
    w_out, b_out, at = parameters[at : at + square], parameters[at + square :], at + square + width
    normal, projected = np.empty(width, np.float32), np.empty((n, 3 * width), np.float32)
    for i in range(n):
        for c in range(width):
            normal[c] = h[i, c]
        normalize(normal, gain[:width], gain[width:])
        weighted(normal, w_in, b_in, projected[i])
    attended, chances = np.empty((n, width), np.float32), np.empty(n, np.float32)
    queries, keys = np.empty((n, of_head), np.float32), np.empty((of_head, n), np.float32)
    values, of_values = np.empty((n, of_head), np.float32), np.empty((n, of_head), np.float32)
    scale = np.float32(1.0 / math.sqrt(of_head))
    for head in range(n_heads):
        begin = head * of_head
        for i in range(n):
            row = projected[i]
            for c in range(of_head):
                queries[i, c] = row[begin + c]
                keys[c, i] = row[width + begin + c]
                values[i, c] = row[2 * width + begin + c]
        _attend(queries, keys, values, scale, chances, of_values)
        for i in range(n):
            for c in range(of_head):
                attended[i, begin + c] = of_values[i, c]
    gain, at = parameters[at : at + 2 * width], at + 2 * width
    w_1, b_1, at = parameters[at : at + square], parameters[at + square :], at + square + width
    w_2, b_2, at = parameters[at : at + square], parameters[at + square :], at + square + width
    change, units = np.empty(width, np.float32), np.empty(width, np.float32)
    for i in range(n):
        weighted(attended[i], w_out, b_out, change)
        for c in range(width):
            h[i, c] += change[c]
            normal[c] = h[i, c]
        normalize(normal, gain[:width], gain[width:])
        weighted(normal, w_1, b_1, units)
        activate(units, activation)
        weighted(units, w_2, b_2, change)
        for c in range(width):
            h[i, c] += change[c]
    return at


@kernel
def _score_queries(
    first, last, X, query_ptr, mean, inverse, log, knots, heights, knot_ptr, parameters, sizes, activation,
    layer_norm, n_blocks, n_heads, key_weight, out,
):  # fmt: skip
    """key_weight (width,) : documents are added up in the order of this sum over their hidden units."""
    width = key_weight.size
    x, spare = np.empty(widest(sizes), np.float32), np.empty(widest(sizes), np.float32)
    ones, zeros = np.ones(width, np.float32), np.zeros(width, np.float32)
    for query in range(first, last):
        begin, n = query_ptr[query], query_ptr[query + 1] - query_ptr[query]
        units, keys, at = np.empty((n, width), np.float32), np.empty(n), np.int64(0)
        for i in range(n):
            scale_row(X[begin + i], mean, inverse, log, knots, heights, knot_ptr, x)
            hidden, at = hidden_units(x, spare, parameters, sizes, activation, layer_norm)
            keys[i] = total(hidden, key_weight)
            for c in range(width):
                units[i, c] = hidden[c]
        order = np.argsort(keys)
        h = units[order]
        for _ in range(n_blocks):
            at = _pass_block(h, parameters, at, n_heads, activation)
        for i in range(n):
            normalize(h[i], ones, zeros)
            out[begin + order[i]] = total(h[i], parameters[at:])


@dataclass(frozen=True)
class ContextArchitecture(Architecture):
    """The shape of a network with self-attention above its hidden layers.

    Parameters
    ----------
    n_blocks : of attention, one upon the other.
    n_heads : of each block; they share the last hidden layer's width.
    """

    n_blocks: int = 1
    n_heads: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden or self.hidden[-1] % self.n_heads:
            raise InputError(
                f"attention needs a hidden layer, the last of a width that is a multiple of n_heads="
                f"{self.n_heads}: found hidden={self.hidden}"
            )

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of all parameters, in the order in which they lie.

        >>> ContextArchitecture(3, (2,), n_blocks=0).shapes
        [(3, 2), (2,), (2,)]
        """
        width, plain = self.hidden[-1], super().shapes
        norm = [(width,), (width,)]
        square = [(width, width), (width,)]
        block = [*norm, (width, 3 * width), (3 * width,), *square, *norm, *square, *square]
        return [*plain[:-1], *block * self.n_blocks, plain[-1]]

    def start(self, random: np.random.Generator) -> Parameters:
        """Random weights that keep the size of what passes through; biases 0, gains 1."""
        plain, width = super().start(random), self.hidden[-1]
        norm = [np.ones(width), np.zeros(width)]

        def layer(n_out: int, gain: float = 1.0) -> list[NDArray[Any]]:
            weight = random.normal(0.0, math.sqrt(gain / width), width * n_out)
            return [weight, np.zeros(n_out)]

        parts: list[NDArray[Any]] = [plain[:-width]]
        for _ in range(self.n_blocks):
            parts += [*norm, *layer(3 * width), *layer(width), *norm, *layer(width, 2.0), *layer(width)]
        return np.concatenate([*parts, plain[-width:]]).astype(np.float32)

    def network(self, scaling: Scaling, parameters: Parameters) -> ContextNetwork:
        """The network of this shape."""
        return ContextNetwork(self, scaling, parameters)


@dataclass(frozen=True)
class ContextNetwork(Network):
    """A network that scores the documents of a query together."""

    architecture: ContextArchitecture

    def score(self, X: Features, query_ptr: Offsets | None = None) -> Scores:
        """One score a row; without offsets all rows are documents of one query."""
        query_ptr = np.array([0, len(X)]) if query_ptr is None else query_ptr
        shape, out = self.architecture, np.empty(len(X))
        key_weight = np.random.default_rng(0).random(shape.hidden[-1])
        rules = *self.rules, shape.n_blocks, shape.n_heads, key_weight
        over_chunks(_score_queries, len(query_ptr) - 1, read_only(X), read_only(query_ptr), *rules, out)
        return out
