"""scikit-learn's own checks, on rankers."""

import numpy as np
import pytest

import pomona as pm
from pomona.rankers import base
from pomona.rankers.base import Ranker
from pomona.rankers.inputs import as_dataset
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


class ReadsItsData(Stepwise):
    """A plug-in whose `fit` makes the dataset itself."""

    def fit(self, X, y=None, qid=None, *, sample_weight=None, **more):
        assert type(self).predict is not Ranker.predict  # of the copy that is checked
        assert (Ranker.predict, base.as_dataset) == (_PREDICT, as_dataset)  # which others may use meanwhile
        return super().fit(as_dataset(X, y, qid), sample_weight=sample_weight, **more)


_PREDICT = Ranker.predict


def test_no_class_is_patched():
    check_scikit_learn(ReadsItsData(n_steps=2))
    with pytest.raises(pm.PomonaError, match="query ids qid are missing"):
        Stepwise(n_steps=2).fit(np.ones((2, 1)), [0, 1])


@pytest.mark.parametrize(
    "ranker",
    [
        pm.LinearRegression(normalize=None),
        pm.LogisticRegression(normalize=None, kind="multinomial"),
        pm.RankSVM(normalize=None),
        pm.FSMRank(normalize=None),
        pm.RankCosine(normalize=None, n_rounds=5),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_weight_0_is_no_document_and_weight_2_is_two_where_nothing_is_scaled_by_query(ranker):
    equivalences = [
        result
        for result in estimator_results(ranker)
        if result["check_name"].startswith("check_sample_weight_equivalence")
    ]
    assert len(equivalences) == 2
    assert {result["status"] for result in equivalences} == {"passed"}


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
