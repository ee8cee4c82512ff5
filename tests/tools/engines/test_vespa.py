import json

import numpy as np
import pytest
import sklearn.datasets

from pomona.errors import InputError
from pomona.tools.engines.engine import engine_named


def split(name, limit, missing_left, left, right):
    left, right = {**left, "nodeid": 1}, {**right, "nodeid": 2}
    ways = {"yes": 1, "no": 2, "missing": 1 if missing_left else 2, "children": [left, right]}
    return {"nodeid": 0, "depth": 0, "split": name, "split_condition": limit, **ways}


def leaf(value):
    return {"nodeid": 0, "leaf": value}


def test_vespas_own_figures():
    """`xgboost.test.json`; – is undefined."""
    second = [split("f2", 0.5, True, leaf(a), leaf(b)) for a, b in ((1, 2), (3, 4))]
    trees = [
        split("f1", 0.5, False, *second),
        split("f1", 1.5, False, leaf(0), split("f2", 0.5, False, leaf(4), leaf(5))),
        split("f2", 1.5, False, leaf(0), split("f1", 0.5, False, leaf(4), leaf(3))),
    ]
    nan = np.nan
    X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, nan], [1, nan], [nan, 0], [nan, 1], [nan, nan]]
    served = engine_named("vespa").read(json.dumps(trees), ["f1", "f2"])
    assert served.score(np.array(X, np.float32)).tolist() == [1, 2, 3, 4, 5, 6, 7, 9, 11]


def test_vespas_own_thresholds():
    """`xgboost.2.2.json` becomes `if (f29 < -0.12345670163631439, … (f109 < 0.8723472952842712, …`."""
    for written, expected in ((-0.1234567, -0.12345670163631439), (0.8723473, 0.8723472952842712)):
        text = json.dumps([split("f", written, False, leaf(1), leaf(2))])
        served = engine_named("vespa").read(text, ["f"])
        X = np.array([[expected], [np.nextafter(expected, -np.inf)]])
        assert served.score(X).tolist() == [2.0, 1.0]


def test_vespas_own_base_score():
    """`binary_breast_cancer.ubj`: the margin of the base score is 0.52114942."""
    xgboost = pytest.importorskip("xgboost")
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    parameters = {"objective": "binary:logistic", "max_depth": 3, "base_score": y.mean()}
    booster = xgboost.train(parameters, xgboost.DMatrix(X, y), 2)
    served = engine_named("vespa").read(bytes(booster.save_raw("ubj")), [f"f{j}" for j in range(30)])
    assert f"{served.model.value[-1]:.8f}" == "0.52114942"
    expected = booster.inplace_predict(X, predict_type="margin")
    np.testing.assert_allclose(served.score(X), expected, rtol=1e-5)


def member(feature, categories, left, right):
    return {
        "split_feature": feature,
        "decision_type": "==",
        "threshold": "||".join(map(str, categories)),
        "left_child": left,
        "right_child": right,
    }


def below(feature, limit, left, right):
    told = {"decision_type": "<=", "threshold": limit, "default_left": True, "missing_type": "NaN"}
    return {"split_feature": feature, **told, "left_child": left, "right_child": right}


def value(number):
    return {"leaf_value": number}


N1, N2, C1, C2 = range(4)
# `lightgbm/regression.json` and `classification.json` of Vespa's tests, told in our words.
REGRESSION = [
    below(
        N2,
        0.46643291586559305,
        value(2.1594397038037663),
        member(C2, (2, 3, 4), value(2.235297305276056), value(2.1792953471546546)),
    ),
    member(
        C1,
        (3, 4),
        value(0.03070842919354316),
        below(N1, 0.5102250691730842, value(-0.04439151147520909), value(0.005117411709368601)),
    ),
    below(
        N2,
        0.668665477622446,
        below(N2, 0.008118820676863816, value(-0.15361238490967524), value(-0.01192330846157292)),
        value(0.03499044894987518),
    ),
    below(
        N1,
        0.5201391072644542,
        value(-0.02141000620783247),
        member(C1, (0, 1), value(-0.004121485787596721), value(0.04534090904886873)),
    ),
    member(
        C2,
        (2, 3, 4),
        below(N2, 0.27283279016959255, value(-0.01924803254356527), value(0.03643772842347651)),
        value(-0.02701711918923075),
    ),
]
CLASSIFICATION = [
    member(
        C2,
        (2, 3, 4),
        member(C1, (2, 3, 4), value(0.10149588882231209), value(-0.05076009488472203)),
        value(-0.1075553310531564),
    ),
    below(
        N2,
        0.4932456977560694,
        value(-0.07039230856418545),
        below(N1, 0.4026061210695467, value(-0.016713933964828474), value(0.12881836794307533)),
    ),
    member(
        C1,
        (3, 4),
        value(0.0837843210726433),
        member(C2, (3, 4), value(0.035561394754096094), value(-0.11424082565448186)),
    ),
    below(
        N1,
        0.5135386524711826,
        below(N2, 0.6237474076885036, value(-0.11613056205533928), value(0.022313103333779363)),
        value(0.06927713686880098),
    ),
    member(
        C2,
        (3, 4),
        value(0.07771712562582928),
        member(C1, (3, 4), value(0.029062142260340918), value(-0.10400033924773491)),
    ),
]


@pytest.mark.parametrize(
    ("objective", "trees", "expected"),
    [
        ("regression", REGRESSION, [1.91300868, 2.05469776, 2.0745534, 2.3571838]),
        ("binary sigmoid:1", CLASSIFICATION, [0.37464997, 0.37464997, 0.38730827, 0.5647872]),
    ],
)
def test_vespas_own_lightgbm_figures(objective, trees, expected):
    """All undefined; (0.1, 0.2, a, i); (–, 0.5, b, j); (0.7, 0.8, –, m): categories by their numbers."""
    names, nan = ["numerical_1", "numerical_2", "categorical_1", "categorical_2"], np.nan
    model = {
        "objective": objective,
        "feature_names": names,
        "pandas_categorical": [list("abcde"), list("ijklm")],
    }
    text = json.dumps({**model, "tree_info": [{"tree_structure": tree} for tree in trees]})
    X = np.array([[nan] * 4, [0.1, 0.2, 0, 0], [nan, 0.5, 1, 1], [0.7, 0.8, nan, 4]])
    np.testing.assert_allclose(engine_named("vespa").read(text, names).score(X), expected, rtol=0, atol=1e-7)


def test_categories_that_are_no_neighbours():
    model = {"objective": "lambdarank", "feature_names": ["c"], "pandas_categorical": None}
    tree = {"tree_structure": member(0, (1, 3, 4), value(1), value(2))}
    served = engine_named("vespa").read(json.dumps({**model, "tree_info": [tree]}), ["c"])
    X = np.array([[0], [1], [2], [3], [4], [5], [np.nan]])
    assert served.score(X).tolist() == [2, 1, 2, 1, 1, 2, 2]


def test_lightgbms_equality_goes_right():
    model = {"objective": "lambdarank", "feature_names": ["a"], "pandas_categorical": None}
    tree = {"tree_structure": below(0, 0.5, value(1), value(2))}
    served = engine_named("vespa").read(json.dumps({**model, "tree_info": [tree]}), ["a"])
    assert served.score(np.array([[0.5], [0.4], [np.nan]])).tolist() == [2, 1, 1]


def test_large_forests_are_packed():
    """Leaves of float32, and the last tree first."""
    values = np.random.default_rng(1).standard_normal((25_001, 2))
    trees = [split("a", 0.5, False, leaf(left), leaf(right)) for left, right in values.tolist()]
    found = engine_named("vespa").read(json.dumps(trees), ["a"]).score(np.array([[0.0], [1.0]]))
    expected = [sum(np.float32(values[::-1, side]).astype(float).tolist()) for side in (0, 1)]
    assert found.tolist() == expected


def test_thresholds_are_float32():
    served = engine_named("vespa").read(json.dumps([split("a", 0.1, False, leaf(1), leaf(2))]), ["a"])
    assert served.score(np.array([[0.1], [0.09]], np.float32)).tolist() == [2.0, 1.0]


def test_refusals():
    with pytest.raises(InputError, match="refuses a split"):
        engine_named("vespa").read(json.dumps([{**split("a", 1, True, leaf(1), leaf(2)), "gain": 1}]), ["a"])
    with pytest.raises(InputError, match="first character"):
        engine_named("vespa").read("{}", ["a"])
