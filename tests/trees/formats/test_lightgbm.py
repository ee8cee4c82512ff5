import lightgbm
import numpy as np

from pomona.trees.formats.lightgbm import LightGBM
from pomona.trees.readers.lightgbm_text import LightGBMText
from reference.foreign import documents, lightgbm_text, random_trees


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


def test_thresholds_and_zeros_of_lightgbms_own_models_come_back():
    random = np.random.default_rng(4)
    trees = random_trees(random, 6)
    model = LightGBMText().read(lightgbm_text(random, trees)).model
    assert model.zero_missing is not None
    X = documents(random, model.double_threshold, 200, infinite=False)
    found = lightgbm.Booster(model_str=LightGBM().content(model, list("abcd"))).predict(X, raw_score=True)
    assert np.array_equal(found, model.score(X))
