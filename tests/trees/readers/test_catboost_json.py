import json

import catboost
import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.readers.catboost_json import CatBoostJson


def saved(model, tmp_path):
    model.save_model(str(tmp_path / "m.json"), format="json")
    return json.loads((tmp_path / "m.json").read_text())


@pytest.mark.parametrize("loss", ["RMSE", "QueryRMSE"])
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
@pytest.mark.parametrize("growth", ["SymmetricTree", "Lossguide", "Depthwise"])
def test_the_same_scores_as_catboost(growth, nan_mode, loss, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 5)).round(1).astype(np.float32)
    X[::5, :3] = np.nan
    settings = {
        "iterations": 20,
        "depth": 4,
        "grow_policy": growth,
        "nan_mode": nan_mode,
        "loss_function": loss,
    }
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    pool = catboost.Pool(X, random.integers(0, 3, 400), group_id=np.arange(400) // 10)
    model = catboost.CatBoost({**settings, **quiet}).fit(pool)
    read = CatBoostJson().read(saved(model, tmp_path))
    limits = read.model.threshold
    rows = random.choice(
        np.concatenate([limits, np.nextafter(limits, np.float32(9)), [np.nan, np.inf, -np.inf, -0.0, 1e-40]]),
        (300, 5),
    ).astype(np.float32)
    for data in (X, rows):
        found = read.model.score(data) * read.scale + read.shift
        np.testing.assert_allclose(found, model.predict(data), rtol=1e-12, atol=1e-300)
    is_oblivious = read.model._coded.n_levels >= 0
    assert is_oblivious.all() if growth == "SymmetricTree" else not is_oblivious.all()


def model(**changes):
    feature = {"feature_index": 0, "flat_feature_index": 1, "has_nans": False, "nan_value_treatment": "AsIs"}
    split = {"float_feature_index": 0, "border": 0.5, "split_type": "FloatFeature"}
    tree = {"splits": [split, {**split, "border": 2.5}], "leaf_values": [1.0, 2.0, 3.0, 4.0]}
    return {"features_info": {"float_features": [feature]}, "oblivious_trees": [{**tree, **changes}]}


def test_the_first_split_is_the_lowest_bit():
    read = CatBoostJson().read(model())
    assert read.model.score([[9, 0.5], [9, 1.0], [9, 3.0], [9, np.nan]]).tolist() == [1.0, 2.0, 4.0, 1.0]


def test_refusals():
    with pytest.raises(InputError, match="2 splits has 3 leaf values"):
        CatBoostJson().read(model(leaf_values=[1, 2, 3]))
    with pytest.raises(InputError, match="categories"):
        CatBoostJson().read(model(splits=[{"split_type": "OnlineCtr"}]))
    with pytest.raises(InputError, match="2 scores"):
        CatBoostJson().read({**model(), "scale_and_bias": [1, [0, 0]]})
    for scale, bias in ((np.nan, 0), (np.inf, 0), (1, np.nan), (1, -np.inf)):
        with pytest.raises(InputError, match="expected finite numbers"):
            CatBoostJson().read({**model(), "scale_and_bias": [scale, [bias]]})
