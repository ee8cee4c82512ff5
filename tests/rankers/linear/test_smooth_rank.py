from dataclasses import dataclass

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.parse import measure
from pomona.rankers.linear.smooth_rank import SmoothedMeasure, SmoothRank
from reference import smoothed as slow

# The sheet's query: gains (0, 1, 3) of labels (0, 1, 2), all in the wrong order.
LABELS, SCORES, ONE = np.array([0, 1, 2], np.float32), np.array([1.0, 0.5, 0.0]), np.array([0, 3])
MEASURES = (
    "ndcg",
    "ndcg@3",
    "letor4:ndcg@3",
    "dcg@5",
    "p@2",
    "rbp(p=0.6)",
    "ap",
    "ap@3",
    "err",
    "err@4",
    "rr",
)


@pytest.fixture(scope="module")
def parts():
    return [pm.simulate(40, docs_per_query=12, n_features=8, seed=seed) for seed in (1, 2)]


def smoothed(name, labels=LABELS, query_ptr=ONE, weights=None):
    return SmoothedMeasure(measure(name), labels, query_ptr, weights)


def test_numbers_of_the_sheet():
    value, gradient = smoothed("dcg").gradient(SCORES, 1.0)
    assert value == pytest.approx(2.580108, abs=1e-6)
    assert gradient == pytest.approx([-0.220044, -0.393790, 0.613834], abs=1e-6)
    assert smoothed("ndcg").gradient(SCORES, 1.0)[0] == pytest.approx(0.710591, abs=1e-6)
    assert smoothed("dcg").gradient(SCORES, 1e-4)[0] == pytest.approx(2.130930, abs=1e-6)
    assert smoothed("dcg").gradient(SCORES, 1e8)[0] == pytest.approx(2.841240, abs=1e-6)


@pytest.mark.parametrize("sigma", [1e-3, 0.3, 20.0])
def test_it_is_the_formula(sigma):
    random = np.random.default_rng(4)
    labels, scores = random.integers(0, 3, 9).astype(np.float32), random.normal(size=9)
    query_ptr = np.array([0, 9])
    discount = [1 / np.log2(r + 1) for r in range(1, 10)]
    gains, relevant = [2**label - 1 for label in labels], [float(label > 0) for label in labels]
    found = {name: smoothed(name, labels, query_ptr).gradient(scores, sigma)[0] for name in MEASURES}
    assert found["dcg@5"] == pytest.approx(slow.position(gains, scores, sigma, discount[:5]))
    best = sum(g * d for g, d in zip(sorted(gains, reverse=True), discount, strict=True))
    assert found["ndcg"] == pytest.approx(slow.position(gains, scores, sigma, discount) / best)
    assert found["p@2"] == pytest.approx(slow.position(relevant, scores, sigma, [0.5, 0.5]))
    assert found["ap"] == pytest.approx(slow.average_precision(relevant, scores, sigma, 9))
    assert found["ap@3"] == pytest.approx(slow.average_precision(relevant, scores, sigma, 3))
    satisfies = measure("err").satisfies(labels.astype(float)).tolist()
    weight = [1 / r for r in range(1, 10)]
    assert found["err@4"] == pytest.approx(slow.cascade(satisfies, scores, sigma, weight[:4]))


@pytest.mark.parametrize("name", MEASURES)
def test_without_smoothing_it_is_the_measure(name, parts):
    data = parts[0]
    scores = np.random.default_rng(0).permutation(data.n_docs).astype(float)
    values = pm.evaluate(data, scores, name, per_query=True)[name]
    # In the others nothing can be learnt: all or none of the documents are relevant.
    telling = [q for q in range(data.n_queries) if values[q] > 0 and (data.take([q]).y == 0).any()]
    for query in telling:
        one = data.take([query])
        own = scores[data.query_ptr[query] : data.query_ptr[query + 1]]
        found = smoothed(name, one.y, one.query_ptr).gradient(own, 1e-6)[0]
        assert found == pytest.approx(values[query], abs=1e-12)
    assert len(telling) > 10


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("sigma", [0.1, 1.0, 30.0])
def test_gradient_is_a_finite_difference(name, sigma):
    random = np.random.default_rng(5)
    labels, query_ptr = random.integers(0, 3, 20).astype(np.float32), np.array([0, 8, 9, 20])
    objective = smoothed(name, labels, query_ptr, np.array([1.0, 3.0, 0.5]))
    scores = random.permutation(20) / 5.0  # well apart: d(j) must not change
    _, gradient = objective.gradient(scores, sigma)
    for i in range(20):
        step = np.zeros(20)
        step[i] = 1e-5
        up, down = (objective.gradient(scores + s, sigma)[0] for s in (step, -step))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-9)
    assert [part.sum() for part in np.split(gradient, [8, 9])] == pytest.approx([0, 0, 0], abs=1e-12)


def test_annealing_raises_the_measure_over_least_squares(parts):
    train, valid = parts
    ranker = SmoothRank(l2=1e-5).fit(train, valid=valid)
    curve = ranker.evals_["train"]
    assert len(curve) == len(ranker.evals_["valid"]) == 13  # 2^6 … 2^−6
    line = SmoothRank(l2=1e6, sigma_max=1.0, sigma_min=1.0).fit(train)  # held to the line
    assert max(curve) > line.score(train) + 0.01
    assert ranker.sigma_ == 2.0 ** (6 - int(np.argmax(ranker.evals_["valid"])))
    assert ranker.score(valid) == pytest.approx(max(ranker.evals_["valid"]))


def test_the_validation_queries_choose_the_penalty(parts):
    train, valid = parts
    chosen = SmoothRank(sigma_max=1.0, sigma_min=0.25).fit(train, valid=valid)
    fixed = [
        SmoothRank(l2=l2, sigma_max=1.0, sigma_min=0.25).fit(train, valid=valid).score(valid)
        for l2 in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    ]
    assert chosen.score(valid) == pytest.approx(max(fixed))
    assert chosen.l2_ == (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)[int(np.argmax(fixed))]


def test_without_validation_the_last_sigma_is_taken(parts):
    ranker = SmoothRank(sigma_max=2.0, sigma_min=0.3).fit(parts[0])
    assert (ranker.sigma_, ranker.l2_, ranker.evals_) == (0.5, 1e-4, {})


@pytest.mark.parametrize("name", ["ap", "err@10", "p@5"])
def test_other_measures_are_learnt(name, parts):
    train = parts[0]
    ranker = SmoothRank(measure=name).fit(train)
    random = np.random.default_rng(0).random(train.n_docs)
    assert ranker.score(train) > pm.evaluate(train, random, name)[name] + 0.05


def test_ctrl_c_keeps_the_best_so_far(parts, monkeypatch):
    gradient, calls = SmoothedMeasure.gradient, []

    def interrupted(self, scores, sigma):
        calls.append(sigma)
        if sigma < 0.1:
            raise KeyboardInterrupt
        return gradient(self, scores, sigma)

    monkeypatch.setattr(SmoothedMeasure, "gradient", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        ranker = SmoothRank(l2=1e-3).fit(parts[0], valid=parts[1])
    assert ranker.interrupted_
    assert ranker.sigma_ >= 0.1
    assert min(calls) < 0.1


def test_nothing_to_learn_is_said_so():
    flat = pm.Dataset([[1.0], [2.0], [3.0]], [1, 1, 0], [1, 1, 2])
    with pytest.raises(InputError, match="ndcg@10 tells no two documents of a query"):
        SmoothRank().fit(flat)
    short = pm.Dataset([[1.0], [2.0], [3.0]], [1, 2, 0], [1, 1, 1])  # counts 0 whatever the ranking
    with pytest.raises(InputError, match="letor4:ndcg@10 tells no two"):
        SmoothRank(measure="letor4:ndcg@10").fit(short)


def test_constant_features_leave_all_alike():
    data = pm.Dataset(np.ones((4, 2)), [0, 1, 2, 0], [1, 1, 1, 1])
    with pytest.warns(UserWarning, match="score alike"):
        ranker = SmoothRank().fit(data)
    assert ranker.predict(data).tolist() == [0.0] * 4


def test_separable_data_with_one_feature():
    data = pm.Dataset([[0.0], [1.0], [2.0], [5.0]], [0, 1, 2, 3], [1, 1, 1, 1])
    ranker = SmoothRank(l2=0.0).fit(data)
    assert ranker.score(data) == 1
    assert np.isfinite(ranker.coef_).all()


def test_refusals(parts):
    @dataclass(frozen=True, kw_only=True)
    class Own(Measure):
        def of_query(self, labels):
            return float(labels[0])

    for wrong, message in (
        ({"measure": Own()}, "can smooth position measures"),
        ({"l2": -1.0}, "l2 must be a number of at least 0"),
        ({"sigma_min": 0.0}, "sigma_min must be a number above 0"),
        ({"sigma_max": 0.001}, "sigma_min ≤ sigma_max"),
        ({"max_iterations": 0}, "max_iterations must be an integer of at least 1"),
    ):
        with pytest.raises(InputError, match=message):
            SmoothRank(**wrong).fit(parts[0])
