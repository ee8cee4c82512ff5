import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_validate

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.baselines.ideal import IdealRanker
from pomona.rankers.loading import load_model


@pytest.fixture(scope="module")
def data():
    return pm.simulate(30, docs_per_query=10, n_features=4, seed=1)


def test_is_the_greatest_value_of_measures(data):
    fitted = IdealRanker().fit(data)
    scores = fitted.predict(data)
    has_answer = np.maximum.reduceat(data.y, data.query_ptr[:-1]) > 0
    assert (pm.evaluate(data, scores, "ndcg@10", per_query=True)["ndcg@10"] == has_answer).all()
    assert fitted.score(data) == has_answer.mean()
    assert fitted.score(data.X, data.y, qid=data.qid) == has_answer.mean()
    assert fitted.is_bound


def test_cross_validates(data):
    with sklearn.config_context(enable_metadata_routing=True):
        result = cross_validate(
            IdealRanker(measure="yahoo:ndcg@10"),
            data.X,
            data.y,
            params={"qid": data.qid, "groups": data.qid},
            cv=GroupKFold(3),
            error_score="raise",
        )
    assert (result["test_score"] == 1).all()


def test_save_and_load(data, tmp_path):
    clone(IdealRanker(measure="ap")).fit(data).save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is IdealRanker
    assert loaded.measure == "ap"
    assert (loaded.predict(data) == data.y).all()


def test_rows_without_labels_are_refused(data):
    fitted = IdealRanker().fit(data)
    for rows, qid in ((data.X, None), (data.X, data.qid), (data.X.tolist(), data.qid)):
        with pytest.raises(InputError, match="IdealRanker ranks by labels"):
            fitted.predict(rows, qid)
    with pytest.raises(InputError, match="X has 3 features, but IdealRanker is expecting 4"):
        fitted.predict(data.replace(X=data.X[:, :3]))


def test_documents_that_are_not_judged_come_last():
    with pytest.warns(UserWarning, match="below 0"):
        data = pm.Dataset(np.zeros((5, 1)), [np.nan, 0, -1, np.nan, 2], np.zeros(5))
    fitted = IdealRanker().fit(data)
    assert fitted.predict(data).tolist() == [2 * -1 - 1, 0, -1, 2 * -1 - 1, 2]
    nothing = pm.Dataset(np.zeros((2, 1)), [np.nan, np.nan], np.zeros(2))
    assert fitted.predict(nothing).tolist() == [-1, -1]


def test_categories_are_no_hindrance():
    frame = pd.DataFrame({"label": [0, 1], "qid": [1, 1], "country": ["NA", "DE"]})
    data = pm.Dataset.from_frame(frame, label="label", qid="qid")
    assert data.categories
    assert IdealRanker().fit(data).predict(data).tolist() == [0, 1]
