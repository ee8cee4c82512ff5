"""What neural rankers share: their parameters, the training, and the network that is left of it.

Fitting needs PyTorch (`pip install "pomona[neural]"`); a fitted or loaded ranker scores without it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Labels, Offsets, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, MissingExtraError, UnknownNameError
from pomona.measures.base import Measure
from pomona.measures.parse import measure as parse_measure
from pomona.objectives.base import Objective
from pomona.rankers.base import Ranker, SearchRange, query_weights
from pomona.rankers.neural.network.network import Architecture, Network
from pomona.rankers.neural.network.scaling import Scaling
from pomona.rankers.neural.training.schedule import SCHEDULES

if TYPE_CHECKING:
    from pomona.rankers.neural.losses.loss import Loss
    from pomona.rankers.neural.training.padding import Padding


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralRanker(Ranker):
    """A ranker that is a small neural network.

    Parameters
    ----------
    measure : what `score` reports, and what is trained towards where the method has a choice; any measure,
        any convention.
    valid_measure : judges the validation queries, and so picks the epoch; None for `measure`.
    log_features : take the logarithm of the features before they are put on a common scale, which counts and
        other quantities of a long tail need.
    hidden : widths of up to three hidden layers, e.g. (256, 128); one number for one layer, 0 for none.
    activation : of the hidden units: `relu`, `tanh` or `logistic`. The output is linear.
    dropout : the share of hidden units that is left out, at random, in each step of the training.
    layer_norm : normalize each hidden layer.
    optimizer : `adam` or `sgd`.
    learning_rate : size of the steps. Several are tried one after the other, and the one that does best on
        the validation data is kept.
    schedule : of the learning rate over the epochs: `constant`, or `linear` or `cosine`, which fall to 0.
    momentum : of `sgd`.
    l2 : weight decay.
    n_epochs : the most passes over the training data.
    batch_size : queries in a step.
    averaged : keep the mean of the weights over about an epoch (Polyak & Juditsky 1992), not those that the
        last step happened to reach.
    early_stopping : stop after so many epochs without a better validation measure; None never stops.
    restart_after : start anew from other random weights after so many epochs without a better `measure` on
        the training data; None never does.
    seed : same seed, same model: on a CPU bit by bit, whatever the number of threads.
    device : `cpu`, `cuda`, or `auto`: the GPU if there is one.
    mixed_precision : on a GPU, compute the network in bfloat16.
    verbose : show a progress bar.

    Attributes
    ----------
    best_epoch_ : the epoch that was kept: the best on the validation data, without any the last.
    evals_ : after every epoch: the mean `loss`, if the method has one; with validation data, the measure of
        the training data as they were met, `train`, and of the validation data, `valid`.
    learning_rate_ : the one that was kept.
    interrupted_ : whether Ctrl-C ended the training.
    """

    measure: str | Measure = "ndcg@10"
    valid_measure: str | Measure | None = None
    log_features: bool = True
    hidden: int | tuple[int, ...] = 64
    activation: str = "relu"
    dropout: float = 0.3
    layer_norm: bool = False
    optimizer: str = "adam"
    learning_rate: float | tuple[float, ...] = 0.003
    schedule: str = "constant"
    momentum: float = 0.9
    l2: float = 0.0
    n_epochs: int = 100
    batch_size: int = 16
    averaged: bool = True
    early_stopping: int | None = 15
    restart_after: int | None = None
    seed: int = 0
    device: str = "auto"
    mixed_precision: bool = False
    verbose: bool = False

    search_space: ClassVar[Mapping[str, SearchRange]] = {
        "learning_rate": (3e-4, 3e-2, "log"),
        "hidden": [(), (10,), (64,), (64, 32), (256, 128)],
        "dropout": (0.0, 0.5, "linear"),
        "l2": (1e-6, 1e-1, "log"),
    }

    @abstractmethod
    def objective(self, labels: Labels, query_ptr: Offsets, weights: Values, seed: int) -> Objective:
        """What some queries teach, on a CPU."""

    @abstractmethod
    def loss(self, labels: Labels, query_ptr: Offsets, padding: Padding) -> Loss | None:
        """The same on a GPU, all queries of weight 1; None if only the objective will do."""

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        hidden = (self.hidden,) if isinstance(self.hidden, int) else tuple(self.hidden)
        architecture = Architecture(
            train.n_features, hidden if hidden != (0,) else (), self.activation, self.layer_norm
        )
        rates = self._checked_rates(valid)
        if find_spec("torch") is None:
            raise MissingExtraError("torch", "neural")
        from pomona.rankers.neural.training.trainer import Course, Trainer, device_named

        trainer = Trainer(
            architecture,
            train,
            valid,
            np.ones(train.n_queries) if weights is None else query_weights(weights, train),
            self,
            measure=self.parsed_measure,
            valid_measure=self.parsed_measure
            if self.valid_measure is None
            else parse_measure(self.valid_measure),
            batch_size=self.batch_size,
            log_features=self.log_features,
            device=device_named(self.device),
            seed=self.seed,
        )
        parameters = self.get_params(deep=False)
        shared = {field.name: parameters[field.name] for field in dataclasses.fields(Course)}
        best = -np.inf
        for number, rate in enumerate(rates, start=1):
            which = "" if len(rates) == 1 else f"rate {rate:g} ({number} of {len(rates)}), "
            with self._progress(which) as on_epoch:
                trained = trainer.train(Course(**{**shared, "learning_rate": rate}), on_epoch)
            if trained.best > best or number == 1:
                best, self.learning_rate_, self.model_ = trained.best, rate, trained.network
                self.best_epoch_, self.evals_ = trained.best_epoch, trained.evals
            self.interrupted_ = trained.interrupted
            if trained.interrupted:
                break
        if self.interrupted_:
            if self.best_epoch_ == 0:
                raise KeyboardInterrupt
            warnings.warn(f"interrupted: keeping epoch {self.best_epoch_}", stacklevel=3)
        elif self.best_epoch_ == 0:
            raise InputError("the training ran away to infinite weights: lower the learning rate")

    def _checked_rates(self, valid: Dataset | None) -> tuple[float, ...]:
        """The learning rates to try, after a look at the other parameters."""
        for name in ("n_epochs", "batch_size", "early_stopping", "restart_after"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise InputError(f"{name} must be at least 1, found {value!r}")
        for name in ("dropout", "momentum"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must lie in [0, 1), found {getattr(self, name)!r}")
        if not self.l2 >= 0:
            raise InputError(f"l2 must not be below 0, found {self.l2!r}")
        for name, known in (("optimizer", ("adam", "sgd")), ("schedule", tuple(SCHEDULES))):
            if getattr(self, name) not in known:
                raise UnknownNameError(name, getattr(self, name), known)
        rates = (
            tuple(self.learning_rate)
            if isinstance(self.learning_rate, tuple | list)
            else (self.learning_rate,)
        )
        if not rates or not all(rate > 0 for rate in rates):
            raise InputError(f"learning_rate must be above 0, found {self.learning_rate!r}")
        if len(rates) > 1 and valid is None:
            raise InputError("several learning rates can only be told apart on validation data: give valid=…")
        return rates

    @contextlib.contextmanager
    def _progress(self, what: str) -> Iterator[Callable[[int, Network, dict[str, float]], None] | None]:
        if not self.verbose:
            yield None
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn(type(self).__name__), BarColumn(), TextColumn("{task.description}")
        with Progress(*columns, TimeRemainingColumn()) as bar:
            task = bar.add_task("", total=self.n_epochs)

            def on_epoch(epoch: int, network: Network, now: dict[str, float]) -> None:
                judged = "".join(f", {part} {value:.4f}" for part, value in now.items())
                bar.update(task, completed=epoch, description=f"{what}{epoch} epochs{judged}")

            yield on_epoch

    def predict_rows(self, X: Features) -> Scores:
        return self.model_.score(X)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        network = self.model_
        facts = {
            "network": dataclasses.asdict(network.architecture),
            "log_features": network.scaling.log,
            "best_epoch": self.best_epoch_,
            "learning_rate": self.learning_rate_,
            "evals": self.evals_,
        }
        arrays: dict[str, NDArray[Any]] = {
            "mean": network.scaling.mean,
            "inverse": network.scaling.inverse,
            "parameters": network.parameters,
        }
        return facts, arrays

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        shape = facts["network"]
        architecture = Architecture(**{**shape, "hidden": tuple(shape["hidden"])})
        scaling = Scaling(arrays["mean"], arrays["inverse"], bool(facts["log_features"]))
        if (
            architecture.n_features != self.n_features_in_
            or scaling.mean.shape != (self.n_features_in_,)
            or scaling.inverse.shape != (self.n_features_in_,)
            or arrays["parameters"].shape != (architecture.n_parameters,)
        ):
            raise ValueError("the parameters do not fit the network")
        self.model_ = Network(architecture, scaling, arrays["parameters"])
        self.evals_ = {part: [float(v) for v in values] for part, values in facts["evals"].items()}
        self.best_epoch_, self.learning_rate_ = int(facts["best_epoch"]), float(facts["learning_rate"])
        self.interrupted_ = False
