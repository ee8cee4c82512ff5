"""One way down from a random start: parameters, their average, and sources of randomness.

The documents of a batch pass through the network on a CPU in pieces of a fixed size (of whole lists, where
documents see each other) that threads share. PyTorch itself runs on one thread meanwhile, and the gradients
of pieces are added in order: so a seed gives the same bits for any number of threads. All arrays lie in
memory that PyTorch allocated, since products of matrices depend, in the last bit, on how these are aligned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pomona._jit import over_chunks
from pomona._types import Scores
from pomona.rankers.neural.network.network import Architecture
from pomona.rankers.neural.network.torch_network import scores_of
from pomona.rankers.neural.training.descent import Descent
from pomona.rankers.neural.training.schedule import SCHEDULES

_WORK_OF_PIECE = 5e7
"""Parameters × rows of a piece: large enough that handing it to a thread costs little beside it."""


@dataclass(frozen=True)
class TrainingConfig:
    """How to train: parameters of `NeuralRanker`, explained there."""

    learning_rate: float
    n_epochs: int
    schedule: str
    optimizer: str
    momentum: float
    l2: float
    dropout: float
    averaged: bool
    early_stopping: int | None
    restart_after: int | None
    mixed_precision: bool
    seed: int


class Trajectory:
    """Goes down step by step; `scores` of a batch, then the `step` that their gradient asks for.

    The average is over the steps of the first epoch; later, older steps fade over about an epoch.
    """

    def __init__(
        self,
        architecture: Architecture,
        config: TrainingConfig,
        steps_of_epoch: int,
        random: np.random.Generator,
        device: torch.device,
    ) -> None:
        self._architecture, self._config, self.random, self.n_epochs = architecture, config, random, 0
        self._device, self._steps_of_epoch, self._n_steps = device, steps_of_epoch, 0
        self.parameters = torch.tensor(architecture.start(random), device=device, requires_grad=True)
        self.averaged = self.parameters.detach().clone()
        self.generator = torch.Generator(device).manual_seed(int(random.integers(2**62)))
        self._descent = Descent(self.parameters, config.optimizer, config.momentum, config.l2)
        self._learning_rate, self._met = config.learning_rate, [self.parameters]

    def begin_epoch(self) -> None:
        """Set the learning rate."""
        config = self._config
        factor = SCHEDULES[config.schedule](self.n_epochs / config.n_epochs)
        self._learning_rate = factor * config.learning_rate
        self.n_epochs += 1

    def scores(self, x: Tensor, lengths: Tensor | None) -> Scores:
        """The scores of a batch's rows; where these are lists of one length, `lengths` tells of padding."""
        pieces = self._pieces(x, lengths)
        self._met = [x] * len(pieces)
        # Threads share no generator: on a CPU each piece that units are dropped from has its own.
        is_shared = not self._config.dropout or len(pieces) == 1
        seeds = None if is_shared else self.random.integers(2**62, size=len(pieces))

        def forward(i: int) -> None:
            generator = self.generator if seeds is None else torch.Generator().manual_seed(int(seeds[i]))
            self._met[i] = self._forward(*pieces[i], generator)

        _over_pieces(forward, len(pieces))
        met: Scores = torch.cat(self._met).detach().to("cpu", torch.float64).numpy()
        return met

    def step(self, gradient: NDArray[np.float32]) -> None:
        """Carry the gradient of the scores that were met last back to the parameters, and step."""
        gradients = list(
            torch.tensor(gradient, device=self._device).split([len(scores) for scores in self._met])
        )

        def backward(i: int) -> None:
            gradients[i] = self._backward(self._met[i], gradients[i])

        _over_pieces(backward, len(gradients))
        self._descent.step(sum(gradients[1:], start=gradients[0]), self._learning_rate)
        self._n_steps += 1
        newest = 1 / min(self._n_steps, self._steps_of_epoch) if self._config.averaged else 1.0
        self.averaged.lerp_(self.parameters.detach(), newest)

    def _pieces(self, x: Tensor, lengths: Tensor | None) -> list[tuple[Tensor, Tensor | None]]:
        n_rows = len(x)
        if self._device.type == "cpu":
            n_rows = max(512, int(_WORK_OF_PIECE / self._architecture.n_parameters))
        if lengths is None:
            return [(piece, None) for piece in x.split(n_rows)]
        lists = x.view(len(lengths), -1, x.shape[1])
        n_lists = max(1, n_rows // lists.shape[1])
        return list(zip(lists.split(n_lists), lengths.split(n_lists), strict=True))

    def _forward(self, x: Tensor, lengths: Tensor | None, generator: torch.Generator) -> Tensor:
        in_half = self._config.mixed_precision and self._device.type == "cuda"
        x = x.to(self._device, non_blocking=True)
        chance = self._config.dropout
        return scores_of(self._architecture, self.parameters, x, lengths, chance, generator, in_half)

    def _backward(self, scores: Tensor, gradient: Tensor) -> Tensor:
        # From a scalar: to start from a vector, PyTorch would first import its algebra of symbols.
        (result,) = torch.autograd.grad(scores @ gradient, self.parameters)
        return result


def _over_pieces(run: Callable[[int], None], n_pieces: int) -> None:
    """Call `run` on every piece, in threads."""

    def some(first: int, last: int) -> None:
        torch.set_num_threads(1)  # a thread of ours begins with PyTorch's default, not with what was set
        for piece in range(first, last):
            run(piece)

    over_chunks(some, n_pieces)
