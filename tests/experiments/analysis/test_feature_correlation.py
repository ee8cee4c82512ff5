import numpy as np
import pytest
from scipy.stats import spearmanr

import pomona as pm
from pomona.experiments.analysis.feature_correlation import feature_correlation


def test_correlations_are_scipys():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 4)).round(1).astype(np.float32)
    X[:, 3] = -(X[:, 0] ** 3)
    data = pm.Dataset(X, np.zeros(80), np.arange(80) // 8)
    table = feature_correlation(data, [0, 1, 2, 3])
    names = ["f1", "f2", "f3", "f4"]
    expected = np.abs(spearmanr(X).statistic)
    for first, second, value in table.rows():
        assert value == pytest.approx(expected[names.index(first), names.index(second)])
    order = list(dict.fromkeys(table["first"]))
    assert abs(order.index("f1") - order.index("f4")) == 1
    assert len(table) == 16


def test_constant_and_undefined_features_correlate_with_nothing():
    X = np.column_stack([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0], [np.nan] * 3, [3.0, np.nan, 9.0]])
    data = pm.Dataset(X, [0, 0, 1], [1, 1, 1])
    table = {(a, b): value for a, b, value in feature_correlation(data, [0, 1, 2, 3]).rows()}
    assert table["f1", "f2"] == table["f1", "f3"] == table["f2", "f3"] == 0.0
    assert table["f1", "f4"] == pytest.approx(1.0)
    assert table["f2", "f2"] == 1.0
    assert len(feature_correlation(data, [0])) == 1
