"""What neural rankers share: their parameters, the training, and the network that is left of it.

Fitting needs PyTorch (`pip install "pomona[neural]"`); a fitted or loaded ranker scores without it.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from abc import abstractmethod
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Labels, Offsets, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, MissingExtraError
from pomona.measures.base import Measure
from pomona.measures.parse import measure as parse_measure
from pomona.objectives.base import Objective
from pomona.rankers.base import Ranker
from pomona.rankers.inputs import means_of_queries, weights_in_queries
from pomona.rankers.learnt import Array, check_learnt
from pomona.rankers.movable import Movable
from pomona.rankers.neural.network.network import Architecture
from pomona.rankers.neural.network.scaling import FARTHEST, Quantiles, Scaling
from pomona.rankers.parameter import Interval, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pomona.trees.formats.layers import InputScale, Layers


class NeuralRanker(Ranker):
    """A ranker that is a small neural network.

    Parameters
    ----------
    measure : what `score` reports, and what is trained towards where the method has a choice; any measure,
        any convention.
    valid_measure : judges the validation queries, and so picks the epoch; None for `measure`.
    log_features : take the logarithm of the features before they are put on a common scale, which counts and
        other quantities of a long tail need.
    quantile_features : give every feature the normal distribution instead, by its quantiles in the training
        data (`log_features` then makes no difference). No engine takes such a network.
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
        the training data, of batches as they were met; None never does.
    seed : same seed, same model: on a CPU bit by bit, whatever the number of threads.
    device : `cpu`, `cuda`, or `auto`: the GPU if there is one.
    mixed_precision : on a GPU, compute the network in bfloat16.
    verbose : show a progress bar.

    Attributes
    ----------
    evals_ : after every epoch: the mean `loss` of the batches as they were met, if the method has one; with
        validation data, `measure` of the training data, `train`, and `valid_measure` of the validation data,
        `valid`; and, where the two differ, `valid_measure` of the training data, `train_valid_measure`.
    learning_rate_ : the one that was kept.
    """

    measure: str | Measure = "ndcg@10"
    valid_measure: str | Measure | None = None
    log_features: bool = True
    quantile_features: bool = False
    hidden: int | tuple[int, ...] = 64
    activation: str = "relu"
    dropout: Annotated[float, Interval(0, 1)] = 0.3
    layer_norm: bool = False
    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: PositiveFloat | tuple[PositiveFloat, ...] = 0.003
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    momentum: Annotated[float, Interval(0, 1)] = 0.9
    l2: NonNegativeFloat = 0.0
    n_epochs: PositiveInt = 100
    batch_size: PositiveInt = 16
    averaged: bool = True
    early_stopping: PositiveInt | None = 15
    restart_after: PositiveInt | None = None
    seed: NonNegativeInt = 0
    device: str = "auto"
    mixed_precision: bool = False
    verbose: bool = False

    is_traceable = True
    learnt_attributes: ClassVar[Mapping[str, Any]] = {"learning_rate_": float}
    search_space = {
        "learning_rate": (3e-4, 3e-2, "log"),
        "hidden": [(), (10,), (64,), (64, 32), (256, 128)],
        "dropout": (0.0, 0.5, "linear"),
        "l2": (1e-6, 1e-1, "log"),
        "quantile_features": [False, True],
    }

    @abstractmethod
    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """What is to be minimized on some queries.

        `weights` has one a query, `relative` one a document beside the others of its query, None for 1.
        """

    def architecture(self, n_features: int) -> Architecture:
        """The shape of the network."""
        return Architecture(n_features, self._widths, self.activation, self.layer_norm)

    @property
    def _widths(self) -> tuple[int, ...]:
        hidden = (self.hidden,) if isinstance(self.hidden, int) else tuple(self.hidden)
        return hidden if hidden != (0,) else ()

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        architecture = self.architecture(train.n_features)
        rates = self._checked_rates(valid)
        if find_spec("torch") is None:
            raise MissingExtraError("torch", "neural")
        from pomona.rankers.neural.training.trainer import Trainer, device_named
        from pomona.rankers.neural.training.trajectory import TrainingConfig

        trainer = Trainer(
            architecture,
            train,
            valid,
            *self._weights(train, weights),
            self,
            measure=self.parsed_measure,
            valid_measure=parse_measure(self.measure if self.valid_measure is None else self.valid_measure),
            batch_size=self.batch_size,
            scaling=Scaling.of(train.X, log=self.log_features, quantile=self.quantile_features),
            device=device_named(self.device),
            seed=self.seed,
            watched=self._watched,
        )
        parameters = self.get_params(deep=False)
        shared = {field.name: parameters[field.name] for field in dataclasses.fields(TrainingConfig)}
        log = self.start_training(self.n_epochs, unit="epoch")

        def finish() -> None:
            if trainer.best is None:
                raise InputError("the training ran away to infinite weights: lower the learning rate")
            self.model_, config = trainer.best
            self.learning_rate_ = config.learning_rate

        log.finish_by(finish)
        with log.watch():
            for number, rate in enumerate(rates, start=1):
                log.start_path("" if len(rates) == 1 else f"rate {rate:g} ({number} of {len(rates)}), ")
                trainer.train(TrainingConfig(**{**shared, "learning_rate": rate}), log)
        finish()

    def _weights(self, train: Dataset, weights: Values | None) -> tuple[Values, Values | None]:
        """One weight a query, and one a document beside its query's others, if `objective` takes them."""
        if "relative" in inspect.signature(self.objective).parameters:
            return weights_in_queries(weights, train)
        reason = "its objective takes no `relative` weights of documents"
        return means_of_queries(weights, train, type(self).__name__, reason), None

    def _checked_rates(self, valid: Dataset | None) -> tuple[float, ...]:
        """The learning rates to try."""
        rates = (
            tuple(self.learning_rate)
            if isinstance(self.learning_rate, tuple | list)
            else (self.learning_rate,)
        )
        if not rates:
            raise InputError("learning_rate must name one rate at least, found none")
        for name, value in (("learning_rate", max(rates)), ("l2", self.l2)):
            if value > np.finfo(np.float32).max:
                raise InputError(
                    f"{name} = {value:g} is beyond what networks compute with, float32: lower it"
                )
        if len(rates) > 1 and valid is None:
            raise InputError("several learning rates can only be told apart on validation data: give valid=…")
        return rates

    def predict_rows(self, X: Features) -> Scores:
        return self.model_.score(X)

    def movable_queries(self, data: Dataset) -> Movable:
        network, scaled = self.model_, np.empty(data.X.shape, np.float32)
        network.scaling.scale(data.X, np.arange(data.n_docs), scaled)
        ready = dataclasses.replace(network, scaling=Scaling.done(data.n_features))

        def score(parameters: Values) -> Scores:
            moved = dataclasses.replace(ready, parameters=parameters.astype(np.float32))
            return moved.score(scaled, data.query_ptr)

        return Movable(network.parameters.astype(np.float64), "weights and biases", score)

    def portable(self) -> Layers:
        self.check_fitted()
        network = self.model_
        shape, scaling = network.architecture, network.scaling
        if shape.layer_norm:
            raise InputError("engines normalize no layers: train the network with layer_norm=False")
        if scaling.quantiles.knots.size:
            raise InputError("engines know no quantiles: train the network with quantile_features=False")
        ends = np.cumsum([math.prod(part) for part in shape.shapes])[:-1]
        parts = [
            part.reshape(form).astype(np.float64)
            for part, form in zip(np.split(network.parameters, ends), shape.shapes, strict=True)
        ]
        activation = {"logistic": "sigmoid"}.get(shape.activation, shape.activation)
        return Layers(
            (*parts[:-1:2], parts[-1][:, None]),
            (*parts[1:-1:2], np.zeros(1)),
            (*[activation] * len(shape.hidden), "identity"),
            InputScale(scaling.mean, scaling.inverse, scaling.log, FARTHEST),
        )

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        network, (facts, arrays) = self.model_, super().get_state()
        facts |= {"network": dataclasses.asdict(network.architecture), "log_features": network.scaling.log}
        arrays |= {
            "mean": network.scaling.mean,
            "inverse": network.scaling.inverse,
            "parameters": network.parameters,
        }
        if self.quantile_features:
            arrays |= vars(network.scaling.quantiles)
        return facts, arrays

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        architecture = self._architecture_of(facts["network"])
        if architecture.n_features != self.n_features_in_:
            raise ValueError(f"a network over {architecture.n_features} of {self.n_features_in_} features")
        check_learnt({"log_features": bool}, facts)
        declared = {
            "mean": Array("n_features"),
            "inverse": Array("n_features"),
            "parameters": Array(architecture.n_parameters, dtype=np.float32),
        }
        check_learnt(declared, arrays, n_features=self.n_features_in_)
        quantiles = Quantiles.of_arrays(arrays, self.n_features_in_)
        scaling = Scaling(arrays["mean"], arrays["inverse"], facts["log_features"], quantiles)
        self.model_ = architecture.network(scaling, arrays["parameters"])

    def _architecture_of(self, shape: Mapping[str, Any]) -> Architecture:
        """The shape that a model file tells of."""
        check_learnt({"hidden": tuple[int, ...], "activation": str, "layer_norm": bool}, shape)
        return Architecture(**{**shape, "hidden": tuple(shape["hidden"])})
