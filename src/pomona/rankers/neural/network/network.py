"""A small feed-forward network as plain arrays, and its scores without PyTorch.

    h_0 = scaled features,   h_l = φ(norm(h_{l−1} W_l + b_l)),   score = h · w

with none to three hidden layers; `norm` is layer normalization (Ba et al. 2016), if wanted. All parameters
lie in one vector, layer after layer: W row by row, b, then gain and shift of the normalization; last w. The
score has no b: it would change no ranking, and rounding errors alone would move it.

A row's score is computed by the same operations wherever the row stands, so that scores follow their
documents bit by bit. PyTorch's own scores differ in the sixth digit, as it adds in another order.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets, Scores
from pomona.data.rows import read_only
from pomona.errors import InputError, UnknownNameError
from pomona.rankers.neural.network.scaling import Scaling, scale_row

Parameters = NDArray[np.float32]

ACTIVATIONS = ("relu", "tanh", "logistic")
NORM_EPSILON = 1e-5
MOST_HIDDEN_LAYERS = 3


@kernel(fastmath=True)
def weighted(h, weight, bias, out):
    """out = h W + b; h (n_in,) · weight (n_in · n_out,) · bias, out (n_out,)."""
    n_in, n_out = h.size, out.size
    for o in range(n_out):
        out[o] = bias[o]
    for i in range(0, n_in - n_in % 4, 4):
        a, b, c, d = h[i], h[i + 1], h[i + 2], h[i + 3]
        wa, wb = weight[i * n_out : (i + 1) * n_out], weight[(i + 1) * n_out : (i + 2) * n_out]
        wc, wd = weight[(i + 2) * n_out : (i + 3) * n_out], weight[(i + 3) * n_out : (i + 4) * n_out]
        for o in range(n_out):
            out[o] += (a * wa[o] + b * wb[o]) + (c * wc[o] + d * wd[o])
    for i in range(n_in - n_in % 4, n_in):
        a, wa = h[i], weight[i * n_out : (i + 1) * n_out]
        for o in range(n_out):
            out[o] += a * wa[o]


@kernel
def normalize(h, gain, shift):
    """To mean 0 and deviation 1, then gain and shift; in place."""
    mean, squares = 0.0, 0.0
    for i in range(h.size):
        mean += h[i]
    mean /= h.size
    for i in range(h.size):
        squares += (h[i] - mean) ** 2
    inverse = 1.0 / math.sqrt(squares / h.size + NORM_EPSILON)
    for i in range(h.size):
        h[i] = (h[i] - mean) * inverse * gain[i] + shift[i]


@kernel
def activate(h, activation):
    """By its number among `ACTIVATIONS`, in place."""
    for i in range(h.size):
        if activation == 0:
            h[i] = max(h[i], np.float32(0))
        elif activation == 1:
            h[i] = np.tanh(h[i])
        else:
            h[i] = 1.0 / (1.0 + np.exp(-h[i]))


@kernel
def hidden_units(x, spare, parameters, sizes, activation, layer_norm):
    """(the last hidden layer of a row, in `x` or `spare`; where its parameters end).

    x, spare (widest layer,) : scaled features, work space · sizes (n_layers + 1,) : features, widths.
    """
    now, after, at = x, spare, 0
    for layer in range(sizes.size - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        weight, at = parameters[at : at + n_in * n_out], at + n_in * n_out
        bias, at = parameters[at : at + n_out], at + n_out
        weighted(now[:n_in], weight, bias, after[:n_out])
        if layer_norm:
            normalize(after[:n_out], parameters[at : at + n_out], parameters[at + n_out : at + 2 * n_out])
            at += 2 * n_out
        activate(after[:n_out], activation)
        now, after = after, now
    return now[: sizes[sizes.size - 1]], at


@kernel
def total(h, weight):
    """h · w, in double precision."""
    result = 0.0
    for i in range(h.size):
        result += np.float64(h[i]) * np.float64(weight[i])
    return result


@kernel
def widest(sizes):
    """The largest of the sizes of layers; `sizes.max()` takes 0.4 s to compile."""
    size = sizes[0]
    for i in range(1, sizes.size):
        size = max(size, sizes[i])
    return size


@kernel
def _score_rows(
    first, last, X, mean, inverse, log, knots, heights, knot_ptr, parameters, sizes, activation, layer_norm,
    out,
):  # fmt: skip
    x, spare = np.empty(widest(sizes), np.float32), np.empty(widest(sizes), np.float32)
    for row in range(first, last):
        scale_row(X[row], mean, inverse, log, knots, heights, knot_ptr, x)
        hidden, at = hidden_units(x, spare, parameters, sizes, activation, layer_norm)
        out[row] = total(hidden, parameters[at:])


@dataclass(frozen=True)
class Architecture:
    """The shape of a network.

    Parameters
    ----------
    n_features : width of the input.
    hidden : widths of the hidden layers.
    activation : `relu`, `tanh` or `logistic`.
    layer_norm : whether each hidden layer is normalized before its activation.
    """

    n_features: int
    hidden: tuple[int, ...]
    activation: str = "relu"
    layer_norm: bool = False

    def __post_init__(self) -> None:
        if len(self.hidden) > MOST_HIDDEN_LAYERS or any(width < 1 for width in self.hidden):
            raise InputError(
                f"hidden must name the widths, each at least 1, of up to {MOST_HIDDEN_LAYERS} layers, "
                f"found {self.hidden}"
            )
        if self.activation not in ACTIVATIONS:
            raise UnknownNameError("activation", self.activation, ACTIVATIONS)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Features, widths of the hidden layers."""
        return (self.n_features, *self.hidden)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of all parameters, in the order in which they lie.

        >>> Architecture(3, (2,)).shapes
        [(3, 2), (2,), (2,)]
        """
        shapes: list[tuple[int, ...]] = []
        for n_in, n_out in itertools.pairwise(self.sizes):
            shapes += [(n_in, n_out), (n_out,)]
            if self.layer_norm:
                shapes += [(n_out,), (n_out,)]
        return [*shapes, self.sizes[-1:]]

    @property
    def n_parameters(self) -> int:
        """How many numbers the network learns."""
        return sum(math.prod(shape) for shape in self.shapes)

    def start(self, random: np.random.Generator) -> Parameters:
        """Random weights that keep the size of what passes through (He et al. 2015); biases 0, gains 1."""
        gain = 2.0 if self.activation == "relu" else 1.0
        parts = []
        for n_in, n_out in itertools.pairwise(self.sizes):
            parts += [random.normal(0.0, math.sqrt(gain / n_in), n_in * n_out), np.zeros(n_out)]
            if self.layer_norm:
                parts += [np.ones(n_out), np.zeros(n_out)]
        last = self.sizes[-1]
        return np.concatenate([*parts, random.normal(0.0, math.sqrt(1 / last), last)]).astype(np.float32)

    def network(self, scaling: Scaling, parameters: Parameters) -> Network:
        """The network of this shape."""
        return Network(self, scaling, parameters)


@dataclass(frozen=True)
class Network:
    """A network that scores documents."""

    architecture: Architecture
    scaling: Scaling
    parameters: Parameters

    @property
    def rules(self) -> tuple[Any, ...]:
        """What kernels take."""
        shape = self.architecture
        layers = np.array(shape.sizes), ACTIVATIONS.index(shape.activation), shape.layer_norm
        return *self.scaling.rules, read_only(self.parameters), *layers

    def score(self, X: Features, query_ptr: Offsets | None = None) -> Scores:
        """One score a row, whatever the other rows of its query."""
        out = np.empty(len(X))
        over_chunks(_score_rows, len(X), read_only(X), *self.rules, out, smallest=256)
        return out
