import time

import numpy as np
import pytest

import pomona as pm
from pomona.experiments.best.stack import Choice, Rules, Tried, choose, estimate, rehearse, values_of

NDCG = pm.measure("ndcg@5")


def tried(outputs, data, kinds=None, costs=None):
    n = outputs.shape[1]
    return Tried.of(data, outputs, kinds or [f"k{i}" for i in range(n)], costs or [1.0] * n, NDCG)


@pytest.fixture(scope="module")
def data():
    return pm.simulate(80, docs_per_query=10, n_features=2, seed=1)


@pytest.fixture(scope="module")
def halves(data):
    """Two rankers that know something else each, and a third that knows nothing."""
    random = np.random.default_rng(0)
    noise = random.standard_normal((data.n_docs, 3))
    return np.column_stack([data.y + noise[:, 0], 100 * data.y + 100 * noise[:, 1], noise[:, 2]])


@pytest.mark.parametrize("scale", ["standard", "none"])
def test_two_that_complement_each_other(data, halves, scale):
    choice = choose(tried(halves, data), Rules((scale,)))
    weights = dict(zip(choice.members, choice.weights, strict=True))
    assert {0, 1} <= set(weights)
    assert weights.get(2, 0.0) < 0.2
    assert choice.scale == scale
    assert sum(choice.weights) == pytest.approx(1)
    assert max(choice.weights) < 0.7
    alone = max(values_of(data, column, NDCG).mean() for column in halves.T)
    assert values_of(data, choice.scores(halves, data), NDCG).mean() > alone + 0.02


def test_scores_are_what_the_weights_say(data, halves):
    choice = Choice((1, 0), (0.25, 0.75), "none", (100.0, 1.0), "learnt", 0.0)
    assert choice.scores(halves, data) == pytest.approx(0.25 * halves[:, 1] / 100 + 0.75 * halves[:, 0])


def test_without_scales_the_best_stands_alone(data, halves):
    choice = choose(tried(halves, data), Rules(()))
    assert choice.way == "alone"
    assert len(choice.members) == 1
    assert choice.value == pytest.approx(max(tried(halves, data).values.mean(axis=1)))


def test_what_does_not_help_is_left_out(data):
    perfect = np.column_stack([data.y, np.random.default_rng(0).standard_normal(data.n_docs)]).astype(float)
    choice = choose(tried(perfect, data), Rules())
    assert (choice.members, choice.way) == ((0,), "alone")


def test_one_that_is_ahead_by_chance_is_not_taken_alone(data):
    # All know the same but for a little noise; none is better, whatever this sample of queries says.
    random = np.random.default_rng(5)
    common = data.y + random.standard_normal(data.n_docs)
    alike = common[:, None] + 0.02 * random.standard_normal((data.n_docs, 12))
    everything = tried(alike, data)
    choice = choose(everything, Rules())
    assert everything.values.mean(axis=1).max() > choice.value
    assert (choice.way, len(choice.members) > 1) == ("equal", True)


def test_of_rankers_that_are_the_same_one_is_enough(data, halves):
    same = halves[:, [0, 0, 0]]
    assert choose(tried(same, data), Rules(("none",))).way == "alone"


def test_costs_are_kept(data, halves):
    for most in (0.5, 1.5, 2.5):
        choice = choose(tried(halves, data, costs=[1.0, 1.0, 0.3]), Rules(most=most))
        assert sum([1.0, 1.0, 0.3][one] for one in choice.members) <= max(most, 1.0)


def test_the_best_few_and_one_of_every_other_method(data):
    random = np.random.default_rng(0)
    outputs = data.y[:, None] + random.standard_normal((data.n_docs, 12))
    outputs[:, 8:] += 2 * random.standard_normal((data.n_docs, 4))  # worse, but of other methods
    choice = choose(tried(outputs, data, kinds=["same"] * 8 + list("abcd")), Rules())
    assert len(choice.members) <= 8
    assert sum(one < 8 for one in choice.members) <= 4


def test_the_estimate_does_not_believe_in_luck():
    """Of many rankers that know nothing the best looks good to whom it was chosen by, and to nobody else."""
    data = pm.simulate(60, docs_per_query=10, n_features=2, seed=3)
    gaps, estimates = [], []
    for seed in range(8):
        outputs = np.random.default_rng(seed).standard_normal((data.n_docs, 25))
        everything = tried(outputs, data)
        found = estimate(everything, Rules(("none",)), seed=seed)
        gaps.append(choose(everything, Rules(("none",))).value - found.mean)
        estimates.append(found.mean)
        assert found.low < found.mean < found.high
        assert found.n_queries == 60
    chance = everything.values.mean()
    assert np.mean(gaps) > 0.03
    assert abs(np.mean(estimates) - chance) < 0.02


def test_few_queries(data):
    few = data.take([0, 1, 2])
    outputs = np.random.default_rng(0).standard_normal((few.n_docs, 3))
    assert choose(tried(outputs, few), Rules()).way == "alone"
    assert estimate(tried(outputs, few), Rules()).n_queries == 3
    one = data.take([0])
    found = estimate(tried(outputs[: one.n_docs], one), Rules())
    assert np.isfinite(found.mean)
    assert np.isnan(found.low)


def test_a_rehearsal_tells_how_long_a_choice_takes():
    assert 0 < rehearse(NDCG) < 0.1


def test_past_its_deadline_a_choice_learns_no_weights(data, halves, monkeypatch):
    learnt = []
    monkeypatch.setattr("pomona.experiments.best.stack._learnt", lambda *_: learnt.append(1))
    assert choose(tried(halves, data), Rules(), time.monotonic() - 1).way == "equal"
    assert not learnt


def test_so_does_the_estimate(data, halves, monkeypatch):
    everything, learnt = tried(halves, data), []
    in_time = estimate(everything, Rules())
    monkeypatch.setattr("pomona.experiments.best.stack._learnt", lambda *_: learnt.append(1))
    late = estimate(everything, Rules(), deadline=time.monotonic() - 1)
    assert not learnt
    assert late.n_queries == in_time.n_queries == 80
    assert abs(late.mean - in_time.mean) < 0.03
