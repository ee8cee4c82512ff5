import json

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named
from reference.engine import as_rows, elastic_score

NAMES = ["foo", "bar"]


def split(index, feature, limit, left, right, **more):
    told = {"split_feature": feature, "threshold": limit, "decision_type": "lte", "default_left": True}
    return {"node_index": index, **told, "left_child": left, "right_child": right, **more}


def body(low, middle, high, **more):
    """foo <= 0.5 ? (bar <= 0.8 ? low : middle) : high."""
    nodes = [split(0, 0, 0.5, 1, 2, **more), split(1, 1, 0.8, 3, 4)]
    nodes += [{"node_index": 2 + k, "leaf_value": value} for k, value in enumerate((high, low, middle))]
    tree = {"feature_names": NAMES, "target_type": "regression", "tree_structure": nodes}
    ensemble = {"feature_names": NAMES, "trained_models": [{"tree": tree}]}
    ensemble["aggregate_output"] = {"weighted_sum": {"weights": [1.0]}}
    return json.dumps({"definition": {"trained_model": {"ensemble": ensemble}}})


def scores(text, rows, engine="elastic"):
    return engine_named(engine).read(text, NAMES).score(np.array(rows, np.float32)).tolist()


def test_elastics_own_figures():
    """`BoundedWindowInferenceModelTests`: (0.4, 0) → 1, (12, 0) → 10.5."""
    assert scores(body(1.0, 5.2, 10.5), [[0.4, 0.0], [12.0, 0.0]]) == [1.0, 10.5]


@pytest.mark.parametrize(
    ("engine", "shift"),
    [("elastic", 5), ("elastic-8.19", 5), ("elastic-9.0.1", 5), ("elastic-9.0.0", 0), ("elastic-8.18.4", 0)],
)
def test_elastics_own_figures_where_scores_could_be_negative(engine, shift):
    """`BoundedWindowInferenceModelTests`: (−10, 0) → 0 and (12, 0) → 11.5, shifted by the least leaf, −5."""
    assert scores(body(-5.0, 1.2, 6.5), [[-10, 0], [12, 0]], engine) == [shift - 5.0, shift + 6.5]


def test_infinite_is_undefined_and_other_comparisons():
    assert scores(body(1.0, 5.2, 10.5), [[np.inf, -np.inf], [-np.inf, 1.0]]) == [1.0, np.float32(5.2)]
    assert scores(body(1.0, 2.0, 3.0, default_left=False), [[-np.inf, 0.0]]) == [3.0]
    assert scores(body(1.0, 2.0, 3.0, decision_type="lt"), [[0.5, 0.0], [0.4, 0.0]]) == [3.0, 1.0]
    with pytest.raises(InputError, match="expected lt or lte"):
        scores(body(1.0, 2.0, 3.0, decision_type="gt"), [[0.5, 0.0]])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_as_the_plain_reader():
    data = pm.simulate(20, docs_per_query=8, n_features=5, seed=1)
    ranker = pm.LambdaMART(n_trees=20, min_docs=3).fit(data)
    text, X = ranker.exported("elastic"), data.X.copy()
    X[::7, 2], X[::5, 1] = np.inf, np.nan
    served = engine_named("elastic-8.18").read(text, ranker.feature_names_)
    assert served.score(X).tolist() == elastic_score(text, as_rows(X, ranker.feature_names_))
