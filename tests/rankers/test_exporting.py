import json
import warnings
from dataclasses import replace

import lightgbm
import numpy as np
import onnxruntime
import pytest

import pomona as pm
from pomona.errors import InputError, PomonaError
from pomona.rankers.exporting import engine_names, exported, read_feature_map
from pomona.tools.engines.engine import engine_named
from reference.engine import as_rows, plugin_score, solr_score

DATA = pm.simulate(20, docs_per_query=10, n_features=4, seed=1)
NAMES = ("bm25", "clicks", "3", "age")


def written(tmp_path, text):
    (tmp_path / "names.csv").write_text(text)
    return tmp_path / "names.csv"


@pytest.mark.parametrize(
    "text",
    [
        "bm25,a b\nclicks,c\n3,d\nage,e",
        "feature,name\n1,a b\n2,c\n3,d\n4,e\n",
        "age\te\n3\td\n2\tc\n1\ta b\n",
        "a b\nc\nd\ne\n",
        '\ufeffbm25,"a b"\nclicks,c\n3,d\n\nage,e\n',
    ],
)
def test_a_map_names_every_feature(text, tmp_path):
    assert read_feature_map(written(tmp_path, text), NAMES) == ("a b", "c", "d", "e")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bm25,a\nclicks,b\n3,c", "1 features have no name here, 'age' for one"),
        ("bm25,a\nclicks,a\n3,c\nage,d", "stands twice"),
        ("bm25,a\nbm25,b\n3,c\nage,d", "stands twice"),
        ("bm25,a\n\nprice,b", r"names\.csv:3: the model has no feature 'price'"),
        ("bm25,a,b\n", "found 3 columns"),
        ("a\nb\n", "2 features have no name"),
        ("bm25,\nclicks,b", "empty"),
    ],
)
def test_a_map_is_checked(text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_feature_map(written(tmp_path, text), NAMES)


def test_the_names_reach_the_engine(tmp_path):
    ranker = pm.LambdaMART(n_trees=3, min_docs=3).fit(DATA)
    path = written(tmp_path, "w\nx\ny\nz\n")
    trees = json.loads(ranker.exported("xgboost-dump", feature_map=path))
    assert {tree["split"] for tree in trees if "split" in tree} <= set("wxyz")


def test_no_score_below_zero():
    ranker = pm.LambdaMART(n_trees=5, min_docs=3).fit(DATA)
    scores = ranker.predict(DATA)
    assert scores.min() < 0
    text = ranker.exported("lightgbm", nonnegative=True)
    shifted = lightgbm.Booster(model_str=text).predict(DATA.X, raw_score=True)
    assert shifted.min() >= 0
    assert np.array_equal(np.argsort(shifted, kind="stable"), np.argsort(scores, kind="stable"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine_version": 3.5}, "engine_version"),
        ({"engine_version": 3}, "engine_version"),
        ({"model_name": None}, "model_name"),
        ({"model_name": 5}, "model_name"),
        ({"store": 5}, "store"),
        ({"nonnegative": "no"}, "nonnegative"),
        ({"raw": 1}, "raw"),
        ({"feature_map": 5}, "feature_map"),
        ({"versoin": "3"}, "unknown option"),
        ({"format": None}, "format"),
        ({"format": 5}, "format"),
    ],
    ids=str,
)
def test_options_of_other_kinds_are_refused(options, message):
    with pytest.raises(PomonaError, match=message) as caught:
        exported(pm.MART(n_trees=1).fit(DATA), **{"format": "elasticsearch", **options})
    assert "\n" not in str(caught.value)


def test_what_no_engine_holds_is_refused():
    with pytest.raises(InputError, match="normalize='global-minmax'"):
        pm.LinearRegression().fit(DATA).exported("solr")
    with pytest.raises(InputError, match="not weighted sums"):
        pm.LinearRegression(normalize=None).fit(DATA).exported("lightgbm")
    with pytest.raises(InputError, match="least value"):
        exported(pm.LinearRegression(normalize=None).fit(DATA), "solr", nonnegative=True)
    with pytest.raises(InputError, match="no forest, weighted sum or network"):
        pm.RandomRanker().fit(DATA).exported("c")
    with pytest.raises(InputError, match=r"expected numbers, as 3\.5"):
        pm.LambdaMART(n_trees=1).fit(DATA).exported("opensearch", engine_version="new")


@pytest.mark.filterwarnings("ignore:scores are float32", "ignore:.* has no constant")
@pytest.mark.parametrize("method", ["global-minmax", "global-standard", "global-log1p"])
@pytest.mark.parametrize("cls", [pm.LinearRegression, pm.RankSVM, pm.CoordinateAscent, pm.PRank, pm.AdaRank])
def test_linear_rankers_on_a_global_scale_are_weighted_sums(cls, method, tmp_path):
    X = DATA.X * np.float32([1e3, 1, 1e-3, 7])
    X[::5, 1] = np.nan
    data = DATA.replace(X=X)
    ranker = cls(normalize=method).fit(data)
    scores = ranker.predict(data)
    np.testing.assert_array_equal(ranker.predict(X[::-1])[::-1], scores)  # no query is needed
    tolerance = 1e-5 * np.abs(scores).max()
    np.testing.assert_allclose(ranker.portable().score(X), scores, rtol=0, atol=tolerance)
    ranker.save(tmp_path / "m.pomona")
    np.testing.assert_array_equal(pm.load_model(tmp_path / "m.pomona").predict(data), scores)
    session = onnxruntime.InferenceSession(ranker.exported("onnx"))
    found = session.run(None, {session.get_inputs()[0].name: X.astype(np.float64)})[0].ravel()
    np.testing.assert_allclose(found, scores, rtol=0, atol=tolerance)
    if method == "global-log1p":
        with pytest.raises(InputError, match="takes no logarithm"):
            ranker.exported("solr")
        with pytest.raises(InputError, match=r"takes no logarithm of features: train with normalize='global"):
            ranker.exported("opensearch")
    else:
        assert '"model/linear"' in ranker.exported("opensearch")


@pytest.mark.filterwarnings("ignore:scores are float32", "ignore:.* has no constant")
@pytest.mark.parametrize("method", ["global-minmax", "global-standard"])
@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch", "solr"])
def test_engines_scale_what_was_scaled(engine, method):
    """A date in seconds, whose every weight in float32 would drown the other features."""
    X = DATA.X.copy()
    X[:, 0] = 1.7e9 + 1e4 * DATA.y + 3e3 * DATA.X[:, 3]
    X[::5, 1], X[:, 2], X[:, 3] = np.nan, 7.0, -X[:, 3]
    ranker = pm.LinearRegression(normalize=method).fit(DATA.replace(X=X))
    text, names = ranker.exported(engine), engine_names(ranker.feature_names_)
    found = engine_named(engine).read(text, names).score(X)
    rows = as_rows(X, names)
    plain = solr_score(text, rows) if engine == "solr" else plugin_score(text, rows, names)
    assert found.tolist() == plain
    apart = ranker.predict(X) - found
    assert np.ptp(apart) < 1e-6 * np.ptp(found)  # but for a constant
    folded = replace(ranker.portable(), scaled=None, start=0.0, single=True)
    assert np.ptp(ranker.predict(X) - folded.score(X)) > 1e-3 * np.ptp(found)


@pytest.mark.parametrize(
    ("format", "names", "note"),
    [
        ("lightgbm", ["a b", "c", "d", "e"], "LightGBM reads no such names"),
        ("xgboost", ["a<b", "c", "d", "e"], "features go by their places there"),
        ("xgboost", ["a b", "c", "d", "é"], None),
        ("lightgbm", ["a", "c", "d", "é"], None),
    ],
)
def test_names_that_cannot_be_kept_are_told(format, names, note):
    ranker = pm.MART(n_trees=2).fit(DATA.replace(feature_names=names))
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        ranker.exported(format)
    told = [str(one.message) for one in notes if "float32" not in str(one.message)]
    assert (note is None and told == []) or note in told[0]


def test_what_is_no_weighted_sum_is_not_exported_as_one():
    for ranker in (
        pm.RankSVM(kernel="rbf", normalize=None),
        pm.LogisticRegression(kind="ordinal", normalize=None),
    ):
        with pytest.raises(InputError, match="makes more of its sums"):
            ranker.fit(DATA).portable()


def test_boosted_stumps_are_trees():
    """A tree a feature, which adds what the step function of its stumps adds: the same bits."""
    X = DATA.X.copy()
    X[::3, 0], X[::5, 1], X[::7, 2], X[::11, 2] = np.nan, np.nan, np.inf, -np.inf
    data = DATA.replace(X=X)
    ranker = pm.RankBoost(n_rounds=40).fit(data)
    assert ranker.model_.undefined.any()
    assert not ranker.model_.undefined.all()
    assert len(np.unique(ranker.model_.feature)) < ranker.model_.n_stumps
    assert np.array_equal(ranker.portable().score(X), ranker.predict(data))
    booster = lightgbm.Booster(model_str=ranker.exported("lightgbm"))
    assert np.array_equal(booster.predict(X.astype(np.float64)), ranker.predict(data))


@pytest.mark.parametrize("cls", [pm.LambdaMART, pm.MART, pm.RandomForest, pm.RCRank, pm.RankBoost])
def test_what_is_one_forest_gives_the_same_bits_where_it_is_exported(cls):
    X = DATA.X.copy()
    X[::5, 1], X[::7, 2] = np.nan, np.inf
    ranker = cls(**({"n_rounds": 9} if cls is pm.RankBoost else {"n_trees": 5})).fit(DATA.replace(X=X))
    booster = lightgbm.Booster(model_str=ranker.exported("lightgbm"))
    assert np.array_equal(booster.predict(X.astype(np.float64)), ranker.predict(X))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several add in another order
    session = onnxruntime.InferenceSession(ranker.exported("onnx"), options)
    assert np.array_equal(session.run(None, {"X": X.astype(np.float64)})[0].ravel(), ranker.predict(X))


def test_a_network_is_layers():
    ranker = pm.RankNet(n_epochs=2, hidden=(8, 3)).fit(DATA)
    np.testing.assert_allclose(ranker.portable().score(DATA.X), ranker.predict(DATA), rtol=0, atol=1e-5)
    with pytest.raises(InputError, match="layer_norm=False"):
        pm.RankNet(n_epochs=1, layer_norm=True).fit(DATA).portable()


def test_features_that_nobody_named_are_not_read_as_shifted_indices(tmp_path):
    data = pm.Dataset(DATA.X, DATA.y, DATA.qid)
    ranker = pm.LambdaMART(n_trees=5, min_docs=3).fit(data)
    ranker.export(tmp_path / "dump.json", "xgboost-dump")
    assert '"split":"feature_' in (tmp_path / "dump.json").read_text()
    with pytest.warns(UserWarning, match="no base score"):
        again = pm.load_model(tmp_path / "dump.json")
    np.testing.assert_allclose(again.predict(data), ranker.predict(data), rtol=0, atol=1e-6)
