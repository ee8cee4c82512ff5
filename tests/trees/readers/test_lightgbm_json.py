import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.trees.readers.lightgbm_json import LightGBMJson
from reference.foreign import SPECIAL, documents, lightgbm_text, random_trees


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_same_bits_as_lightgbm(seed, n_trees):
    random = np.random.default_rng(seed)
    trees = random_trees(random, n_trees, [*SPECIAL, np.inf, -np.inf])  # a dump has ±1e300 for infinity
    booster = lightgbm.Booster(model_str=lightgbm_text(random, trees))
    X = documents(random, np.concatenate([tree["threshold"] for tree in trees]))
    read = LightGBMJson().read(booster.dump_model())
    assert np.array_equal(read.model.score(X), booster.predict(X))


def test_refusals():
    split = {
        "split_feature": 0,
        "threshold": "1||2",
        "decision_type": "==",
        "left_child": {},
        "right_child": {},
    }
    with pytest.raises(InputError, match="categories"):
        LightGBMJson().read({"tree_info": [{"tree_structure": split}]})
    with pytest.raises(InputError, match="2 scores"):
        LightGBMJson().read({"tree_info": [], "num_class": 2})
    assert not LightGBMJson().recognizes({"trees": []})
