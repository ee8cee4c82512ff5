import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from pomona.errors import InputError
from pomona.trees.readers.histogram_boosting import read_histogram_boosting


@pytest.mark.parametrize("cls", [HistGradientBoostingRegressor, HistGradientBoostingClassifier])
def test_the_same_bits_as_scikit_learn(cls):
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 4)).round(1)
    X[::6, 1] = np.nan
    estimator = cls(max_iter=12, max_leaf_nodes=9).fit(X, X[:, 0] + np.nan_to_num(X[:, 1]) > 0.3)
    forest = read_histogram_boosting(estimator).model
    limits = forest.double_threshold
    values = np.concatenate([limits, np.nextafter(limits, 9.0), [np.nan, np.inf, -np.inf, -0.0, 1e-310]])
    rows = random.choice(values, (300, 4))
    assert np.array_equal(forest.score(rows), estimator._raw_predict(rows).ravel())


def test_refusals():
    with pytest.raises(InputError, match="not fitted"):
        read_histogram_boosting(HistGradientBoostingRegressor())
    X = np.random.default_rng(0).integers(0, 3, (60, 2)).astype(float)
    three = HistGradientBoostingClassifier(max_iter=2).fit(X, np.arange(60) % 3)
    with pytest.raises(InputError, match="3 scores"):
        read_histogram_boosting(three)
    categories = HistGradientBoostingRegressor(max_iter=2, categorical_features=[0]).fit(X, X[:, 0])
    with pytest.raises(InputError, match="categories"):
        read_histogram_boosting(categories)
