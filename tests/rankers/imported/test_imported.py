import lightgbm
import numpy as np
import polars
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.imported.imported import Imported

DATA = pm.simulate(40, docs_per_query=10, n_features=6, seed=1)
LINEAR = "## Coordinate Ascent\n1:0.5 3:-1.5\n"
NETWORK = "## RankNet\n1 2\n0\n0 0 1\n0 1 3\n0 2 5\n"


@pytest.fixture(scope="module")
def booster():
    train = lightgbm.Dataset(DATA.X, DATA.y, group=np.diff(DATA.query_ptr))
    return lightgbm.train({"objective": "lambdarank", "verbose": -1, "min_data_in_leaf": 5}, train, 10)


@pytest.fixture
def files(booster, tmp_path):
    booster.save_model(tmp_path / "trees.txt")
    (tmp_path / "linear.txt").write_text(LINEAR)
    (tmp_path / "network.txt").write_text(NETWORK)
    return tmp_path


def test_as_any_other_ranker(files, booster):
    ranker = pm.load_model(files / "trees.txt")
    assert np.array_equal(ranker.predict(DATA), booster.predict(DATA.X))
    assert ranker.score(DATA) == pm.evaluate(DATA, booster.predict(DATA.X), "ndcg@10")["ndcg@10"]
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert np.array_equal(ranker.importance("split"), booster.feature_importance("split"))
    again = clone(ranker).fit(DATA)
    assert np.array_equal(again.predict(DATA), ranker.predict(DATA))
    order = np.random.default_rng(0).permutation(DATA.n_docs)
    assert np.array_equal(ranker.predict(DATA.X[order]), ranker.predict(DATA)[order])


@pytest.mark.parametrize("name", ["trees", "linear", "network"])
def test_saved_as_pomonas_own(name, files):
    ranker = pm.load_model(files / f"{name}.txt")
    ranker.save(files / "own.pomona")
    own = pm.load_model(files / "own.pomona")
    rows = DATA.X[:, : ranker.n_features_in_]
    assert np.array_equal(own.predict(rows), ranker.predict(rows))
    assert type(own.model_) is type(ranker.model_)
    assert own.is_open_ == ranker.is_open_


def test_a_file_that_does_not_tell_its_width_takes_wider_data(files):
    ranker = pm.load_model(files / "linear.txt")
    assert ranker.n_features_in_ == 3
    expected = 0.5 * DATA.X[:, 0].astype(float) - 1.5 * DATA.X[:, 2].astype(float)
    assert np.array_equal(ranker.predict(DATA), expected)
    assert np.array_equal(ranker.predict(DATA.X), expected)
    with pytest.raises(InputError, match="2 features"):
        ranker.predict(DATA.X[:, :2])


def test_float64_features_are_not_rounded():
    X = np.array([[0.1], [np.nextafter(0.1, 1)]] * 40)
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1).fit(X, np.arange(80) % 2)
    assert model.predict(X)[0] != model.predict(X)[1]
    assert np.array_equal(pm.from_sklearn(model).predict(X), model.predict(X))
    frame = polars.DataFrame({"b": X[:, 0] * 0, "a": X[:, 0]})
    named = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1).fit(frame, np.arange(80) % 2)
    turned = frame.select("a", "b")
    assert np.array_equal(pm.from_sklearn(named).predict(turned), named.predict(frame))


def test_names(booster, tmp_path):
    names = [f"n{j}" for j in range(6)]
    named = lightgbm.train(
        {"objective": "lambdarank", "verbose": -1},
        lightgbm.Dataset(DATA.X, DATA.y, group=np.diff(DATA.query_ptr), feature_name=names),
        3,
    )
    ranker = pm.from_model(named)
    assert list(ranker.feature_names_) == names
    turned = pm.Dataset(DATA.X[:, ::-1], DATA.y, DATA.qid, feature_names=names[::-1])
    assert np.array_equal(ranker.predict(turned), named.predict(DATA.X))
    assert pm.from_model(booster).feature_names_ == tuple(f"f{j}" for j in range(1, 7))


def test_refusals(files, booster):
    with pytest.raises(NotFittedError):
        Imported().predict(DATA)
    with pytest.raises(InputError, match="from memory cannot be fitted"):
        pm.from_model(booster).fit(DATA)
    with pytest.raises(InputError, match="expected a fitted model"):
        pm.from_model([1, 2])
    with pytest.raises(InputError, match="see from_model"):
        pm.from_sklearn(booster)
    with pytest.raises(InputError, match="no such model file"):
        pm.load_model(files / "nowhere.txt")
    narrow = pm.Dataset(DATA.X[:, :3], DATA.y, DATA.qid)
    with pytest.raises(InputError, match="features"):
        Imported(model=str(files / "trees.txt")).fit(narrow)


@pytest.mark.filterwarnings("ignore:a dump of XGBoost")
def test_a_dump_with_names_never_goes_by_place(tmp_path):
    tree = "0:[b<1] yes=1,no=2,missing=1\n1:[a<1] yes=3,no=4,missing=3\n2:leaf=5\n3:leaf=6\n4:leaf=7\n"
    (tmp_path / "dump.txt").write_text(f"booster[0]:\n{tree}")
    ranker = pm.load_model(tmp_path / "dump.txt")
    data = pm.Dataset([[0, 9, 0], [2, 9, 0], [2, 9, 2]], [0, 0, 0], [1, 1, 1], feature_names=["a", "x", "b"])
    assert ranker.predict(data).tolist() == [6.0, 7.0, 5.0]
    ranker.save(tmp_path / "own.pomona")
    assert pm.load_model(tmp_path / "own.pomona").predict(data).tolist() == [6.0, 7.0, 5.0]
    with pytest.raises(InputError, match="by name only, and X has no 'b'"):
        ranker.predict(np.zeros((3, 2)))
