from dataclasses import dataclass

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.linear.linear_ranker import LinearRanker


@dataclass(kw_only=True, eq=False, repr=False)
class Fixed(LinearRanker):
    def learn_weights(self, train, valid, weights):
        self.coef_ = np.array([1.0, -2.0])


def data(X=((0, 4), (1, 8), (3, 6))):
    return pm.Dataset(np.array(X, np.float32), [0, 1, 2], [1, 1, 1])


def test_scores_are_weighted_sums_of_normalized_features():
    fitted = Fixed().fit(data())
    assert fitted.predict(data()) == pytest.approx([0 - 0, 1 / 3 - 2 * 1, 1 - 2 * 0.5])
    plain = Fixed(normalize=None).fit(data())
    assert plain.predict(data().X) == pytest.approx([-8, -15, -9])
    assert fitted.coefficients() == {"f2": -2.0, "f1": 1.0}


def test_undefined_counts_as_zero():
    fitted = Fixed(normalize=None).fit(data())
    assert fitted.predict([[np.nan, 1.0]]) == [-2.0]


def test_scores_of_normalized_queries_need_the_queries():
    fitted = Fixed().fit(data())
    with pytest.raises(InputError, match="whole queries, their ids qid are missing"):
        fitted.predict(data().X)
    rows = np.array([[0, 4], [5, 5], [1, 8], [3, 6]], np.float32)
    scattered = fitted.predict(rows, qid=[1, 2, 1, 1])
    assert scattered[[0, 2, 3]] == pytest.approx(fitted.predict(data()))
    assert scattered[1] == 0


def test_infinite_values_and_weights_are_refused():
    with pytest.raises(InputError, match="infinite"):
        Fixed(normalize=None).fit(data(((np.inf, 1), (1, 2), (2, 2))))

    class Diverged(Fixed):
        def learn_weights(self, train, valid, weights):
            self.coef_ = np.array([np.nan, 1.0])

    with pytest.raises(InputError, match="did not converge"):
        Diverged().fit(data())
