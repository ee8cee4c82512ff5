import lightgbm
import numpy as np

from pomona.trees.formats.lightgbm import LightGBM


def read(text, X):
    return lightgbm.Booster(model_str=text).predict(X.astype(np.float64), raw_score=True)


def test_lightgbm_gives_the_same_scores(forest, names, rows):
    assert np.array_equal(read(LightGBM().write(forest, names), rows), forest.score(rows))


def test_names_of_features_are_kept_if_lightgbm_can_read_them(forests, names, rows):
    forest = forests["lambdamart"]
    assert lightgbm.Booster(model_str=LightGBM().write(forest, names)).feature_name() == names
    text = LightGBM().write(forest, ["a b", "a b", "[c]", "d=1", "é", ""])
    assert np.array_equal(read(text, rows), forest.score(rows))


def test_importance_is_ours(forests, names):
    booster = lightgbm.Booster(model_str=LightGBM().write(forests["lambdamart"], names))
    assert np.array_equal(booster.feature_importance("split"), forests["lambdamart"].importance("split"))
    np.testing.assert_allclose(booster.feature_importance("gain"), forests["lambdamart"].importance("gain"))
