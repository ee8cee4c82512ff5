import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import pomona as pm
from pomona.errors import InputError
from pomona.measures.lists import RankedLists
from pomona.objectives.softrank import SoftRankObjective, _chances
from reference.list_losses import rank_distribution, slopes, soft_average_precision, soft_sum


def made(objective, scores):
    gradient, hessian = np.empty((2, len(scores)), np.float32)
    return objective.losses(np.array(scores, float), gradient, hessian), gradient, hessian


def test_the_sheet():
    scores = [1.0, 0.5, 0.0]
    rows = [rank_distribution(j, scores, 1.0) for j in range(3)]
    assert rows[0] == pytest.approx([0.485164, 0.428086, 0.086750], abs=1e-6)
    assert rows[1] == pytest.approx([0.230911, 0.538178, 0.230911], abs=1e-6)
    losses, gradient, _ = made(SoftRankObjective("ndcg", [0, 1, 2], [0, 3]), scores)
    assert -losses == pytest.approx(0.684175, abs=1e-6)
    assert -gradient == pytest.approx([-0.060055, -0.004676, 0.064732], abs=1e-6)
    losses, gradient, _ = made(SoftRankObjective("ap", [0, 1, 1], [0, 3]), scores)
    assert -losses == pytest.approx(0.681969, abs=1e-6)
    assert -gradient == pytest.approx([-0.076394, 0.041484, 0.034910], abs=1e-6)
    for k, value in ((1, 0.317661), (2, 0.641963)):
        losses = SoftRankObjective(f"p@{k}", [0, 1, 1], [0, 3]).losses(np.array(scores))
        assert -losses == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("sigma", [0.3, 1.0])
def test_chances_are_those_of_the_normal_distribution(sigma):
    scores = np.append(0.0, np.linspace(-15, 15, 10_001))
    above, slope = np.empty((2, len(scores)))
    _chances(scores, 0, sigma, above, slope)
    noise = stats.norm(scale=np.sqrt(2) * sigma)
    assert above[0] == slope[0] == 0
    assert above[1:] == pytest.approx(noise.cdf(scores[1:]), abs=1e-11)
    assert slope[1:] == pytest.approx(noise.pdf(scores[1:]), abs=3e-9)


def values_and_weights(text, labels):
    one = pm.measure(text)
    if one.k is not None and one.name == "p":
        return np.minimum(labels, 1) / one.k, np.ones(one.k)
    discount = 1 / np.log2(np.arange(2, 2 + len(labels)))[: one.k]
    gains = 2.0 ** np.array(labels) - 1
    ideal = np.sort(gains)[::-1][: len(discount)] @ discount
    return (gains / ideal if ideal > 0 else gains), discount


lists = st.lists(st.tuples(st.integers(0, 3), st.floats(-3, 3)), min_size=1, max_size=8)


@pytest.mark.parametrize("text", ["ndcg", "ndcg@1", "ndcg@3", "p@2", "ap"])
@given(lists, st.sampled_from([0.3, 1.0]))
def test_equals_the_slow_twin(text, documents, sigma):
    labels, scores = map(list, zip(*documents, strict=True))
    losses, gradient, _ = made(SoftRankObjective(text, labels, [0, len(labels)], sigma=sigma), scores)

    def twin(s):
        if text == "ap":
            relevant = [min(y, 1) for y in labels]
            return soft_average_precision(relevant, s, sigma) if any(relevant) else 0.0
        return soft_sum(*values_and_weights(text, labels), s, sigma)

    assert -losses[0] == pytest.approx(twin(scores), abs=1e-6)
    assert -gradient == pytest.approx(slopes(twin, scores), abs=3e-6)


@pytest.mark.parametrize(
    "text", ["ndcg", "ndcg@5", "letor4:ndcg@5", "mslr:ndcg@5", "p@3", "rbp", "ap", "dcg@4"]
)
def test_without_noise_it_is_the_measure(text):
    random = np.random.default_rng(1)
    labels, scores = random.integers(0, 3, 12), random.permutation(12).astype(float)
    soft = -SoftRankObjective(text, labels, [0, 12], sigma=1e-3).losses(scores)[0]
    data = pm.Dataset(np.zeros((12, 1)), labels, np.zeros(12, int))
    assert soft == pytest.approx(pm.evaluate(data, scores, text)[text], rel=1e-6)


def test_refusals():
    for text in ("ap@5", "err", "rr", "sr4", "meanndcg"):
        with pytest.raises(InputError, match="has no soft form: use a sum over ranks"):
            SoftRankObjective(text, [1, 0], [0, 2])
    with pytest.raises(InputError, match="sigma must be above 0"):
        SoftRankObjective("ndcg", [1, 0], [0, 2], sigma=0)


@pytest.mark.parametrize("text", ["ndcg", "mslr:ndcg", "rbp", "ndcg@10", "ndcg@60"])
def test_long_lists(text):
    """Whole lists go another way than lists with a cut-off or short ones; all in one call."""
    random = np.random.default_rng(3)
    query_ptr = np.array([0, 150, 157, 218])
    labels, scores = random.integers(0, 3, 218), random.normal(scale=2, size=218)
    objective = SoftRankObjective(text, labels, query_ptr)
    losses, gradient, _ = made(objective, scores)
    one = pm.measure(text)
    for loss, begin, end in zip(losses, query_ptr[:-1], query_ptr[1:], strict=True):
        lists = RankedLists.of_labels([labels[begin:end]])
        numerator, divisor = one.weights(one.depth(end - begin))
        values = one.values(lists.levels)[lists.codes] / one.normalizer(lists)
        assert -loss == pytest.approx(soft_sum(values, numerator / divisor, scores[begin:end], 1.0), rel=1e-6)
    step = 1e-4 * random.normal(size=218)
    rise = (objective.losses(scores + step) - objective.losses(scores - step)) / 2
    assert rise.sum() == pytest.approx(gradient @ step, rel=1e-4)


@pytest.mark.parametrize("text", ["ndcg", "ndcg@10", "ap"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_net_that_went_astray_is_seen(text, bad):
    scores = np.linspace(0, 1, 100)
    scores[[3, 50]] = bad
    assert np.isnan(SoftRankObjective(text, np.arange(100) % 3, [0, 100]).losses(scores))
