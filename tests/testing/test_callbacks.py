"""A training that breaks a promise to callbacks, or of sets that are watched, is found out."""

import numpy as np
import pytest

from pomona.testing.callbacks import check_callbacks, check_watched_sets
from testing.extending import Stepwise

CHECKS = (check_callbacks, check_watched_sets)


class GivesTheLatest(Stepwise):
    """Its steps go to and fro, and a callback is given the latest, not the best."""

    def learn(self, train, valid, weights):
        log = self.start_training(self.n_steps)
        self.scale_ = np.ones(train.n_features)
        with log.watch():
            for step in range(self.n_steps):
                self.coef_ = np.eye(train.n_features)[0] * -((-1) ** step)
                if log.record(train=self.score(train), **self.judge_sets(valid)):
                    best = self.coef_
        self.coef_ = best


class DoesNotWatch(Stepwise):
    def judge_sets(self, valid):
        return {"valid": self.score(valid)}


class WatchesWrongly(Stepwise):
    def judge_sets(self, valid):
        return {
            name: value / 2 if "p@1" in name else value for name, value in super().judge_sets(valid).items()
        }


class DecidesByAll(Stepwise):
    def judge_sets(self, valid):
        values = super().judge_sets(valid)
        return values | {"valid": np.mean(list(values.values()))}


@pytest.mark.parametrize(
    ("cls", "check", "message"),
    [
        (GivesTheLatest, check_callbacks, "the model of a step must be that of a training"),
        (DoesNotWatch, check_watched_sets, "records one validation set"),
        (WatchesWrongly, check_watched_sets, "p@1 must be that of the model"),
        (DecidesByAll, check_watched_sets, "must not change what is recorded of valid"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_is_found_out(cls, check, message):
    with pytest.raises((AssertionError, ValueError), match=message):
        check(cls(n_steps=6))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_honest_one_passes(check):
    check(Stepwise(n_steps=6))
