import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError, PomonaError

DATA = pm.simulate(30, docs_per_query=10, n_features=5, seed=1)
FIRST = pm.simulate(20, docs_per_query=10, n_features=5, seed=2)
SECOND = pm.simulate(15, docs_per_query=10, n_features=5, seed=3)


def mart(**more):
    return pm.MART(**{"n_trees": 8, "n_leaves": 4, "min_docs": 2, "averaged": False, **more})


def pair(data):
    return data.X, data.y


EXPECTED = mart().fit(DATA, valid=FIRST)
AS_WRITTEN = {
    "datasets": {"eval_set": [FIRST, SECOND]},
    "triples": {"eval_set": [(*pair(FIRST), FIRST.qid), SECOND]},
    "a tuple of tuples": {"eval_set": (pair(FIRST), pair(SECOND)), "eval_qid": [FIRST.qid, SECOND.qid]},
    "XGBoost": {"eval_set": [pair(FIRST), pair(SECOND)], "eval_qid": [FIRST.qid, SECOND.qid]},
    "LightGBM": {
        "eval_set": [pair(FIRST), pair(SECOND)],
        "eval_group": [FIRST.query_lengths, SECOND.query_lengths],
    },
    "valid beside": {"valid": FIRST, "eval_set": [SECOND], "eval_names": ["valid_1"]},
    "the training data first": {"eval_set": [pair(DATA), FIRST, SECOND], "eval_qid": [DATA.qid, None, None],
                                "eval_names": ["learn", "first", "valid_1"]},
}  # fmt: skip


@pytest.mark.parametrize("given", AS_WRITTEN.values(), ids=AS_WRITTEN)
def test_the_first_set_decides_however_it_is_written(given):
    ranker = mart().fit(DATA, **given)
    assert list(ranker.evals_) == ["train", "valid", "valid_1"]
    for part in ("train", "valid"):
        assert ranker.evals_[part] == EXPECTED.evals_[part]
    assert ranker.best_iteration_ == EXPECTED.best_iteration_
    assert ranker.evals_["valid_1"][ranker.best_iteration_ - 1] == pytest.approx(ranker.score(SECOND))


def test_one_set_needs_no_list():
    sizes = FIRST.query_lengths
    for given in (
        {"eval_set": FIRST},
        {"eval_set": [pair(FIRST)], "eval_qid": [FIRST.qid]},
        {"eval_set": [pair(FIRST)], "eval_group": sizes},
        {"eval_set": pair(FIRST), "eval_group": sizes.tolist()},
        {"eval_set": [pair(FIRST)], "eval_group": [sizes]},
    ):
        assert mart().fit(DATA, **given).evals_ == EXPECTED.evals_


def test_measures_that_are_watched():
    ranker = mart().fit(DATA, eval_set=[FIRST, SECOND], eval_measures=["ap", "ndcg@10", pm.measure("err@5")])
    others = ["valid ap", "valid err@5", "valid_1", "valid_1 ap", "valid_1 err@5"]
    assert list(ranker.evals_) == ["train", "valid", *others]
    best = ranker.best_iteration_ - 1
    found = pm.evaluate(SECOND, ranker.predict(SECOND), ["ap", "err@5"])
    assert [ranker.evals_[f"valid_1 {name}"][best] for name in found] == pytest.approx(list(found.values()))
    one = mart().fit(DATA, valid=FIRST, eval_measures="ap")
    assert list(one.evals_) == ["train", "valid", "valid ap"]


def test_columns_and_rows_in_any_order():
    rows = np.random.default_rng(0).permutation(SECOND.n_docs)
    names = SECOND.feature_names
    shuffled = pm.Dataset(
        SECOND.X[rows][:, ::-1], SECOND.y[rows], SECOND.qid[rows], feature_names=names[::-1]
    )
    ranker = mart().fit(DATA, eval_set=[FIRST, shuffled])
    found = ranker.evals_["valid_1"][ranker.best_iteration_ - 1]
    assert found == pytest.approx(ranker.score(shuffled))


def test_a_base_model_scores_the_other_sets_too():
    base = pm.LinearRegression().fit(DATA)
    ranker = mart().fit(DATA, valid=FIRST, eval_set=[SECOND], eval_names=["other"], base_model=base)
    assert ranker.evals_["other"][ranker.best_iteration_ - 1] == pytest.approx(ranker.score(SECOND))
    start = np.zeros(DATA.n_docs)
    with pytest.raises(InputError, match="start scores go with valid"):
        mart().fit(DATA, base=start, eval_set=[FIRST])


REFUSED = {
    "eval_set has the training data alone": {"eval_set": [DATA]},
    "the query ids of valid_0 are missing": {"eval_set": [pair(FIRST)]},
    "found eval_qid of 1 sets, expected a list of 2": {"eval_set": [FIRST, SECOND], "eval_qid": [FIRST.qid]},
    "eval_group goes with eval_set": {"eval_group": [FIRST.query_lengths]},
    "found eval_names": {"eval_set": [FIRST], "eval_names": ["train"]},
    "must be a Dataset": {"eval_set": [FIRST.X]},
    "valid_1: found 3 features": {"eval_set": [FIRST, (np.zeros((2, 3)), [0, 1], [1, 1])]},
    "unknown measure": {"valid": FIRST, "eval_measures": ["nonsense"]},
    "eval_metric is called eval_measures here": {"eval_metric": "ndcg"},
    "the cut-off is part of a measure": {"eval_at": [10]},
    "early_stopping is a parameter of the ranker": {"early_stopping_rounds": 5},
    "did you mean 'eval_set'": {"eval_sets": [FIRST]},
}


@pytest.mark.parametrize("said", REFUSED)
def test_refusals(said):
    with pytest.raises(PomonaError, match=said):
        mart().fit(DATA, **REFUSED[said])


def test_a_cluster_has_one_validation_set():
    with pytest.raises(InputError, match="a cluster cannot train with callbacks"):
        mart().fit("train.parquet", client=object(), callbacks=print)


def test_a_ranker_of_one_step_takes_a_set_as_it_takes_valid():
    assert not hasattr(pm.LinearRegression().fit(DATA, eval_set=[FIRST]), "evals_")


@pytest.mark.parametrize("ranker", [mart(), pm.LambdaMART(n_trees=3), pm.AdaRank(n_rounds=3)])
def test_validation_queries_that_tell_nothing_are_said_to(ranker):
    by_query = np.unique(FIRST.qid, return_inverse=True)[1] % 3
    with pytest.warns(UserWarning, match="labels differ in no query of the validation data") as caught:
        ranker.fit(DATA, valid=(FIRST.X, by_query, FIRST.qid))
    assert [warning.filename for warning in caught] == [__file__]
    by_query[0] += 1
    ranker.fit(DATA, valid=(FIRST.X, by_query, FIRST.qid))
