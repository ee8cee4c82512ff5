"""Layers of units, as engines and other trainers hold neural networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Scores, Values
from pomona.errors import InputError
from pomona.trees.formats.weighted_sum import owned


def _sigmoid(x: Values) -> Values:
    with np.errstate(over="ignore"):
        result: Values = 1.0 / (1.0 + np.exp(-x))
    return result


ACTIVATIONS: dict[str, Callable[[Values], Values]] = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
}
# The slope of each activation, by what it gives.
SLOPES: dict[str, Callable[[Values], Values]] = {
    "identity": np.ones_like,
    "relu": lambda y: (y > 0).astype(np.float64),
    "tanh": lambda y: 1 - y**2,
    "sigmoid": lambda y: y * (1 - y),
}


@dataclass(frozen=True, eq=False)
class InputScale:
    """(t − mean) · inverse, cut to ±limit, undefined values to 0; t = x, or sign(x) log(1 + |x|)."""

    mean: Values
    inverse: Values
    log: bool
    limit: float

    def __call__(self, x: Values) -> Values:
        """The scaled features."""
        if self.log:
            x = np.copysign(np.log1p(np.abs(x)), x)
        scaled: Values = np.nan_to_num((x - self.mean) * self.inverse, nan=0.0, posinf=np.inf, neginf=-np.inf)
        return scaled.clip(-self.limit, self.limit)


@dataclass(frozen=True, eq=False)
class Layers:
    """h ← activation(h W + b), layer after layer, in float64; an undefined feature counts as 0.

    Attributes
    ----------
    weights : (n_in, n_out) of each layer; the last has one output, the score.
    biases : (n_out,) of each layer.
    activations : of each layer: `identity`, `relu`, `tanh` or `sigmoid`.
    scale : what features pass before the first layer.
    """

    weights: tuple[Values, ...]
    biases: tuple[Values, ...]
    activations: tuple[str, ...]
    scale: InputScale | None = None

    def __post_init__(self) -> None:
        for name in ("weights", "biases"):
            object.__setattr__(self, name, tuple(map(owned, getattr(self, name))))
        if not len(self.weights) == len(self.biases) == len(self.activations) > 0:
            raise InputError("layers differ in what they have")
        if any(kind not in ACTIVATIONS for kind in self.activations):
            raise InputError(
                f"found activations {self.activations}, expected some of {', '.join(ACTIVATIONS)}"
            )
        for weight, bias in zip(self.weights, self.biases, strict=True):
            if weight.ndim != 2 or bias.shape != weight.shape[1:]:
                raise InputError("a layer needs a bias for each of its units")
            if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                raise InputError("a weight is not finite")
        widths = [weight.shape for weight in self.weights]
        if [shape[0] for shape in widths[1:]] + [1] != [shape[1] for shape in widths]:
            raise InputError(
                "a layer's inputs are not the units of the layer before, or there are two scores"
            )

    @property
    def n_features(self) -> int:
        """The width of the input."""
        return int(self.weights[0].shape[0])

    def score(self, X: ArrayLike) -> Scores:
        """One score a row."""
        units: Values = np.asarray(X, np.float32).astype(np.float64)
        if self.scale is not None:
            units = self.scale(units)
        units = np.where(np.isnan(units), 0.0, units)
        for weight, bias, activation in zip(self.weights, self.biases, self.activations, strict=True):
            total = np.zeros((len(units), len(bias)))
            for i, row in enumerate(weight):  # in order, as RankLib does: a matrix product has none
                total += units[:, i, None] * row
            units = ACTIVATIONS[activation](total + bias)
        return units[:, 0]

    def gradient(self, X: ArrayLike) -> tuple[Values, Values, float]:
        """The scaled features, the slopes of the score by each of them, and the score where all are 0."""
        units: Values = np.asarray(X, np.float32).astype(np.float64)
        scaled: Values = np.nan_to_num(self.scale(units) if self.scale is not None else units)
        start = self._forward(np.zeros((1, self.n_features)))[-1][0, 0]
        outputs = self._forward(scaled)
        slopes: Values = np.ones((len(scaled), 1))
        layers = zip(self.weights, self.activations, outputs[1:], strict=True)
        for weight, activation, output in reversed(list(layers)):
            slopes = (slopes * SLOPES[activation](output)) @ weight.T
        return scaled, slopes, float(start)

    def _forward(self, units: Values) -> list[Values]:
        """The units of every layer, those of the input first."""
        outputs = [units]
        for weight, bias, activation in zip(self.weights, self.biases, self.activations, strict=True):
            outputs.append(ACTIVATIONS[activation](outputs[-1] @ weight + bias))
        return outputs

    def importance(self) -> Values:
        """How strongly each feature is wired to the score: products of absolute weights, over all paths."""
        strength: Values = np.abs(self.weights[0])
        for weight in self.weights[1:]:
            strength = strength @ np.abs(weight)
        return strength[:, 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `of_arrays` reads back."""
        named = {f"weight{k}": weight for k, weight in enumerate(self.weights)}
        return named | {f"bias{k}": bias for k, bias in enumerate(self.biases)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], activations: tuple[str, ...]) -> Layers:
        """The layers whose `arrays()` these are."""
        if any(array.dtype != np.float64 for array in arrays.values()):
            raise InputError("not layers: an array is of another type")
        parts = [tuple(arrays[f"{name}{k}"] for k in range(len(activations))) for name in ("weight", "bias")]
        return cls(parts[0], parts[1], activations)
