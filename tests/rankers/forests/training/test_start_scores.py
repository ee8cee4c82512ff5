"""Trees that are added to the scores of another model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.forests.training.start_scores import one_a_row, start_scores

DATA, FRESH = (pm.simulate(30, docs_per_query=10, n_features=8, seed=seed) for seed in (4, 5))
FEW = {"n_trees": 6, "n_leaves": 5, "min_docs": 5}


@pytest.mark.parametrize("ranker", [pm.LambdaMART(**FEW), pm.MART(**FEW), pm.RCRank(n_trees=6)], ids=repr)
@pytest.mark.parametrize("as_model", [True, False], ids=["base_model", "base"])
def test_trees_upon_a_forest_are_those_of_going_on_from_it(ranker, as_model):
    first, on = clone(ranker).fit(DATA), clone(ranker).set_params(warm_start=True).fit(DATA)
    on.set_params(n_trees=12).fit(DATA)
    if as_model:
        upon = ranker.fit(DATA, base_model=first)
        scores = upon.predict(FRESH)
    else:
        upon = ranker.fit(DATA, base=first.predict(DATA))
        scores = upon.predict(FRESH, base=first.predict(FRESH))
    assert upon.model_.n_trees == 6
    for name in ("feature", "threshold", "value"):
        pieces = getattr(first.model_, name), getattr(upon.model_, name)
        np.testing.assert_array_equal(np.concatenate(pieces), getattr(on.model_, name))
    np.testing.assert_allclose(scores, on.predict(FRESH), atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*labels are below 0")
def test_a_forest_starts_from_any_model():
    linear = pm.LinearRegression().fit(DATA)
    upon = pm.MART(**FEW).fit(DATA, base_model=linear)
    residuals = DATA.y - linear.predict(DATA)
    alone = DATA.replace(y=residuals.astype(np.float32))
    expected = pm.MART(**FEW, target="label").fit(alone, base=np.zeros(DATA.n_docs))
    np.testing.assert_allclose(
        upon.predict(FRESH),
        linear.predict(FRESH) + expected.predict(FRESH, base=np.zeros(FRESH.n_docs)),
        atol=1e-5,
    )
    assert upon.model_.base == 0.0
    assert upon.score(FRESH) == pm.evaluate(FRESH, upon.predict(FRESH), "ndcg@10")["ndcg@10"]


def test_rows_in_any_order():
    order = np.random.default_rng(0).permutation(DATA.n_docs)
    names = DATA.feature_names
    mixed = pm.Dataset(DATA.X[order], DATA.y[order], DATA.qid[order], feature_names=names)
    base = np.random.default_rng(1).normal(size=DATA.n_docs)
    expected = pm.MART(**FEW).fit(DATA, base=base).predict(DATA, base=base)
    upon = pm.MART(**FEW).fit(mixed, base=base[order])
    np.testing.assert_allclose(upon.predict(mixed, base=base[order]), expected[order], atol=1e-6)
    in_arrays = pm.MART(**FEW).fit(mixed.X, DATA.y[order], DATA.qid[order], base=base[order])
    np.testing.assert_array_equal(in_arrays.model_.value, upon.model_.value)


def test_validation_data_start_from_scores_too():
    linear = pm.LinearRegression().fit(DATA)
    how = {**FEW, "n_trees": 40, "early_stopping": 3, "averaged": False}
    by_model = pm.LambdaMART(**how).fit(DATA, valid=FRESH, base_model=linear)
    by_scores = pm.LambdaMART(**how).fit(
        DATA, valid=FRESH, base=linear.predict(DATA), valid_base=linear.predict(FRESH)
    )
    assert by_model.evals_ == by_scores.evals_
    best = by_model.best_iteration_
    assert by_model.evals_["valid"][best - 1] == pytest.approx(by_model.score(FRESH))


def test_a_trace_begins_at_the_start_scores():
    linear, trace = pm.LinearRegression().fit(DATA), pm.Trace(["3"])
    upon = pm.LambdaMART(**FEW).fit(DATA, base_model=linear, trace=trace)
    for t, scores in ((0, linear.predict(DATA)), (6, upon.predict(DATA))):
        seen = trace.documents.filter(iteration=t)
        np.testing.assert_allclose(seen["score"], scores[seen["row"]], atol=1e-9)


def test_saved_with_the_model(tmp_path):
    upon = pm.LambdaMART(**FEW).fit(DATA, base_model=pm.LinearRegression().fit(DATA))
    twice = pm.MART(**FEW).fit(DATA, base_model=upon)
    twice.save(tmp_path / "m.pomona")
    loaded = pm.load_model(tmp_path / "m.pomona")
    np.testing.assert_array_equal(loaded.predict(FRESH), twice.predict(FRESH))
    again = loaded.set_params(warm_start=True, n_trees=8).fit(DATA)
    assert again.model_.n_trees == 8
    assert isinstance(again.base_model_, pm.LambdaMART)
    given = pm.MART(**FEW).fit(DATA, base=DATA.X[:, 0])
    given.save(tmp_path / "g.pomona")
    with pytest.raises(InputError, match=r"MART was fitted with start scores: give base=…, one score a row"):
        pm.load_model(tmp_path / "g.pomona").predict(FRESH)


def test_exported_with_a_base_of_trees_or_not_at_all():
    forest = pm.MART(**FEW).fit(DATA)
    upon = pm.LambdaMART(**FEW).fit(DATA, base_model=forest)
    whole = upon.portable()
    assert whole.n_trees == 12
    np.testing.assert_allclose(whole.score(FRESH.X), upon.predict(FRESH), atol=1e-12)
    lightgbm = pytest.importorskip("lightgbm")
    served = lightgbm.Booster(model_str=upon.exported("lightgbm")).predict(FRESH.X)
    np.testing.assert_allclose(served, upon.predict(FRESH), atol=1e-9)
    linear = pm.LambdaMART(**FEW).fit(DATA, base_model=pm.LinearRegression().fit(DATA))
    with pytest.raises(InputError, match="added to scores of LinearRegression, which no format knows"):
        linear.exported("lightgbm")
    given = pm.LambdaMART(**FEW).fit(DATA, base=np.zeros(DATA.n_docs))
    with pytest.raises(InputError, match="scores that come with the data, which no format knows"):
        given.exported("lightgbm")


def test_fitted_again_without_start_scores():
    ranker = pm.MART(**FEW).fit(DATA, base_model=pm.LinearRegression().fit(DATA)).fit(DATA)
    np.testing.assert_array_equal(ranker.predict(FRESH), pm.MART(**FEW).fit(DATA).predict(FRESH))


def test_a_base_model_that_is_fitted_again_stays_what_it_was():
    linear, mart = pm.LinearRegression().fit(DATA), pm.MART(**FEW)
    upon = mart.fit(DATA, base_model=linear)
    before = upon.predict(FRESH)
    linear.fit(FRESH)
    np.testing.assert_array_equal(upon.predict(FRESH), before)
    twice = mart.fit(DATA, base_model=mart)
    assert (twice.predict(DATA) - DATA.y).std() < (before - FRESH.y).std()


def test_refusals():
    ranker, base = pm.MART(**FEW), np.zeros(DATA.n_docs)
    linear = pm.LinearRegression().fit(DATA)
    for more, reason in (
        ({"base": base[1:]}, rf"found base of shape \({DATA.n_docs - 1},\), expected {DATA.n_docs} scores"),
        ({"base": base + np.inf}, "base holds a score that is not finite"),
        ({"base": ["x"] * DATA.n_docs}, "base must be numbers: texts"),
        ({"base": base, "base_model": linear}, "found base and base_model"),
        ({"base": base, "valid": FRESH}, "give valid_base=…, one a document, too"),
        ({"base": base, "valid": FRESH, "valid_base": base[:3]}, r"found valid_base of shape \(3,\)"),
        ({"valid": FRESH, "valid_base": base}, "valid_base goes with base"),
        ({"base_model": linear, "valid": FRESH, "valid_base": base}, "leave valid_base out"),
        ({"base_model": "linear"}, "base_model must be a fitted ranker, found str"),
        ({"base_model": pm.IdealRanker().fit(DATA)}, "reads the labels"),
    ):
        with pytest.raises(InputError, match=reason):
            ranker.fit(DATA, **more)
    for other in (pm.RandomForest(n_trees=1), pm.McRank(n_trees=1)):
        with pytest.raises(InputError, match="cannot start from given scores"):
            other.fit(DATA, base=base)
    with pytest.raises(InputError, match="was fitted without start scores: leave base out"):
        ranker.fit(DATA).predict(DATA, base=base)
    ranker.set_params(warm_start=True, n_trees=8)
    with pytest.raises(InputError, match="did not start from given scores"):
        ranker.fit(DATA, base=base)
    with pytest.raises(InputError, match="leave base_model out"):
        ranker.fit(DATA, base_model=linear)


def test_scores_of_rows():
    assert one_a_row([1, 2], 2, "base").tolist() == [1.0, 2.0]
    data = pm.Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], [7, 5, 7])
    assert start_scores(data, [1, 2, 3], None, "base").tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (lambda scores: scores * 1j, "Complex"),
        (lambda scores: np.ma.masked_array(scores, scores > 0), "masked"),
        (lambda scores: pd.Series(scores, index=np.arange(len(scores)) + 1), "index of"),
    ],
)
def test_scores_that_would_change_in_silence_are_refused(odd, reason):
    frames = [pd.DataFrame(data.X) for data in (DATA, FRESH)]
    base, valid_base = DATA.X[:, 0].astype(float), FRESH.X[:, 0].astype(float)
    given = {"y": DATA.y, "qid": DATA.qid}
    valid = (frames[1], FRESH.y, FRESH.qid)
    with pytest.raises(InputError, match=reason):
        pm.MART(n_trees=1).fit(frames[0], **given, base=odd(base))
    with pytest.raises(InputError, match=reason):
        pm.MART(n_trees=1).fit(frames[0], **given, base=base, valid=valid, valid_base=odd(valid_base))
    ranker = pm.MART(n_trees=1).fit(frames[0], **given, base=pd.Series(base))
    with pytest.raises(InputError, match=reason):
        ranker.predict(frames[1], base=odd(valid_base))
    ranker.predict(frames[1], base=pd.Series(valid_base))
