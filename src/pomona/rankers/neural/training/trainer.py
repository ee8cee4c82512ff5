"""The training loop behind every neural ranker: mini-batches, restarts, and the best epoch kept.

A batch is trained on in three steps: scores of its documents, the gradient of the objective by those scores,
and that gradient carried back to the parameters. Only the middle step differs between rankers: an objective
of `pomona.objectives`, which runs on the processors even where the network is on a GPU (docs/decisions/0007).

The documents of a batch pass through the network unpadded, on a CPU in pieces of a fixed size that threads
share. PyTorch itself runs on one thread meanwhile, and the gradients of pieces are added in order: so a seed
gives the same bits for any number of threads. All arrays lie in memory that PyTorch allocated, since products
of matrices depend, in the last bit, on how these are aligned. Randomness comes from generators of our own;
PyTorch's global seed and thread count are left as they were.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from pomona._jit import over_chunks
from pomona._types import Offsets, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, NothingToLearnError
from pomona.measures.base import Measure
from pomona.rankers.evaluator import RankingEvaluator
from pomona.rankers.neural.network.network import Architecture, Network, Parameters
from pomona.rankers.neural.network.scaling import Scaling
from pomona.rankers.neural.network.torch_network import scores_of
from pomona.rankers.neural.training.batches import lay_out
from pomona.rankers.neural.training.descent import Descent
from pomona.rankers.neural.training.schedule import SCHEDULES
from pomona.rankers.neural.training.training_batch import ObjectiveFactory, TrainingBatch
from pomona.rankers.training_log import TrainingLog

_WORK_OF_PIECE = 5e7
"""Parameters × rows of a piece: large enough that handing it to a thread costs little beside it."""

_LARGEST_WEIGHT = 1e9
"""Three layers of smaller weights overflow no float32; what lies beyond, or is undefined, has run away."""

_SHARE_OF_MEMORY = 0.5
"""Of a GPU's free memory that the training documents may take; larger data are sent batch by batch."""


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


class _Trajectory:
    """One way down from a random start: parameters, their average, and sources of randomness.

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
        self._steps_of_epoch, self._n_steps = steps_of_epoch, 0
        self.parameters = torch.tensor(architecture.start(random), device=device, requires_grad=True)
        self.averaged = self.parameters.detach().clone()
        self.generator = torch.Generator(device).manual_seed(int(random.integers(2**62)))
        self._descent = Descent(self.parameters, config.optimizer, config.momentum, config.l2)
        self._learning_rate = config.learning_rate

    def begin_epoch(self) -> None:
        """Set the learning rate."""
        config = self._config
        factor = SCHEDULES[config.schedule](self.n_epochs / config.n_epochs)
        self._learning_rate = factor * config.learning_rate
        self.n_epochs += 1

    def scores(self, pieces: Sequence[Tensor]) -> list[Tensor]:
        """The scores of pieces of a batch."""
        config, device = self._config, self.parameters.device
        # Threads share no generator: on a CPU each piece that units are dropped from has its own.
        seeds = self.random.integers(2**62, size=len(pieces)) if config.dropout and len(pieces) > 1 else None
        scores, in_half = list(pieces), config.mixed_precision and device.type == "cuda"

        def forward(i: int) -> None:
            generator = self.generator if seeds is None else torch.Generator().manual_seed(int(seeds[i]))
            x = pieces[i].to(device, non_blocking=True)
            scores[i] = scores_of(self._architecture, self.parameters, x, config.dropout, generator, in_half)

        _over_pieces(forward, len(pieces))
        return scores

    def step(self, scores: Sequence[Tensor], gradient: Tensor) -> None:
        """Carry the gradient of the scores back to the parameters, and step."""
        gradients = list(gradient.split([len(piece) for piece in scores]))

        def backward(i: int) -> None:
            # From a scalar: to start from a vector, PyTorch would first import its algebra of symbols.
            (gradients[i],) = torch.autograd.grad(scores[i] @ gradients[i], self.parameters)

        _over_pieces(backward, len(scores))
        self._descent.step(sum(gradients[1:], start=gradients[0]), self._learning_rate)
        self._n_steps += 1
        newest = 1 / min(self._n_steps, self._steps_of_epoch) if self._config.averaged else 1.0
        self.averaged.lerp_(self.parameters.detach(), newest)


class Trainer:
    """Trains networks of one shape on one dataset.

    Parameters
    ----------
    weights : one a query.
    factory : makes what is to be minimized on a batch.
    measure : of the training curve.
    valid_measure : of the validation data, picks the epoch.

    Attributes
    ----------
    best : the best network so far, and the configuration that it was trained by; None before the first.
    """

    def __init__(
        self,
        architecture: Architecture,
        train: Dataset,
        valid: Dataset | None,
        weights: Values,
        factory: ObjectiveFactory,
        *,
        measure: Measure,
        valid_measure: Measure,
        batch_size: int,
        log_features: bool,
        device: torch.device,
        seed: int,
    ) -> None:
        self.best: tuple[Network, TrainingConfig] | None = None
        self._objective = lambda: factory.objective(train.y, train.query_ptr, weights, seed)  # for a trace
        layout = lay_out(train.query_ptr, batch_size, np.random.default_rng(seed))
        self._architecture, self._device = architecture, device
        self._train, self._valid, self._rows = train, valid, layout.rows
        self._judges = {"train": RankingEvaluator(train, measure)}
        if valid is not None:
            self._judges["valid"] = RankingEvaluator(valid, valid_measure)
            if valid_measure != measure:
                self._judges["train_valid_measure"] = RankingEvaluator(train, valid_measure)
        self._scaling, self._is_scaled = Scaling.of(train.X, log=log_features), Scaling.done(train.n_features)
        self._X = self._scaled(layout.rows)
        if valid is not None:  # scored after every epoch, scaled once
            self._valid_X = np.empty_like(valid.X)
            self._scaling.scale(valid.X, np.arange(valid.n_docs), self._valid_X)
        labels = train.y[layout.rows]
        self._batches = [
            TrainingBatch(batch, labels[batch.begin : batch.end], weights[batch.queries], factory, seed + i)
            for i, batch in enumerate(layout.batches)
        ]
        self._piece = len(labels)
        if device.type == "cpu":
            self._piece = max(512, int(_WORK_OF_PIECE / architecture.n_parameters))

    def train(self, config: TrainingConfig, log: TrainingLog) -> None:
        """Train up to `n_epochs`, and keep the network of an epoch that is the best of the log."""
        with _one_thread():
            run = self._start(config, np.random.default_rng(config.seed))
            log.follow(self._train, lambda: self._network(run).score(self._train.X), self._objective)
            best_train, gained = -math.inf, 0
            for epoch in range(1, config.n_epochs + 1):
                now = self._epoch(run, judged=config.restart_after is not None)
                network = self._network(run)
                if not np.abs(network.parameters).max() < _LARGEST_WEIGHT:
                    if self._valid is None:  # nobody can say how far the earlier epochs had run
                        self.best = None
                    break
                if self._valid is not None:
                    scores = replace(network, scaling=self._is_scaled).score(self._valid_X)
                    now["valid"] = self._judges["valid"].mean(scores)
                if log.record(**now):
                    self.best = network, config
                if log.should_stop:
                    break
                if now.get("train", math.inf) > best_train:
                    best_train, gained = now.get("train", best_train), epoch
                elif config.restart_after and epoch - gained >= config.restart_after:
                    run, best_train, gained = self._start(config, run.random), -math.inf, epoch

    def _scaled(self, rows: Offsets) -> Tensor:
        """The features on the device; where they would fill a GPU, on the host, ready to be sent."""
        X = torch.empty((len(rows), self._train.n_features))
        self._scaling.scale(self._train.X, rows, X.numpy())
        is_gpu = self._device.type == "cuda"
        if is_gpu and X.nbytes > _SHARE_OF_MEMORY * torch.cuda.mem_get_info(self._device)[0]:
            return X.pin_memory()
        return X.to(self._device)

    def _start(self, config: TrainingConfig, random: np.random.Generator) -> _Trajectory:
        return _Trajectory(self._architecture, config, len(self._batches), random, self._device)

    def _network(self, run: _Trajectory) -> Network:
        parameters: Parameters = run.averaged.cpu().numpy().copy()
        return Network(self._architecture, self._scaling, parameters)

    def _epoch(self, run: _Trajectory, judged: bool) -> dict[str, float]:
        """Visit every batch once; returns the loss and the measure that batches had before their own step."""
        run.begin_epoch()
        seen = np.empty(len(self._rows))
        gradient_size, losses = 0.0, []
        for i in run.random.permutation(len(self._batches)):
            batch = self._batches[i]
            pieces = self._X[batch.begin : batch.end].split(self._piece)
            scores = run.scores(pieces)
            met = torch.cat(scores).detach().to("cpu", torch.float64).numpy()
            loss, gradient = batch.gradient(met)
            run.step(scores, torch.tensor(gradient, device=self._device))
            seen[batch.begin : batch.end] = met
            gradient_size += np.abs(gradient).max()
            if loss is not None:
                losses.append(loss * batch.n_queries)
        if run.n_epochs == 1 and not gradient_size:
            raise NothingToLearnError(
                "no pair of documents of a query would change the objective "
                "(all labels of each query are equal, or count alike)"
            )
        now = {"loss": sum(losses) / self._train.n_queries} if losses else {}
        if judged or self._valid is not None:
            scores_met = np.empty(len(self._rows))
            scores_met[self._rows] = seen
            for part in ("train", "train_valid_measure"):
                if part in self._judges:
                    now[part] = self._judges[part].mean(scores_met)
        return now


def device_named(name: str) -> torch.device:
    """The device of a name; `auto` is the GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {name!r} cannot be used: {str(error).splitlines()[0]}") from None
    return device


def _over_pieces(run: Callable[[int], None], n_pieces: int) -> None:
    """Call `run` on every piece, in threads."""

    def some(first: int, last: int) -> None:
        torch.set_num_threads(1)  # a thread of ours begins with PyTorch's default, not with what was set
        for piece in range(first, last):
            run(piece)

    over_chunks(some, n_pieces)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch on one thread: ours share out pieces, whose results do not depend on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
