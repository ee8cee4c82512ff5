import itertools
import math
import os

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.rankers.boosting.ada_rank import AdaRank, query_distribution, step_size
from pomona.rankers.loading import load_model
from reference import ada_rank as reference


@pytest.fixture(scope="module")
def train():
    return pm.simulate(40, docs_per_query=12, n_features=8, seed=1)


def average_precision(labels):
    hits = [rank for rank, label in enumerate(labels, 1) if label > 0]
    return sum(n / rank for n, rank in enumerate(hits, 1)) / len(hits)


def untied(seed, n_queries=9, n_docs=6, n_features=4):
    """Queries of which each has relevant and other documents, and no two values are equal."""
    random = np.random.default_rng(seed)
    X = random.permutation(n_queries * n_docs * n_features).reshape(-1, n_features) / 100.0
    y = np.tile([0, 0, 1, 0, 2, 1], n_queries)
    return pm.Dataset(X, y, np.repeat(np.arange(n_queries), n_docs))


def test_steps_and_distribution_by_hand():
    values, uniform = np.array([0.8, 0.6]), np.array([0.5, 0.5])
    assert step_size(values, uniform) == pytest.approx(0.5 * math.log(1.7 / 0.3))
    assert step_size(values, uniform) == pytest.approx(0.867301, abs=5e-7)
    assert query_distribution(values, np.ones(2)) == pytest.approx([0.450166, 0.549834], abs=5e-7)
    assert query_distribution(values, np.array([0.0, 3.0])).tolist() == [0.0, 1.0]


def test_a_perfect_feature_has_a_finite_weight():
    assert step_size(np.ones(3), np.full(3, 1 / 3)) == pytest.approx(0.5 * math.log(2 / 1e-12))
    data = pm.Dataset([[2.0, 0.0], [1.0, 5.0], [0.0, 1.0]], [2, 1, 0], [1, 1, 1])
    fitted = AdaRank().fit(data)
    assert fitted.score(data) == 1.0
    assert list(fitted.coefficients()) == ["f1"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("signs", [(1,), (1, -1)])
@pytest.mark.parametrize("rising", [False, True])
def test_agrees_with_the_plain_twin(seed, signs, rising):
    data = untied(seed)
    rows, labels, ptr = data.X.astype(float).tolist(), data.y.tolist(), data.query_ptr.tolist()
    queries = [(rows[a:b], labels[a:b]) for a, b in itertools.pairwise(ptr)]
    expected = reference.ada_rank(queries, average_precision, 8, signs, rising=rising)
    options = {"measure": "ap", "normalize": None, "allow_reversed": len(signs) == 2, "rising": rising}
    for n_rounds in range(1, len(expected) + 1):
        fitted = AdaRank(n_rounds=n_rounds, **options).fit(data)
        assert fitted.coef_ == pytest.approx(expected[fitted.best_iteration_ - 1], rel=1e-9)
        assert len(fitted.evals_["train"]) == n_rounds


PUBLISHED = {
    "all_queries": True,
    "repeats": True,
    "rising": False,
    "allow_reversed": False,
    "early_stopping": None,
    "n_rounds": 25,
}
"""The published loop, as the docstring tells."""


def published_steps(data, measure):
    """By the paper's loop, judged by `evaluate`, (feature, α) of every round."""

    def values_of(weights):
        scores = sum(data.X[:, j].astype(float) * weight for j, weight in weights.items())
        return pm.evaluate(data, scores, measure, per_query=True)[measure].tolist()

    values_of_feature = [values_of({j: 1.0}) for j in range(data.n_features)]
    return reference.published(values_of_feature, values_of, PUBLISHED["n_rounds"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("measure", ["ndcg@10", "yahoo:ndcg@10", "letor4:ndcg@5", "ap"])
def test_the_published_loop_can_be_had_exactly(seed, measure):
    data = untied(seed, n_queries=12)
    y = data.y.copy()
    y[:18] = 0.0  # three queries without a relevant document
    data = data.replace(y=y)
    steps = published_steps(data, measure)
    fitted = AdaRank(measure=measure, normalize=None, **PUBLISHED).fit(data)
    assert fitted.features_.tolist() == [feature for feature, _ in steps]
    assert fitted.alphas_ == pytest.approx([alpha for _, alpha in steps], rel=1e-12)
    kept = np.bincount(
        fitted.features_[: fitted.best_iteration_], fitted.alphas_[: fitted.best_iteration_], 4
    )
    assert fitted.coef_ == pytest.approx(kept, rel=1e-12)


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
def test_queries_without_relevant_documents_decide_the_steps_of_the_published_loop():
    """What "trained with" a tool changes: the first α on MQ2008, fold 1."""
    train = pm.load("mq2008", fold=1)[0]
    first = {}
    for convention in ("ranklib", "yahoo", "letor4"):
        fitted = AdaRank(measure=f"{convention}:ndcg@10", **PUBLISHED).fit(train)
        first[convention] = round(float(fitted.alphas_[0]), 3)
        assert len(set(fitted.features_)) == 1  # it never leaves its first feature
    assert first == {"ranklib": 0.537, "yahoo": 1.023, "letor4": 0.237}


def test_a_distribution_that_is_multiplied():
    """By hand (RankLib's rule): E = (0.8, 0.6), α = 0.867301 gives P = (0.456743, 0.543257)."""
    E, alpha = np.array([0.8, 0.6]), 0.867301
    assert query_distribution(alpha * E, np.full(2, 0.5)) == pytest.approx([0.456743, 0.543257], abs=5e-7)


def test_multiplied_weights_gather():
    train = untied(5, n_queries=30)
    options = {"measure": "ap", "normalize": None, "rising": False, "all_queries": True, "n_rounds": 8}
    fitted = AdaRank(multiplied=True, **options).fit(train)
    weights, P = np.zeros(train.n_features), np.full(train.n_queries, 1 / train.n_queries)
    for feature, alpha in zip(fitted.features_, fitted.alphas_, strict=True):
        sign = np.sign(alpha)
        E = pm.evaluate(train, sign * train.X[:, feature], "ap", per_query=True)["ap"]
        assert abs(alpha) == pytest.approx(0.5 * math.log(P @ (1 + E) / (P @ (1 - E))), rel=1e-9)
        weights[feature] += alpha
        values = pm.evaluate(train, train.X.astype(float) @ weights, "ap", per_query=True)["ap"]
        P = P * np.exp(-abs(alpha) * values)
        P /= P.sum()
    assert fitted.alphas_.tolist() != AdaRank(**options).fit(train).alphas_.tolist()


def test_the_training_measure_rises(train):
    assert (np.diff(AdaRank(measure="ap").fit(train).evals_["train"]) > 0).all()
    published = AdaRank(measure="ap", rising=False, n_rounds=60, early_stopping=None).fit(train)
    assert (np.diff(published.evals_["train"]) < 0).any()


def test_keeps_the_best_round(train):
    valid = pm.simulate(30, docs_per_query=12, n_features=8, seed=2)
    fitted = AdaRank(early_stopping=5).fit(train, valid=valid)
    assert fitted.best_iteration_ == 1 + int(np.argmax(fitted.evals_["valid"]))
    assert fitted.score(valid) == max(fitted.evals_["valid"])
    assert len(fitted.evals_["valid"]) <= fitted.best_iteration_ + 5
    alone = AdaRank().fit(train)
    assert alone.score(train) == pytest.approx(max(alone.evals_["train"]))


@pytest.mark.parametrize(
    "measure", ["ap", "err@20", "p@3", "letor4:ndcg@10", "ranklib:err", "trec_eval:ndcg"]
)
def test_any_measure_and_convention(train, measure):
    fitted = AdaRank(measure=measure, n_rounds=20).fit(train)
    shuffled = pm.RandomRanker(measure=measure).fit(train)
    assert fitted.score(train) > shuffled.score(train) + 0.02


def test_a_users_own_measure(train):
    class TopIsRelevant(Measure):
        def of_query(self, labels):
            return float(labels[0] > 0)

    fitted = AdaRank(measure=TopIsRelevant(), n_rounds=10).fit(train)
    assert fitted.score(train) == pytest.approx(max(fitted.evals_["train"]), abs=0.1)


def test_falling_features_only_if_asked(train):
    told = train.replace(X=np.column_stack([train.X[:, :2], -train.y]).astype(np.float32))
    assert (AdaRank(allow_reversed=False).fit(told).coef_ >= 0).all()
    fitted = AdaRank().fit(told)
    assert fitted.coef_[2] < 0
    assert fitted.score(told) == pm.IdealRanker().fit(told).score(told)


def test_queries_that_cannot_change_have_no_say(train):
    plain = AdaRank(n_rounds=15).fit(train)
    X = np.concatenate([train.X, train.X[:30]])
    more = pm.Dataset(X, np.append(train.y, np.zeros(30)), np.append(train.qid, np.repeat(["a", "b"], 15)))
    assert AdaRank(n_rounds=15).fit(more).coef_.tolist() == plain.coef_.tolist()


def test_a_weight_counts_as_so_many_queries(train):
    twice = np.arange(train.n_queries) < 10
    weights = np.repeat(1.0 + twice, np.diff(train.query_ptr))
    doubled = pm.Dataset(
        np.concatenate([train.X, train.X[weights == 2]]),
        np.concatenate([train.y, train.y[weights == 2]]),
        np.concatenate([train.qid.astype(str), np.char.add("again", train.qid[weights == 2].astype(str))]),
    )
    weighted = AdaRank(n_rounds=5).fit(train, sample_weight=weights)
    assert weighted.coef_ == pytest.approx(AdaRank(n_rounds=5).fit(doubled).coef_, rel=1e-9)


def test_what_was_learnt_is_kept(train, tmp_path):
    fitted = AdaRank(n_rounds=5).fit(train, valid=train)
    fitted.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert (loaded.evals_, loaded.best_iteration_) == (fitted.evals_, fitted.best_iteration_)
    assert not loaded.interrupted_


def test_constant_features_leave_a_model_that_says_so(train):
    flat = train.replace(X=np.ones_like(train.X))
    with pytest.warns(UserWarning, match="all documents score alike"):
        fitted = AdaRank().fit(flat)
    assert not fitted.predict(flat).any()


def test_refusals(train):
    with pytest.raises(InputError, match=r"values in \[-1, 1\], dcg@5.* gives"):
        AdaRank(measure="dcg@5").fit(train)
    with pytest.raises(InputError, match="nothing to learn"):
        AdaRank().fit(train.replace(y=np.zeros_like(train.y)))
    with pytest.raises(InputError, match="n_rounds must be an integer of at least 1, found 0"):
        AdaRank(n_rounds=0).fit(train)


def test_a_loss_beyond_the_tolerance_ends_the_training():
    ended = []
    for seed, tolerance in itertools.product(range(6), (0.0, 0.02, 1.0)):
        data = untied(seed)
        rows, labels, ptr = data.X.astype(float).tolist(), data.y.tolist(), data.query_ptr.tolist()
        queries = [(rows[a:b], labels[a:b]) for a, b in itertools.pairwise(ptr)]
        expected = reference.ada_rank(queries, average_precision, 20, tolerance=tolerance)
        options = {"measure": "ap", "normalize": None, "allow_reversed": False, "rising": False}
        fitted = AdaRank(n_rounds=20, tolerance=tolerance, early_stopping=None, **options).fit(data)
        assert len(fitted.alphas_) == len(expected)
        ended.append(len(expected))
    assert ended[2::3] == [20] * 6  # no mean falls by 1
    assert min(ended[::3]) < 20
    with pytest.raises(InputError, match="rising=True takes no loss"):
        AdaRank(tolerance=0.1).fit(untied(0))
