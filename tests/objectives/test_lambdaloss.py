import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.measures.position import PositionMeasure
from pomona.objectives.lambdaloss import LambdaLossObjective
from pomona.objectives.lambdas import LambdaObjective
from reference.list_losses import bends, slopes


def made(objective, scores):
    gradient, hessian = np.full((2, len(scores)), np.nan, np.float32)
    objective.gradients(np.asarray(scores, float), gradient, hessian)
    return gradient, hessian


def frozen_loss(labels, at, mu, sigma=1.0):
    """NDCG-Loss2++ in natural logarithms, its weights those of the ranking by the scores `at`."""
    n = len(labels)
    rank = {document: 1 + place for place, document in enumerate(sorted(range(n), key=lambda i: -at[i]))}
    gains = 2.0 ** np.array(labels) - 1
    best = sum(gain / np.log2(1 + place) for place, gain in enumerate(sorted(gains)[::-1], 1))

    def loss(scores):
        total = 0.0
        for i, j in itertools.permutations(range(n), 2):
            if gains[i] > gains[j]:
                d = abs(rank[i] - rank[j])
                swap = abs(1 / np.log2(1 + rank[i]) - 1 / np.log2(1 + rank[j]))
                bound = abs(1 / np.log2(1 + d) - 1 / np.log2(2 + d))
                cost = np.log(1 + np.exp(-sigma * (scores[i] - scores[j])))
                total += (swap + mu * bound) * (gains[i] - gains[j]) / best * cost
        return total

    return loss


@pytest.mark.parametrize(("mu", "sigma"), [(0.0, 1.0), (10.0, 1.0), (2.0, 0.5)])
def test_derivatives_of_the_papers_loss_with_its_weights_held_fixed(mu, sigma):
    random = np.random.default_rng(4)
    labels, scores = random.integers(0, 4, 9).tolist(), random.normal(size=9)
    loss = frozen_loss(labels, scores, mu, sigma)
    objective = LambdaLossObjective("ndcg@3", labels, [0, 9], mu=mu, sigma=sigma, normalize=False)
    gradient, hessian = made(objective, scores)
    assert gradient == pytest.approx(slopes(loss, scores), abs=1e-6)
    assert hessian == pytest.approx(bends(loss, scores), abs=2e-5)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("measure", ["ndcg", "dcg", "rbp", "letor4:ndcg"])
def test_without_mu_it_is_lambdarank(measure, normalize):
    random = np.random.default_rng(2)
    labels, query_ptr = random.integers(0, 3, 90), np.array([0, 1, 30, 90])
    options = {"normalize": normalize, "truncation": 7, "seed": 3, "weights": [1, 2, 1]}
    for scores in (random.normal(size=90), np.zeros(90)):
        ours = made(LambdaLossObjective(measure, labels, query_ptr, mu=0.0, **options), scores)
        twin = made(LambdaObjective(measure, labels, query_ptr, **options), scores)
        assert ours[0] == pytest.approx(twin[0], abs=2e-6)
        assert ours[1] == pytest.approx(twin[1], abs=2e-6)
        assert ours[0].any()


def test_with_the_bound_alone_the_loss_is_above_what_ndcg_lacks():
    # Theorem of section 5.2, in logarithms of base 2; the swap is left out of the weights.
    random = np.random.default_rng(0)
    for _ in range(200):
        n = random.integers(2, 8)
        labels, scores = random.integers(0, 3, n), random.normal(size=n)
        if not labels.any():
            continue
        gains, order = 2.0**labels - 1, np.argsort(-scores)
        discounts = 1 / np.log2(np.arange(2, n + 2))
        ndcg = gains[order] @ discounts / (np.sort(gains)[::-1] @ discounts)
        bound = frozen_loss(labels.tolist(), scores, 1.0)(scores) - frozen_loss(labels, scores, 0.0)(scores)
        assert bound / np.log(2) >= 1 - ndcg - 1e-12


def test_threads_change_nothing():
    random = np.random.default_rng(1)
    labels, scores, found = random.integers(0, 3, 4000), random.normal(size=4000), []
    for count in (1, 3):
        with threads(count):
            objective = LambdaLossObjective("ndcg", labels, np.arange(0, 4001, 20))
            found.append(made(objective, scores)[0].tobytes())
    assert found[0] == found[1]


def test_refusals():
    for name in ("ap", "err@5", "sr4"):
        with pytest.raises(InputError, match="weighs pairs by gains and discounts"):
            LambdaLossObjective(name, [0, 1], [0, 2])
    with pytest.raises(InputError, match="mu must be at least 0, found -1"):
        LambdaLossObjective("ndcg", [0, 1], [0, 2], mu=-1)


@dataclass(frozen=True, kw_only=True)
class Two(PositionMeasure):
    """A user's measure whose weights end after two ranks."""

    name = "two"

    def values(self, levels):
        return levels

    def weights(self, n):
        return np.array([1.0, 0.5])[:n], np.ones(min(n, 2))


@pytest.mark.parametrize("measure", ["wta", "sr(clip=false)", Two()])
def test_ranks_that_a_measure_does_not_weigh_count_nothing(measure):
    """Weights shorter than the longest query, which `NUMBA_DISABLE_JIT=1` would show."""
    labels = np.append(np.ones(24), 2)
    objective = LambdaLossObjective(measure, labels, [0, 25], mu=0.0, truncation=25, normalize=False)
    gradient, hessian = np.full((2, 25), np.nan, np.float32)
    objective.gradients(np.arange(25.0, 0, -1), gradient, hessian)
    weights = np.zeros(25)
    own = objective._form.weight
    assert len(own) < 25
    weights[: len(own)] = own
    values = objective._values
    pushes = [
        weights[a] * (values[24] - values[a]) / (1 + np.exp(-(25.0 - a - 1))) for a in range(24)
    ]  # weights of the last rank are 0
    assert gradient[24] == pytest.approx(-sum(pushes), rel=1e-4)
    assert np.isfinite(hessian).all()
