import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.boosting.rank_boost import RankBoost
from pomona.rankers.boosting.stumps.stump_sum import GrowingStumpSum
from pomona.rankers.loading import load_model
from pomona.testing import check_ranker
from reference import rank_boost as reference


@pytest.fixture(scope="module")
def train():
    return pm.simulate(40, docs_per_query=12, n_features=8, seed=1)


def test_by_hand():
    data = pm.Dataset([[3.0], [1.0], [2.0]], [2, 1, 0], [1, 1, 1])
    fitted = RankBoost(n_rounds=1).fit(data)
    # Above 2 stands the document of label 2 alone: right in two pairs of three, and equal in the third.
    r = 2 / 3
    assert fitted.model_.threshold.tolist() == [2.0]
    assert fitted.model_.weight == pytest.approx([0.5 * math.log((1 + r) / (1 - r))])
    assert fitted.model_.weight == pytest.approx([0.804719], abs=5e-7)
    assert fitted.evals_["loss"] == pytest.approx([1 / 3 + 2 / 3 * math.exp(-0.5 * math.log(5))])
    assert fitted.evals_["loss"] == pytest.approx([0.631476], abs=5e-7)
    (twin,), _, shares = reference.rank_boost([[3.0], [1.0], [2.0]], [2, 1, 0], [1, 1, 1], 1)
    assert twin == pytest.approx((0, 2.0, r, 0.804719, 0.631476), abs=5e-7)
    assert shares == pytest.approx([0.236068, 0.236068, 0.527864], abs=5e-7)


@given(seed=st.integers(0, 10**6))
def test_agrees_with_all_pairs(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 16))
    X, y, qid = random.integers(0, 6, (n, 3)), random.integers(0, 4, n), np.sort(random.integers(0, 3, n))
    X[:4, 0], y[:2], qid[:2] = (5, 0, 1, 2), (1, 0), 0
    data = pm.Dataset(X, y, qid)
    fitted = RankBoost(n_rounds=6).fit(data)
    rows, labels, queries = data.X.tolist(), data.y.tolist(), data.qid.tolist()
    pairs = reference.pairs_of(labels, queries)
    scores = np.zeros(n)
    losses = [1.0]
    model = fitted.model_
    for t in range(model.n_stumps):
        # Stumps may be equally good, so the twin checks this one rather than choosing its own.
        shares = np.array([math.exp(scores[j] - scores[i]) for i, j in pairs])
        shares /= shares.sum()
        best = max(
            abs(
                sum(
                    d * ((rows[i][f] > x) - (rows[j][f] > x)) for d, (i, j) in zip(shares, pairs, strict=True)
                )
            )
            for f in range(3)
            for x in {row[f] for row in rows}
        )
        best = min(best, 1 - 1 / (2 * len(pairs)))
        weight = float(model.weight[t])
        assert abs(weight) == pytest.approx(0.5 * math.log((1 + best) / (1 - best)), rel=1e-6, abs=1e-9)
        passed = data.X[:, model.feature[t]] > model.threshold[t]
        r = sum(d * (float(passed[i]) - float(passed[j])) for d, (i, j) in zip(shares, pairs, strict=True))
        assert min(abs(r), 1 - 1 / (2 * len(pairs))) == pytest.approx(best, rel=1e-6, abs=1e-9)
        assert r * weight > 0
        scores += weight * passed
        losses.append(sum(math.exp(scores[j] - scores[i]) for i, j in pairs) / len(pairs))
        assert losses[-1] / losses[-2] <= math.sqrt(1 - best**2) + 1e-9
    assert fitted.evals_["loss"] == pytest.approx(losses[1:], rel=1e-9)
    assert fitted.predict(data) == pytest.approx(scores, abs=1e-9)


def test_agrees_with_the_plain_twin(train):
    data = train.take(np.arange(train.n_queries) < 6)
    expected, scores, _ = reference.rank_boost(data.X.tolist(), data.y.tolist(), data.qid.tolist(), 4)
    fitted = RankBoost(n_rounds=4).fit(data)
    assert fitted.model_.feature.tolist() == [feature for feature, *_ in expected]
    assert fitted.model_.weight == pytest.approx([alpha for *_, alpha, _ in expected])
    assert fitted.predict(data) == pytest.approx(scores)
    assert fitted.evals_["loss"] == pytest.approx(np.cumprod([z for *_, z in expected]))


def test_the_loss_falls_every_round(train):
    losses = [1.0, *RankBoost(n_rounds=60).fit(train).evals_["loss"]]
    assert (np.diff(losses) < 0).all()


def test_data_that_one_stump_tells_apart():
    data = pm.Dataset([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], [1, 1, 1, 1])
    fitted = RankBoost(n_rounds=400).fit(data)
    assert fitted.score(data) == 1.0
    assert np.isfinite(fitted.predict(data)).all()
    # |r| is cut at 1 - 1/8 for four pairs.
    assert fitted.model_.weight[0] == pytest.approx(0.5 * math.log(15))


def test_a_falling_feature_turns_the_stump_around():
    data = pm.Dataset([[0.0], [1.0], [5.0], [6.0]], [1, 1, 0, 0], [1, 1, 1, 1])
    fitted = RankBoost(n_rounds=1).fit(data)
    assert fitted.model_.weight[0] < 0
    assert fitted.score(data) == 1.0


@pytest.mark.parametrize("label_of_undefined", [0, 2])
def test_undefined_values_go_where_they_help(label_of_undefined):
    X = [[1.0], [2.0], [np.nan], [np.nan]]
    data = pm.Dataset(X, [1, 1, label_of_undefined, label_of_undefined], [1, 1, 1, 1])
    fitted = RankBoost(n_rounds=1).fit(data)
    scores = fitted.predict(data)
    assert (scores[2:] > scores[:2]).all() == (label_of_undefined == 2)
    assert (scores[2:] < scores[:2]).all() == (label_of_undefined == 0)


def test_few_thresholds_are_some_of_all(train):
    fitted = RankBoost(n_rounds=80, n_thresholds=3).fit(train)
    for feature in range(train.n_features):
        used = np.unique(fitted.model_.threshold[fitted.model_.feature == feature])
        assert len(used) <= 3
        assert np.isin(used, train.X[:, feature]).all()
    assert RankBoost(n_rounds=20).fit(train).evals_["loss"][0] <= fitted.evals_["loss"][0]


def test_balanced_queries_count_alike():
    # Feature 1 is right in the six pairs of query 1, feature 2 in the single pairs of queries 2 and 3.
    X = [[9, 0], [9, 0], [0, 9], [0, 9], [0, 9], [0, 9], [9, 0], [0, 9], [9, 0]]
    data = pm.Dataset(X, [1, 1, 0, 0, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 2, 2, 3, 3])
    for balance_queries in (False, True):
        fitted = RankBoost(n_rounds=1, balance_queries=balance_queries).fit(data)
        top = fitted.predict(np.array([[9.0, 0.0], [0.0, 9.0]]))
        assert (top[1] > top[0]) == balance_queries


def test_validation_chooses_the_round(train, tmp_path):
    valid = pm.simulate(30, docs_per_query=12, n_features=8, seed=2)
    fitted = RankBoost(n_rounds=100, early_stopping=10).fit(train, valid=valid)
    assert fitted.score(valid) == pytest.approx(max(fitted.evals_["valid"]))
    assert fitted.model_.n_stumps == fitted.best_iteration_ == 1 + int(np.argmax(fitted.evals_["valid"]))
    fitted.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert (loaded.evals_, loaded.best_iteration_) == (fitted.evals_, fitted.best_iteration_)


def test_constant_features_leave_a_model_that_says_so(train):
    flat = train.replace(X=np.ones_like(train.X))
    with pytest.warns(UserWarning, match="all documents score alike"):
        fitted = RankBoost().fit(flat)
    assert not fitted.predict(flat).any()


def test_refusals(train):
    with pytest.raises(InputError, match="nothing to learn"):
        RankBoost().fit(train.replace(y=np.ones_like(train.y)))
    with pytest.raises(InputError, match="n_rounds must be an integer of at least 1, found 0"):
        RankBoost(n_rounds=0).fit(train)
    with pytest.raises(InputError, match="n_thresholds must be an integer of at least 1, or None, found 0"):
        RankBoost(n_thresholds=0).fit(train)


def test_values_by_hand():
    data = pm.Dataset([[3.0], [1.0], [2.0]], [2, 1, 0], [1, 1, 1])
    fitted = RankBoost(weak="value", n_rounds=1).fit(data)
    # On [0, 1] the documents stand at 1, 0 and ½: right by 1 and by ½ in two pairs, wrong by ½ in the third.
    r = (1 + 1 / 2 - 1 / 2) / 3
    alpha = 0.5 * math.log((1 + r) / (1 - r))
    assert fitted.model_.weight == pytest.approx([alpha])
    assert fitted.predict(data) == pytest.approx([alpha, 0, alpha / 2])
    loss = (math.exp(-alpha) + math.exp(-alpha / 2) + math.exp(alpha / 2)) / 3
    assert fitted.evals_["loss"] == pytest.approx([loss])
    assert fitted.predict([[9.0], [-9.0]]) == pytest.approx([alpha, 0])


@given(seed=st.integers(0, 10**6))
def test_values_agree_with_all_pairs(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 16))
    X, y, qid = random.random((n, 3)), random.integers(0, 4, n), np.sort(random.integers(0, 3, n))
    y[:2], qid[:2] = (1, 0), 0
    X[random.random((n, 3)) < 0.2] = np.nan
    data = pm.Dataset(X, y, qid)
    pairs = reference.pairs_of(data.y.tolist(), data.qid.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nothing may be left that tells documents apart
        predicted = RankBoost(weak="value", n_rounds=5).fit(data).predict(data)
    scores, weak = np.zeros(n), []
    for j in range(3):
        x = data.X[:, j].astype(float)
        low, high = (np.nanmin(x), np.nanmax(x)) if not np.isnan(x).all() else (0, 0)
        h = (x - low) / (high - low) if high > low else np.where(np.isnan(x), np.nan, 0.0)
        weak += [np.where(np.isnan(x), filled, h) for filled in (0.0, 1.0)]
    for _ in range(5):
        shares = np.array([math.exp(scores[j] - scores[i]) for i, j in pairs])
        shares /= shares.sum()
        rs = [sum(d * (h[i] - h[j]) for d, (i, j) in zip(shares, pairs, strict=True)) for h in weak]
        best = int(np.argmax(np.abs(rs)))
        if abs(rs[best]) < 1e-12:
            break
        ties = [h for h, r in zip(weak, rs, strict=True) if abs(r) > abs(rs[best]) - 1e-12]
        assume(all(np.array_equal(h, weak[best]) for h in ties))  # else rounding decides
        r = np.clip(rs[best], 1 / (2 * len(pairs)) - 1, 1 - 1 / (2 * len(pairs)))
        scores += 0.5 * math.log((1 + r) / (1 - r)) * weak[best]
    assert [predicted[i] - predicted[j] for i, j in pairs] == pytest.approx(
        [scores[i] - scores[j] for i, j in pairs], abs=1e-6
    )


def test_infinite_values_are_the_ends():
    data = pm.Dataset([[np.inf], [1.0], [0.0], [-np.inf]], [3, 2, 1, 0], [1, 1, 1, 1])
    scores = RankBoost(weak="value", n_rounds=1).fit(data).predict(data)
    assert scores[0] == scores[1] > scores[2] == scores[3]


def test_values_keep_what_rankers_promise():
    check_ranker(RankBoost, weak="value", n_rounds=20)


def test_a_model_of_values_is_loaded_as_one(train, tmp_path):
    fitted = RankBoost(weak="value", n_rounds=5).fit(train, valid=train)
    fitted.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert (loaded.predict(train) == fitted.predict(train)).all()
    assert str(loaded.model_) == str(fitted.model_)


@pytest.mark.parametrize("weak", ["threshold", "value"])
def test_training_scores_are_the_models_to_the_last_bit(weak):
    """With tied features, sums that are rounded otherwise would part documents that the model ties."""
    data = pm.simulate(12, docs_per_query=10, n_features=4, seed=5)
    X = np.round(data.X)
    X[::9, 1] = np.nan
    data = data.replace(X=X)
    fitted = RankBoost(weak=weak, n_rounds=60, measure="ndcg(ties=expected)").fit(
        data, valid=data.take(range(5))
    )
    for part, rows in (("train", data), ("valid", data.take(range(5)))):
        assert fitted.evals_[part][fitted.best_iteration_ - 1] == pytest.approx(fitted.score(rows), abs=1e-12)
    growing = GrowingStumpSum(X) if weak == "threshold" else None
    if growing is not None:
        model = fitted.model_
        stumps = zip(model.feature, model.threshold, model.weight, model.undefined, strict=True)
        scores = [growing.add(int(f), float(t), float(w), bool(u)) for f, t, w, u in stumps]
        assert (scores[-1] == model.score(X)).all()
