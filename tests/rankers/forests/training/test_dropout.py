import numpy as np
import pytest

import pomona as pm
from pomona.rankers.forests.training.dropout import Dropout
from pomona.trees.binning import Bins
from reference.dart import boosted
from reference.tree import Rules


@pytest.fixture(scope="module")
def parts():
    return pm.simulate(40, docs_per_query=12, n_features=8, seed=1), pm.simulate(
        30, docs_per_query=12, n_features=8, seed=2
    )


def draws(rate, skip, n_rounds, seed=0):
    dropout = Dropout(rate, skip, n_rounds, seed)
    return [dropout.draw(n) for n in range(n_rounds)]


def test_draws():
    assert draws(0.0, 0.0, 50) == [[]] * 50
    assert draws(0.3, 1.0, 50) == [[]] * 50
    many = draws(0.2, 0.25, 2000)
    assert many == draws(0.2, 0.25, 2000)
    assert np.mean([not dropped for dropped in many[200:]]) == pytest.approx(0.25, abs=0.03)
    sizes = [len(dropped) / n for n, dropped in enumerate(many) if dropped and n >= 200]
    assert np.mean(sizes) == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_the_slow_twin_comes_to_the_same_scores(parts, rate):
    train = parts[0].take(np.arange(8))
    ranker = pm.MART(
        n_trees=12, n_leaves=4, min_docs=5, dropout=0.3, dropout_skip=0.2, learning_rate=rate, seed=3
    ).fit(train)
    dropped = draws(0.3, 0.2, 12, seed=3)
    assert sum(map(len, dropped)) > 10
    bins = Bins.of(train.X)
    rules = Rules(n_leaves=4, min_docs=5)
    curve = boosted(bins.codes(train.X).columns.T, bins.n_bins, bins.has_nan, train.y, dropped, rate, rules)
    np.testing.assert_allclose(ranker.predict(train), curve[-1], atol=1e-6)


@pytest.mark.parametrize("cls", [pm.LambdaMART, pm.McRank])
def test_the_forest_has_the_weights_of_its_best_round(parts, cls, tmp_path):
    train, valid = parts
    asked = {"n_leaves": 5, "min_docs": 3, "dropout": 0.2, "early_stopping": 20}
    ranker = cls(n_trees=60, **asked)
    ranker.fit(train, valid=valid)
    curve = ranker.evals_["valid"]
    assert ranker.best_iteration_ == int(np.argmax(curve)) + 1 < len(curve)  # later rounds changed weights
    assert ranker.score(valid) == pytest.approx(max(curve), abs=1e-12)
    ranker.save(tmp_path / "m.pomona")
    assert np.array_equal(pm.load_model(tmp_path / "m.pomona").predict(valid), ranker.predict(valid))
    if cls is pm.LambdaMART:
        lightgbm = pytest.importorskip("lightgbm")
        booster = lightgbm.Booster(model_str=ranker.exported("lightgbm"))
        assert np.array_equal(booster.predict(valid.X), ranker.predict(valid))


def test_without_dropout_nothing_changes(parts):
    train, _ = parts
    plain = pm.MART(n_trees=8, min_docs=3).fit(train)
    assert pm.MART(n_trees=8, min_docs=3, dropout=0.3, dropout_skip=1.0).fit(train).model_ == plain.model_
    assert pm.MART(n_trees=8, min_docs=3, dropout=0.3).fit(train).model_ != plain.model_


def test_trees_of_an_earlier_fit_stay(parts):
    train, _ = parts
    ranker = pm.MART(n_trees=5, min_docs=3).fit(train)
    before = ranker.model_
    ranker.set_params(n_trees=30, warm_start=True, dropout=0.5, dropout_skip=0.0).fit(train)
    assert ranker.model_.head(5) == before
    assert ranker.model_.n_trees == 30


def test_refusals(parts):
    with pytest.raises(pm.PomonaError, match="do not follow each other: there are no earlier trees"):
        pm.RandomForest(dropout=0.1).fit(parts[0])
    with pytest.raises(pm.PomonaError, match="dropout must be a number of at least 0 and below 1"):
        pm.MART(dropout=1).fit(parts[0])
