import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import pomona as pm
from pomona.errors import InputError


def test_undefined_values_become_the_first_quartile_of_the_training_data():
    X = np.array([[1.0, np.nan, np.nan], [2.0, 8.0, np.nan], [3.0, np.nan, np.nan], [np.nan, 4.0, np.nan]])
    fill = pm.QuartileFill().fit(X)
    assert fill.fill_.tolist() == [1.5, 5.0, 0.0]
    out = fill.transform([[np.nan, 9.0, np.nan]])
    assert out.tolist() == [[1.5, 9.0, 0.0]]
    assert clone(fill).set_params(quantile=0.5).fit(X).fill_.tolist() == [2.0, 6.0, 0.0]


def test_what_is_defined_stays_and_the_input_too():
    X = np.array([[1.0], [np.nan]], np.float32)
    out = pm.QuartileFill().fit_transform(X)
    assert out.dtype == np.float32
    assert out.ravel().tolist() == [1.0, 1.0]
    assert np.isnan(X[1, 0])


def test_a_pipeline_with_a_ranker_that_is_given_query_ids(routed):
    data = pm.simulate(20, docs_per_query=10, n_features=4, seed=1)
    X = data.X.copy()
    X[::3, 0] = np.nan
    pipeline = make_pipeline(pm.QuartileFill(), pm.LinearRegression()).fit(X, data.y, qid=data.qid)
    assert np.isfinite(pipeline.predict(X, qid=data.qid)).all()


def test_names_of_a_frame_are_kept():
    frame = pd.DataFrame({"a": [1.0, None], "b": [2.0, 3.0]})
    out = pm.QuartileFill().set_output(transform="pandas").fit_transform(frame)
    assert out.to_dict("list") == {"a": [1.0, 1.0], "b": [2.0, 3.0]}


def test_refused():
    with pytest.raises(InputError, match="found quantile=2"):
        pm.QuartileFill(quantile=2).fit([[1.0]])
    with pytest.raises(NotFittedError):
        pm.QuartileFill().transform([[1.0]])
