import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.objectives.ranknet import RankNetObjective
from reference.list_losses import bends, pairwise_cross_entropy, slopes


def made(objective, scores):
    gradient, hessian = np.empty((2, len(scores)), np.float32)
    return objective.losses(np.array(scores, float), gradient, hessian), gradient, hessian


def test_the_sheet():
    # Three pairs, all the wrong way round by 1, 2 and 1.
    losses, gradient, _ = made(RankNetObjective([2, 1, 0], [0, 3], average=False), [0, 1, 2])
    assert losses == pytest.approx(2 * np.log(1 + np.e) + np.log(1 + np.e**2))
    assert losses == pytest.approx(4.753451, abs=1e-6)
    by_one, by_two = 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-2))
    assert gradient == pytest.approx([-by_one - by_two, 0, by_one + by_two], abs=1e-6)


lists = st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5)), min_size=1, max_size=8)


@given(lists, st.sampled_from([0.5, 1.0, 2.0]))
def test_equals_the_slow_twin(documents, sigma):
    labels, scores = map(list, zip(*documents, strict=True))
    losses, gradient, hessian = made(
        RankNetObjective(labels, [0, len(labels)], sigma=sigma, average=False), scores
    )

    def twin(s):
        return pairwise_cross_entropy(labels, s, sigma)

    assert losses[0] == pytest.approx(twin(scores))
    assert gradient == pytest.approx(slopes(twin, scores), rel=1e-5, abs=1e-6)
    assert hessian == pytest.approx(bends(twin, scores), rel=1e-4, abs=1e-5)


def test_average_is_over_pairs():
    data = [2, 1, 1, 0], [0, 4]  # five pairs
    total = made(RankNetObjective(*data, average=False), [0.3, 0.2, 0.5, 0.1])
    mean = made(RankNetObjective(*data), [0.3, 0.2, 0.5, 0.1])
    for one, five in zip(mean, total, strict=True):
        assert one == pytest.approx(five / 5, rel=1e-6)


def test_refusals():
    with pytest.raises(InputError, match="sigma must be above 0"):
        RankNetObjective([1], [0, 1], sigma=0)


@pytest.mark.parametrize("far", [500.0, 700.0, 5000.0])
def test_scores_far_apart(far):
    """Two documents that lie close together, far below a third: their own distance still counts."""
    labels, scores = [2, 1, 0], [far, 1.0, 0.0]
    losses, gradient, _ = made(RankNetObjective(labels, [0, 3], average=False), scores)
    assert losses[0] == pytest.approx(np.log1p(1 / np.e))
    rho = 1 / (1 + np.e)
    assert gradient == pytest.approx([0, -rho, rho], abs=1e-7)
    reverse, _, _ = made(RankNetObjective(labels[::-1], [0, 3], average=False), scores)
    assert reverse[0] == pytest.approx(far + (far - 1) + np.log1p(np.e))


def test_a_long_query():
    """More factors than one product can hold."""
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 3, 1500), random.normal(size=1500)
    losses, _, _ = made(RankNetObjective(labels, [0, 1500], average=False), scores)
    assert losses[0] == pytest.approx(pairwise_cross_entropy(labels.tolist(), scores.tolist(), 1.0))
