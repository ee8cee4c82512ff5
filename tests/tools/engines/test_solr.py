import json

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named
from reference.engine import as_rows, solr_score


def leaf(value):
    return {"value": str(value)}


def split(feature, threshold, left, right, **more):
    return {"feature": feature, "threshold": str(threshold), "left": left, "right": right, **more}


def model(trees, **parameters):
    features = [{"name": "m"}, {"name": "c"}]
    return json.dumps(
        {
            "class": "x.MultipleAdditiveTreesModel",
            "features": features,
            "params": {"trees": trees, **parameters},
        }
    )


def test_solrs_own_figures():
    """`multipleadditivetreesmodel.json`: m = 0 gives −120, m = 1 gives 30, with c = 1."""
    first = split("m", 0.5, leaf(-100), split("c", 10, leaf(50), leaf(75)))
    text = model([{"weight": "1", "root": first}, {"weight": "2", "root": leaf(-10)}])
    served = engine_named("solr-9.1").read(text, ["m", "c"])
    assert served.score(np.array([[0, 1], [1, 1]], np.float32)).tolist() == [-120.0, 30.0]


def test_the_slack_and_undefined_values():
    text = model(
        [{"weight": "1", "root": split("m", 0.0, leaf(1), leaf(2), missing="right")}], isNullSameAsZero=False
    )
    served = engine_named("solr").read(text, ["m", "c"])
    assert served.score(np.array([[9e-7, 0], [2e-6, 0], [np.nan, 0]], np.float32)).tolist() == [1.0, 2.0, 2.0]
    with pytest.raises(InputError, match=r"before 9\.2"):
        engine_named("solr-9.1").read(text, ["m", "c"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_as_the_plain_reader():
    data = pm.simulate(20, docs_per_query=8, n_features=5, seed=1)
    for ranker, is_exact in (
        (pm.LambdaMART(n_trees=20, min_docs=3), True),
        (pm.LinearRegression(normalize=None), True),
        (pm.RankNet(n_epochs=1, log_features=False, hidden=4), False),
    ):
        text = ranker.fit(data).exported("solr")
        found = engine_named("solr").read(text, ranker.feature_names_).score(data.X)
        rows = as_rows(data.X, ranker.feature_names_)
        expected = solr_score(text, rows, undefined=isinstance(ranker, pm.LambdaMART))
        np.testing.assert_allclose(found, expected, rtol=0, atol=0 if is_exact else 1e-4)
