"""A training that breaks a promise is found out."""

import numpy as np
import pytest

from pomona.testing.training import (
    check_early_stopping,
    check_interruption_keeps_the_best,
    check_training_is_recorded,
)
from testing.extending import Stepwise

CHECKS = (check_training_is_recorded, check_interruption_keeps_the_best, check_early_stopping)


class RecordsNothingOfTraining(Stepwise):
    def start_training(self, total, **more):
        log = super().start_training(total, **more)
        record, log.record = log.record, lambda train=None, valid=None: record(valid=valid)
        return log


class KeepsTheLast(Stepwise):
    """Its steps go to and fro, so that the best is not the last."""

    def learn(self, train, valid, weights):
        log = self.start_training(self.n_steps)
        self.scale_ = np.ones(train.n_features)
        with log.watch():
            for step in range(self.n_steps):
                self.coef_ = np.eye(train.n_features)[step % 2] * (-1) ** step
                log.record(train=self.score(train), valid=self.score(valid))


class SwallowsCtrlC(Stepwise):
    def learn(self, train, valid, weights):
        try:
            super().learn(train, valid, weights)
        except (KeyboardInterrupt, UnboundLocalError):
            self.coef_ = np.zeros(train.n_features)


class HasNoWatch(Stepwise):
    def learn(self, train, valid, weights):
        log = self.start_training(self.n_steps)
        self.scale_, self.coef_ = np.ones(train.n_features), np.zeros(train.n_features)
        for _ in range(self.n_steps):
            log.record(train=self.score(train), valid=self.score(valid))


class NeverStops(Stepwise):
    def start_training(self, total, **more):
        log = super().start_training(total, **more)
        log.__class__ = type("Deaf", (type(log),), {"should_stop": False})
        return log


@pytest.mark.parametrize(
    ("cls", "check", "message"),
    [
        (RecordsNothingOfTraining, check_training_is_recorded, "`train` and `valid` must be recorded"),
        (KeepsTheLast, check_training_is_recorded, "the model kept must be that of the best step"),
        (SwallowsCtrlC, check_interruption_keeps_the_best, "before the first step must end fit"),
        (HasNoWatch, check_interruption_keeps_the_best, "Ctrl-C must keep the best step so far"),
        (NeverStops, check_early_stopping, "must end a training that only gets worse after 3 steps"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_is_found_out(cls, check, message):
    with pytest.raises(AssertionError, match=message):
        check(cls(n_steps=6))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_honest_one_passes(check):
    check(Stepwise(n_steps=6))
