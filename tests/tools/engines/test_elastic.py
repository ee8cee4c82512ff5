import json

import numpy as np
import pytest

import pomona as pm
from pomona.tools.engines.engine import engine_named
from reference.engine import as_rows, elastic_score


def test_elastics_own_figures():
    """`BoundedWindowInferenceModelTests`: foo <= 0.5 ? (bar <= 0.8 ? 1 : 5.2) : 10.5."""

    def split(index, feature, limit, left, right):
        told = {"split_feature": feature, "threshold": limit, "decision_type": "lte", "default_left": True}
        return {"node_index": index, **told, "left_child": left, "right_child": right}

    nodes = [split(0, 0, 0.5, 1, 2), split(1, 1, 0.8, 3, 4)]
    nodes += [{"node_index": 2 + k, "leaf_value": value} for k, value in enumerate((10.5, 1.0, 5.2))]
    names = ["foo", "bar"]
    tree = {"feature_names": names, "target_type": "regression", "tree_structure": nodes}
    ensemble = {"feature_names": names, "trained_models": [{"tree": tree}]}
    ensemble["aggregate_output"] = {"weighted_sum": {"weights": [1.0]}}
    text = json.dumps({"definition": {"trained_model": {"ensemble": ensemble}}})
    served = engine_named("elastic").read(text, names)
    assert served.score(np.array([[0.4, 0.0], [12.0, 0.0]], np.float32)).tolist() == [1.0, 10.5]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_as_the_plain_reader():
    data = pm.simulate(20, docs_per_query=8, n_features=5, seed=1)
    ranker = pm.LambdaMART(n_trees=20, min_docs=3).fit(data)
    text = ranker.exported("elastic")
    served = engine_named("elastic").read(text, ranker.feature_names_)
    assert served.score(data.X).tolist() == elastic_score(text, as_rows(data.X, ranker.feature_names_))
