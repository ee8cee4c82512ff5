"""The training loop behind every neural ranker: mini-batches, restarts, and the best epoch kept.

A batch is trained on in three steps: scores of its documents, the gradient of the objective by those scores,
and that gradient carried back to the parameters. Only the middle step differs between rankers: an objective
of `pomona.objectives`, which runs on the processors even where the network is on a GPU (docs/decisions/0007).

Randomness comes from generators of our own; PyTorch's global seed and thread count are left as they were.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, NothingToLearnError
from pomona.measures.base import Measure
from pomona.rankers.evaluator import RankingEvaluator
from pomona.rankers.neural.network.context import ContextArchitecture
from pomona.rankers.neural.network.network import Architecture, Network, Parameters
from pomona.rankers.neural.network.scaling import Scaling
from pomona.rankers.neural.training.batches import lay_out
from pomona.rankers.neural.training.captured import CapturedTrajectory, can_be_captured
from pomona.rankers.neural.training.training_batch import ObjectiveFactory, TrainingBatch
from pomona.rankers.neural.training.trajectory import TrainingConfig, Trajectory
from pomona.rankers.training_log import TrainingLog
from pomona.rankers.watched import Watched

_LARGEST_WEIGHT = 1e9
"""Three layers of smaller weights overflow no float32; what lies beyond, or is undefined, has run away."""

_SHARE_OF_MEMORY = 0.5
"""Of a GPU's free memory that the training documents may take; larger data are sent batch by batch."""


class Trainer:
    """Trains networks of one shape on one dataset.

    Parameters
    ----------
    weights : one a query.
    relative : one a document, beside the others of its query; 1 when None.
    factory : makes what is to be minimized on a batch.
    measure : of the training curve.
    valid_measure : of the validation data, picks the epoch.
    scaling : of the training data.
    watched : what else is judged after every epoch.

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
        relative: Values | None,
        factory: ObjectiveFactory,
        *,
        measure: Measure,
        valid_measure: Measure,
        batch_size: int,
        scaling: Scaling,
        device: torch.device,
        seed: int,
        watched: Watched,
    ) -> None:
        self.best: tuple[Network, TrainingConfig] | None = None
        # For a trace.
        more = {} if relative is None else {"relative": relative}
        self._objective = lambda: factory.objective(train.y, train.query_ptr, weights, seed, **more)
        padded = isinstance(architecture, ContextArchitecture)
        layout = lay_out(train.query_ptr, batch_size, np.random.default_rng(seed), padded=padded)
        self._architecture, self._device = architecture, device
        self._train, self._valid, self._layout = train, valid, layout
        self._judges = {"train": RankingEvaluator(train, measure)}
        if valid is not None and valid_measure != measure:
            self._judges["train_valid_measure"] = RankingEvaluator(train, valid_measure)
        self._sets = watched.beside(valid)
        self._judge = watched.judge(self._sets, valid_measure)
        self._scaling, self._is_scaled = scaling, Scaling.done(train.n_features)
        self._rows = torch.empty((len(layout.rows), train.n_features))  # scaled, as laid out
        scaling.scale(train.X, layout.rows, self._rows.numpy())
        self._X, self._is_padded = self._on_device(self._rows), padded
        self._scaled_sets = {name: np.empty_like(data.X) for name, data in self._sets.items()}
        for name, data in self._sets.items():  # scored after every epoch, scaled once
            self._scaling.scale(data.X, np.arange(data.n_docs), self._scaled_sets[name])
        ends = np.cumsum([batch.query_ptr[-1] for batch in layout.batches])[:-1]
        rows = np.split(layout.rows[layout.documents], ends)
        self._batches = [
            TrainingBatch(
                batch,
                train.y[rows[i]],
                weights[batch.queries],
                factory,
                seed + i,
                None if relative is None else relative[rows[i]],
            )
            for i, batch in enumerate(layout.batches)
        ]
        self._lengths = [
            None if batch.lengths is None else torch.tensor(batch.lengths, device=device)
            for batch in self._batches
        ]

    def train(self, config: TrainingConfig, log: TrainingLog) -> None:
        """Train up to `n_epochs`, and keep the network of an epoch that is the best of the log."""
        with _one_thread(), _memory_of_the_gpu():
            run = self._start(config, np.random.default_rng(config.seed))
            log.follow(self._train, lambda: self._scores(run), self._objective)
            best_train, gained = -math.inf, 0
            for epoch in range(1, config.n_epochs + 1):
                now, met = self._epoch(run, judged=config.restart_after is not None)
                network = self._network(run)
                if not np.abs(network.parameters).max() < _LARGEST_WEIGHT:
                    if self._valid is None:  # nobody can say how far the earlier epochs had run
                        self.best = None
                    break
                if self._valid is not None or met is not None:
                    scores = self._scores_of(network)
                    now |= {part: judge.mean(scores) for part, judge in self._judges.items()}
                ready, sets = replace(network, scaling=self._is_scaled), self._sets.items()
                now |= self._judge(
                    {name: ready.score(self._scaled_sets[name], data.query_ptr) for name, data in sets}
                )
                if log.record(**now):
                    self.best = network, config
                if log.should_stop:
                    break
                if met is not None and met > best_train:
                    best_train, gained = met, epoch
                elif config.restart_after and epoch - gained >= config.restart_after:
                    run, best_train, gained = self._start(config, run.random), -math.inf, epoch

    def _on_device(self, X: Tensor) -> Tensor:
        """The features on the device; where they would fill a GPU, on the host, ready to be sent."""
        is_gpu = self._device.type == "cuda"
        if is_gpu and X.nbytes > _SHARE_OF_MEMORY * torch.cuda.mem_get_info(self._device)[0]:
            return X.pin_memory()
        return X.to(self._device)

    def _start(self, config: TrainingConfig, random: np.random.Generator) -> Trajectory:
        kind = CapturedTrajectory if can_be_captured(config, self._device) else Trajectory
        return kind(self._architecture, config, len(self._batches), random, self._device)

    def _network(self, run: Trajectory) -> Network:
        parameters: Parameters = run.averaged.cpu().numpy().copy()
        return self._architecture.network(self._scaling, parameters)

    def _scores(self, run: Trajectory) -> Scores:
        return self._network(run).score(self._train.X, self._train.query_ptr)

    def _scores_of(self, network: Network) -> Scores:
        """As `score` of all training documents, which are scaled already."""
        if self._is_padded:
            return network.score(self._train.X, self._train.query_ptr)
        scores = np.empty(self._train.n_docs)
        scores[self._layout.rows] = replace(network, scaling=self._is_scaled).score(self._rows.numpy())
        return scores

    def _epoch(self, run: Trajectory, judged: bool) -> tuple[dict[str, float], float | None]:
        """Visit every batch once; returns the loss, and where `judged` the measure, of batches as met."""
        run.begin_epoch()
        seen = np.empty(len(self._layout.rows))
        gradient_size, losses = 0.0, []
        for i in run.random.permutation(len(self._batches)):
            batch = self._batches[i]
            met = run.scores(self._X[batch.begin : batch.end], self._lengths[i])
            loss, gradient = batch.gradient(met)
            run.step(gradient)
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
        if not judged:
            return now, None
        places = self._layout.documents
        scores_met = np.empty(len(places))
        scores_met[self._layout.rows[places]] = seen[places]
        return now, self._judges["train"].mean(scores_met)


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


@contextlib.contextmanager
def _memory_of_the_gpu() -> Iterator[None]:
    """Say in one line that it did not suffice."""
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise InputError(
            "the GPU's memory is full: lower batch_size or hidden, or use device='cpu'"
        ) from None


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch on one thread: ours share out pieces, whose results do not depend on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
