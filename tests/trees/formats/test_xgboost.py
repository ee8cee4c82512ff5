import numpy as np
import xgboost

from pomona.trees.forest import Forest
from pomona.trees.formats.xgboost import XGBoost, below


def read(text):
    booster = xgboost.Booster()
    booster.load_model(bytearray(text.encode()))
    return booster


def test_xgboost_gives_the_same_scores(forest, names, rows):
    booster = read(XGBoost().write(forest, names))
    found = booster.predict(xgboost.DMatrix(rows, feature_names=names), output_margin=True)
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-5)


def test_names_that_xgboost_cannot_read_are_left_out(forests, rows):
    booster = read(XGBoost().write(forests["lambdamart"], ["a b", "a b", "[c]", "d=1", "é", ""]))
    found = booster.predict(xgboost.DMatrix(rows), output_margin=True)
    np.testing.assert_allclose(found, forests["lambdamart"].score(rows), rtol=0, atol=1e-5)


def test_below_the_next_number_is_not_above_this_one():
    split = [0], [0.1], [True], [~0], [~1], [1.0]
    stump = below(Forest(*split, node_ptr=[0, 1], value=[1.0, 2.0], leaf_ptr=[0, 2], n_features=1))
    assert stump.threshold[0] > np.float32(0.1)
    assert np.nextafter(stump.threshold[0], np.float32(0)) == np.float32(0.1)
