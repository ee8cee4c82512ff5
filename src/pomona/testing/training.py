"""What a ranker that learns step by step promises of its training."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pomona.data.dataset import Dataset
from pomona.rankers.base import Ranker
from pomona.rankers.training_log import TrainingLog
from pomona.testing.contract import require, require_equal
from pomona.testing.sample import (
    fresh_data,
    keeping_the_best,
    new_ranker,
    saved_and_loaded,
    subclass_of,
    train_data,
)


def check_training_is_recorded(ranker: Ranker) -> None:
    """A ranker that learns step by step records the measure of every step, and which step it kept."""
    fitted = new_ranker(keeping_the_best(ranker), seed=3).fit(train_data(), valid=fresh_data())
    if not hasattr(fitted, "evals_"):
        return
    lengths = {part: len(curve) for part, curve in fitted.evals_.items()}
    require(
        {"train", "valid"} <= set(lengths) and len(set(lengths.values())) == 1,
        f"with validation data, `train` and `valid` must be recorded in every step, found {lengths}",
    )
    best = fitted.best_iteration_
    require(
        1 <= best <= lengths["valid"] and not fitted.interrupted_,
        f"best_iteration_ must be one of {lengths['valid']} and interrupted_ false, found {best} and "
        f"{fitted.interrupted_}",
    )
    score, recorded = fitted.score(fresh_data()), fitted.evals_["valid"][best - 1]
    require(
        abs(score - recorded) <= 1e-9,
        f"the model kept must be that of the best step: it scores {score}, recorded was {recorded}",
    )


def check_what_is_recorded_is_the_score(ranker: Ranker) -> None:
    """Of the step that is kept, `evals_` are what `score` gives: with weights, ties, rows in any order."""
    _check_recorded(ranker, "ndcg(ties=expected)@10")
    _check_recorded(ranker, "ndcg(ties=stable)@10")  # as some tools have it: by the order of the rows


def _check_recorded(ranker: Ranker, measure: str) -> None:
    ranker = new_ranker(keeping_the_best(ranker), seed=3, measure=measure)
    train, valid = (_tied_and_shuffled(data, seed) for seed, data in enumerate((train_data(), fresh_data())))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*uses the mean weight")
        fitted = ranker.fit(train, valid=valid)
    if not hasattr(fitted, "evals_"):
        return
    for part, data in (("train", train), ("valid", valid)):
        recorded, score = fitted.evals_[part][fitted.best_iteration_ - 1], fitted.score(data)
        require(
            abs(score - recorded) <= 1e-9,
            f"what is recorded of {part} must be its score after the step: {recorded}, score is {score}",
        )


def _tied_and_shuffled(data: Dataset, seed: int) -> Dataset:
    """The documents with few values of a feature, in a random order, with weights."""
    random = np.random.default_rng(seed)
    order, weights = random.permutation(data.n_docs), random.integers(1, 4, data.n_docs) / 2
    return Dataset(np.round(data.X[order]), data.y[order], data.qid[order], weight=weights)


def check_interruption_keeps_the_best(ranker: Ranker) -> None:
    """Ctrl-C keeps the best step so far, says so, and the model file remembers; before the first, it ends."""
    if _n_iterations(new_ranker(ranker, seed=3).fit(train_data(), valid=fresh_data())) < 2:
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitted = _interrupted_after(1, ranker).fit(train_data(), valid=fresh_data())
        except KeyboardInterrupt:
            raise AssertionError(
                "Ctrl-C must keep the best step so far, but ended fit: do the steps inside `with log.watch()`"
            ) from None
    notes = [one for one in caught if re.search(r"interrupted: keeping \w+ 1 of 1", str(one.message))]
    require(
        len(notes) == 1 and notes[0].filename == __file__,
        "Ctrl-C must keep the steps so far with one warning of the caller of fit, `interrupted: keeping …`: "
        f"found {[(str(one.message), one.filename) for one in caught]}",
    )
    require(
        fitted.interrupted_ and fitted.best_iteration_ == _n_iterations(fitted) == 1,
        f"after Ctrl-C in the second step, the first must be kept: interrupted_ is {fitted.interrupted_}, "
        f"best_iteration_ {fitted.best_iteration_} of {_n_iterations(fitted)}",
    )
    loaded = saved_and_loaded(fitted)
    require(loaded.interrupted_, "a model file must keep that the training was interrupted")
    promise = "an interrupted model must be saved as it is"
    require_equal(fitted.predict(fresh_data()), loaded.predict(fresh_data()), promise)
    try:
        _interrupted_after(0, ranker).fit(train_data(), valid=fresh_data())
    except KeyboardInterrupt:
        return
    raise AssertionError("Ctrl-C before the first step must end fit: there is nothing to keep")


def check_early_stopping(ranker: Ranker) -> None:
    """`early_stopping` ends a training whose validation measure only falls."""
    if "early_stopping" not in ranker.get_params():
        return

    def falling(log: TrainingLog, values: dict[str, Any]) -> dict[str, Any]:
        require(not log.should_stop, "a training must end when its log says should_stop")
        return {**values, "valid": -log.iteration}

    new = _recording(new_ranker(ranker, seed=3, early_stopping=2), falling)
    fitted = new.fit(train_data(), valid=fresh_data())
    if hasattr(fitted, "evals_"):
        counts = (_n_iterations(fitted), fitted.best_iteration_)
        require(
            counts == (3, 1) or counts[0] == counts[1],  # the latter where validation data decide nothing
            f"early_stopping=2 must end a training that only gets worse after 3 steps and keep the first: "
            f"found {counts[0]} steps, kept {counts[1]}",
        )


def _n_iterations(fitted: Ranker) -> int:
    return max(map(len, getattr(fitted, "evals_", {}).values()), default=0)


def _interrupted_after(n_iterations: int, ranker: Ranker) -> Ranker:
    """A copy that meets Ctrl-C when so many steps of a training are recorded."""

    def interrupting(log: TrainingLog, values: dict[str, Any]) -> dict[str, Any]:
        if log.iteration == n_iterations:
            raise KeyboardInterrupt
        return values

    return _recording(new_ranker(ranker, seed=3), interrupting)


def _recording(ranker: Ranker, change: Callable[[TrainingLog, dict[str, Any]], dict[str, Any]]) -> Ranker:
    """The ranker, whose log records what `change` makes of the values."""
    cls = type(ranker)

    def start_training(self: Ranker, *given: Any, **options: Any) -> TrainingLog:
        log = cls.start_training(self, *given, **options)
        record = log.record
        log.record = lambda **values: record(**change(log, values))  # type: ignore[method-assign]
        return log

    ranker.__class__ = subclass_of(cls, start_training=start_training)
    return ranker
