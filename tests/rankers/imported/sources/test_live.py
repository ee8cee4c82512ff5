import catboost
import lightgbm
import numpy as np
import pytest
import xgboost

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.imported.sources.live import read_live

random = np.random.default_rng(0)
X = random.normal(size=(300, 4)).astype(np.float32)
Y, GROUPS = random.integers(0, 3, 300), np.repeat(np.arange(30), 10)


@pytest.mark.filterwarnings("ignore:The argument")
def test_lightgbm_stopped_early():
    model = lightgbm.LGBMRanker(n_estimators=60, verbose=-1, learning_rate=0.5)
    half = {"group": [10] * 15, "eval_set": [(X[150:], Y[150:])], "eval_group": [[10] * 15]}
    model.fit(X[:150], Y[:150], callbacks=[lightgbm.early_stopping(3, verbose=False)], **half)
    assert 0 < model.best_iteration_ < 60
    with np.errstate(all="ignore"):
        assert np.array_equal(pm.from_model(model).predict(X), model.predict(X))
    assert np.array_equal(pm.from_model(model.booster_).predict(X), model.booster_.predict(X))


def test_xgboost_stopped_early_and_with_zero_for_undefined():
    model = xgboost.XGBRanker(n_estimators=60, early_stopping_rounds=3, learning_rate=0.5, missing=0.0)
    data = X.round(0)
    model.fit(
        data[:150], Y[:150], qid=GROUPS[:150], eval_set=[(data[150:], Y[150:])], eval_qid=[GROUPS[150:]]
    )
    assert model.best_iteration < 59
    ranker = pm.from_model(model)
    assert np.array_equal(ranker.predict(data).astype(np.float32), model.predict(data))
    booster = model.get_booster()
    assert np.array_equal(
        pm.from_model(booster).predict(data).astype(np.float32), booster.predict(xgboost.DMatrix(data))
    )


def test_catboost_with_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = catboost.CatBoostRanker(iterations=5, verbose=0, allow_writing_files=False)
    model.fit(frame, Y, group_id=GROUPS)
    ranker = pm.from_model(model)
    assert ranker.feature_names_ == tuple("abcd")
    np.testing.assert_allclose(ranker.predict(frame[list("dcba")]), model.predict(frame), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [lightgbm.LGBMRanker(), xgboost.XGBRanker(), xgboost.Booster(), catboost.CatBoostRanker(verbose=0)],
)
def test_what_is_not_fitted_is_refused(model):
    with pytest.raises(InputError) as caught:
        read_live(model)
    assert "\n" not in str(caught.value)
