"""Steps on a GPU as CUDA graphs: all kernels of a pass are launched as one.

To launch the kernels of a step on 16 queries one by one takes several times as long as they run: an epoch of
700,000 documents takes an H200 1.4 s so, and 0.2 s here (`benchmarks/neural`). So the first batch of a size
is recorded, forward and backward; all others of that size are copied to where it stood and replayed. Sizes
are rounded up, four or eight to a doubling. Rows beyond a batch hold what was there before; their gradient is
0, so they teach nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pomona._types import Scores
from pomona.rankers.neural.training.trajectory import TrainingConfig, Trajectory

_FEWEST = 8
"""The smallest size of a batch, or of a list in it."""


def can_be_captured(config: TrainingConfig, device: torch.device) -> bool:
    """Whether steps can be recorded: those of Adam, on a GPU."""
    return device.type == "cuda" and config.optimizer == "adam"


class Recorder:
    """Records what is launched on a GPU."""

    def __init__(self, device: torch.device) -> None:
        self._device, self._pool = device, torch.cuda.graph_pool_handle()
        self._stream = torch.cuda.Stream(device)

    def prepare(self, run: Callable[[], object]) -> None:
        """Libraries prepare themselves at their first use, which cannot be recorded."""
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            run()

    def record(self, run: Callable[[], None], generator: torch.Generator) -> Callable[[], None]:
        """What does the same as `run`, on the same memory."""
        graph, current = torch.cuda.CUDAGraph(), torch.cuda.current_stream(self._device)
        graph.register_generator_state(generator)
        torch.cuda.synchronize(self._device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            graph.capture_begin(pool=self._pool)
            try:
                run()
            finally:  # also after Ctrl-C, as nothing else could be launched
                graph.capture_end()
        current.wait_stream(self._stream)
        replay: Callable[[], None] = graph.replay
        return replay

    def wait(self) -> None:
        """Until all that was launched is done."""
        torch.cuda.current_stream(self._device).synchronize()


class _Size:
    """Memory of batches of up to one size, on the device and on the host, and the passes over it."""

    def __init__(self, sizes: tuple[int, ...], n_features: int, device: torch.device) -> None:
        self.x = torch.zeros((*sizes, n_features), device=device)
        self.lengths = torch.ones(sizes[0], dtype=torch.int64, device=device) if len(sizes) == 2 else None
        self.scores, self.gradient = torch.zeros((2, *sizes), device=device)
        is_gpu = device.type == "cuda"
        self.host_scores, self.host_gradient = (torch.zeros(sizes, pin_memory=is_gpu) for _ in range(2))
        self.met = self.scores  # of the latest pass, which remembers how it came about
        self.forward: Callable[[], None]
        self.backward: Callable[[], None]


class CapturedTrajectory(Trajectory):
    """A trajectory on a GPU that records the steps of each size of batch once, and replays them."""

    def __init__(self, *arguments: Any, recorder: Recorder | None = None) -> None:
        super().__init__(*arguments)
        self._recorder = Recorder(self._device) if recorder is None else recorder
        self._rate = torch.tensor(self._learning_rate, device=self._device)
        self._of_size: dict[tuple[int, ...], _Size] = {}
        self._now: tuple[_Size, tuple[int, ...]]

    def begin_epoch(self) -> None:
        super().begin_epoch()
        self._rate.fill_(self._learning_rate)

    def scores(self, x: Tensor, lengths: Tensor | None) -> Scores:
        shape: tuple[int, ...] = (len(x),) if lengths is None else (len(lengths), len(x) // len(lengths))
        sizes = (*shape[:-1], rounded_up(shape[-1], 4 if lengths is None else 8))
        if sizes not in self._of_size:
            self._of_size[sizes] = self._recorded(_Size(sizes, x.shape[1], self._device))
        size = self._of_size[sizes]
        self._now = size, shape
        _corner(size.x, shape).copy_(x.view(*shape, -1), non_blocking=True)
        if size.lengths is not None and lengths is not None:
            size.lengths.copy_(lengths, non_blocking=True)
        size.forward()
        size.host_scores.copy_(size.scores, non_blocking=True)
        self._recorder.wait()
        met: Scores = _corner(size.host_scores, shape).double().numpy().ravel()
        return met

    def step(self, gradient: NDArray[np.float32]) -> None:
        size, shape = self._now
        size.host_gradient.zero_()
        _corner(size.host_gradient, shape).copy_(torch.from_numpy(gradient).view(shape))
        size.gradient.copy_(size.host_gradient, non_blocking=True)
        size.backward()

    def _recorded(self, size: _Size) -> _Size:
        def forward() -> None:
            size.met = self._forward(size.x, size.lengths, self.generator)
            size.scores.view(-1).copy_(size.met.detach())

        def backward() -> None:
            self._descent.step(self._backward(size.met, size.gradient.view(-1)), self._rate)
            self._average()

        self._recorder.prepare(forward)
        self._recorder.prepare(lambda: self._backward(size.met, size.gradient.view(-1)))
        size.forward = self._recorder.record(forward, self.generator)
        size.backward = self._recorder.record(backward, self.generator)
        return size

    def _average(self) -> None:
        """As after every step; how many there were is only known on the GPU."""
        if self._config.averaged:
            n_steps = self._descent.n_steps.clamp(max=self._steps_of_epoch)
            self.averaged.lerp_(self.parameters.detach(), n_steps.reciprocal())
        else:
            self.averaged.copy_(self.parameters.detach())


def rounded_up(size: int, steps: int) -> int:
    """The size, or the next larger of so many sizes to a doubling.

    >>> [rounded_up(size, 4) for size in (3, 64, 65, 76, 128)]
    [8, 64, 77, 77, 128]
    """
    return math.ceil(2 ** (math.ceil(steps * math.log2(max(size, _FEWEST)) - 1e-9) / steps) - 1e-6)


def _corner(array: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The part of an array that a smaller batch takes."""
    for axis, size in enumerate(shape):
        array = array.narrow(axis, 0, size)
    return array
