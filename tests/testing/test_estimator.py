"""scikit-learn's own checks, on rankers."""

import numpy as np
import pytest

import pomona as pm
from pomona.testing import DOES_NOT_APPLY
from pomona.testing.estimator import check_scikit_learn, estimator_results
from testing.extending import Stepwise


def test_every_exemption_is_needed():
    rankers = (pm.LinearRegression(), pm.MART(n_trees=2))
    results = [result for ranker in rankers for result in estimator_results(ranker)]
    assert len(results) > 90
    missed = {result["check_name"] for result in results if result["status"] != "passed"}
    assert set(DOES_NOT_APPLY) <= missed
    assert missed - set(DOES_NOT_APPLY) == {"check_methods_subset_invariance"}  # of LinearRegression


def test_a_ranker_that_learns_nothing_is_an_estimator_too():
    check_scikit_learn(pm.RandomRanker())


def test_the_patches_are_taken_back():
    check_scikit_learn(Stepwise(n_steps=2))
    with pytest.raises(pm.PomonaError, match="query ids qid are missing"):
        Stepwise(n_steps=2).fit(np.ones((2, 1)), [0, 1])


class ChangesItsParameters(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, weights)
        self.n_steps = 1


class ReturnsNothing(Stepwise):
    def fit(self, X, y=None, qid=None, **more):
        super().fit(X, y, qid, **more)


class LooksAtOtherRows(Stepwise):
    def predict_rows(self, X):
        return super().predict_rows(X) - X.max()


@pytest.mark.parametrize(
    ("cls", "check"),
    [
        (ChangesItsParameters, "check_estimators_overwrite_params|check_dont_overwrite_parameters"),
        (ReturnsNothing, "check_estimators_fit_returns_self"),
        (LooksAtOtherRows, "check_methods_subset_invariance"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_is_found_out(cls, check):
    with pytest.raises(AssertionError, match=f"{cls.__name__} must pass scikit-learn's ({check})"):
        check_scikit_learn(cls(n_steps=3))
