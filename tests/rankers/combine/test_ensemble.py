import json

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import clone

import pomona as pm
from pomona.errors import InputError, UnknownNameError
from pomona.rankers.combine.ensemble import Ensemble
from pomona.rankers.loading import load_model
from pomona.testing import check_ranker
from pomona.trees.forest import Forest


@pytest.fixture(scope="module")
def train():
    return pm.simulate(50, docs_per_query=12, n_features=8, seed=1)


@pytest.fixture(scope="module")
def test():
    return pm.simulate(40, docs_per_query=12, n_features=8, seed=2)


def small(**parameters):
    return pm.LambdaMART(**{"n_trees": 8, "n_leaves": 5, "min_docs": 3, "query_fraction": 0.5, **parameters})


def test_the_score_is_the_mean_of_the_members(train, test):
    ensemble = Ensemble(small(), n_models=3).fit(train)
    assert len({model.seed for model in ensemble.models_}) == 3
    for model in ensemble.models_:
        again = small(seed=model.seed).fit(train)
        assert (again.predict(test) == model.predict(test)).all()
    mean = np.mean([model.predict(test) for model in ensemble.models_], axis=0)
    assert ensemble.predict(test) == pytest.approx(mean, abs=1e-12)
    assert ensemble.models_[0].predict(test) != pytest.approx(mean)


def test_forests_are_one_forest(train, test, tmp_path):
    ensemble = Ensemble(small(), n_models=3).fit(train)
    forest = ensemble.portable()
    assert isinstance(forest, Forest)
    assert forest.n_trees == 3 * 8
    assert (forest.score(test.X) == ensemble.predict(test)).all()
    ensemble.export(tmp_path / "m.txt", "lightgbm")
    assert load_model(tmp_path / "m.txt").predict(test) == pytest.approx(ensemble.predict(test))


def test_linear_models_are_one_weighted_sum(train, test):
    member = pm.CoordinateAscent(n_restarts=1, normalize=None)
    ensemble = Ensemble(member, n_models=3, combine="mean", bagging=True).fit(train)
    assert ensemble.portable().coef == pytest.approx(np.mean([m.coef_ for m in ensemble.models_], axis=0))
    with pytest.warns(UserWarning, match="float32"):
        assert json.loads(ensemble.exported("solr"))["class"].endswith("LinearModel")
    assert not ensemble.scores_whole_queries


def test_ranks_are_added_up_where_they_are_better(train, test):
    ranks = Ensemble(small(), n_models=3, combine="rank").fit(train)
    scores = [model.predict(test) for model in ranks.models_]
    begin, end = test.query_ptr[:2]
    places = [(rankdata(one[begin:end]) - 1) / (end - begin - 1) for one in scores]
    assert ranks.predict(test)[begin:end] == pytest.approx(np.mean(places, axis=0))
    with pytest.raises(InputError, match="no engine does: train it with combine='mean'"):
        ranks.portable()
    ranks, mean, auto = (
        Ensemble(small(), n_models=3, combine=way).fit(train, valid=test) for way in ("rank", "mean", "auto")
    )
    values = {"mean": mean.score(test), "rank": ranks.score(test)}
    assert values["mean"] != values["rank"]
    assert auto.combine_ == max(values, key=lambda way: values[way])
    assert auto.evals_["valid"][-1] == pytest.approx(max(values.values()))


def test_bags_of_queries_and_those_out_of_them(train):
    ensemble = Ensemble(small(query_fraction=1.0), n_models=4, bagging=True, combine="mean").fit(train)
    assert 0.3 < ensemble.oob_score_ < ensemble.score(train)
    # By hand: the draws of the seed, and each query's score by the models that did not see it.
    ordered = train_order(train)
    random, sums = np.random.default_rng(0), np.zeros(ordered.n_docs)
    seen = np.zeros(ordered.n_queries, int)
    for model in ensemble.models_:
        assert model.seed == random.integers(2**31)
        drawn = np.bincount(random.integers(0, 50, 50), minlength=50)
        out = np.repeat(drawn == 0, np.diff(ordered.query_ptr))
        sums[out] += model.predict(ordered)[out]
        seen += drawn == 0
    judged = pm.evaluate(ordered, sums, "ndcg@10", per_query=True)["ndcg@10"]
    assert ensemble.oob_score_ == pytest.approx(judged[seen > 0].mean())
    assert np.isnan(Ensemble(small(), n_models=1).fit(train).oob_score_)


def train_order(data):
    from pomona.data.content_order import in_content_order

    return in_content_order(data).gathered()


def test_members_by_name(train, test):
    by_name = Ensemble("lambdamart(n_trees=8, n_leaves=5, min_docs=3, query_fraction=0.5)", n_models=2)
    given = Ensemble(small(), n_models=2)
    assert (by_name.fit(train).predict(test) == given.fit(train).predict(test)).all()
    with pytest.raises(UnknownNameError, match="did you mean 'mart'"):
        Ensemble("mrt").fit(train)
    with pytest.raises(InputError, match="n_tree: unknown parameter of MART"):
        Ensemble("mart(n_tree=3)").fit(train)
    with pytest.raises(InputError, match="found member 'a b'"):
        Ensemble("a b").fit(train)


def test_what_is_refused(train):
    with pytest.raises(InputError, match="LinearRegression has no seed, so that 5 of it would be the same"):
        Ensemble(pm.LinearRegression()).fit(train)
    assert len(Ensemble(pm.LinearRegression(), bagging=True).fit(train).models_) == 5
    with pytest.raises(InputError, match="ideal reads the labels"):
        Ensemble("ideal").fit(train)


def test_the_measure_is_that_of_the_member_unless_it_has_its_own(train, test):
    assert str(Ensemble(small(measure="ap")).parsed_measure) == "ap"
    ensemble = Ensemble(small(measure="ap"), n_models=2, measure="ndcg@5").fit(train)
    assert [str(model.measure) for model in ensemble.models_] == ["ndcg@5"] * 2
    assert ensemble.score(test) == pm.evaluate(test, ensemble.predict(test), "ndcg@5")["ndcg@5"]


def test_parameters_of_the_member(train, tmp_path):
    ensemble = Ensemble(small(), n_models=2).set_params(member__n_trees=3, n_models=1)
    assert clone(ensemble).fit(train).models_[0].model_.n_trees == 3
    ensemble.fit(train).save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.member.get_params() == ensemble.member.get_params()
    assert loaded.measure is None
    assert (clone(loaded).fit(train).predict(train) == ensemble.predict(train)).all()


@pytest.mark.parametrize("more", [{"bagging": True}, {"combine": "rank"}])
def test_keeps_the_contract_in_every_form(more):
    check_ranker(Ensemble(small(query_fraction=1.0), n_models=2, **more))


def test_a_damaged_file_is_refused(train, tmp_path):
    ensemble = Ensemble(small(), n_models=1).fit(train)
    ensemble.combine_ = "median"
    ensemble.save(tmp_path / "m.pomona")
    with pytest.raises(InputError, match="combine_ is 'median'"):
        load_model(tmp_path / "m.pomona")


@pytest.mark.parametrize("unjudged", ["ignored", "irrelevant"])
@pytest.mark.parametrize(
    "ranker",
    [
        pm.Ensemble(pm.MART(n_trees=3, min_docs=3), n_models=2),
        pm.Ensemble(pm.MART(n_trees=3, min_docs=3), n_models=2, bagging=True, combine="rank"),
        pm.LinearCombination(rankers=[("a", pm.MART(n_trees=3)), ("b", pm.LinearRegression())], n_folds=2),
    ],
    ids=["seeds", "bags", "combination"],
)
def test_weights_and_missing_labels_reach_the_members(ranker, unjudged):
    random = np.random.default_rng(0)
    data = pm.simulate(20, docs_per_query=10, n_features=4, seed=1)
    hidden, weight = random.random(data.n_docs) < 0.3, random.integers(1, 4, data.n_docs).astype(float)
    known = pm.Dataset(data.X, np.where(hidden, 0, data.y), data.qid, weight=weight)
    train = known.replace(y=np.where(hidden, np.nan, data.y).astype(np.float32))
    by_weight = np.where(hidden, 0, weight) if unjudged == "ignored" else weight
    scores = [
        clone(ranker).fit(train, unjudged=unjudged).predict(data),
        clone(ranker).fit(known, sample_weight=by_weight).predict(data),
        clone(ranker).fit(known, sample_weight=np.ones(data.n_docs)).predict(data),
    ]
    assert scores[0].tolist() == scores[1].tolist()
    assert scores[0].tolist() != scores[2].tolist()
