import itertools

import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.objectives.listmle import ListMLEObjective
from pomona.objectives.listnet import ListNetObjective
from pomona.objectives.query_objective import QueryObjective
from pomona.objectives.ranknet import RankNetObjective
from pomona.objectives.softrank import SoftRankObjective

KINDS = {
    "ranknet": RankNetObjective,
    "listnet": ListNetObjective,
    "listnet top 2": lambda *data, **more: ListNetObjective(*data, k=2, **more),
    "listnet sampled": lambda *data, **more: ListNetObjective(*data, k=3, **more),
    "listmle": ListMLEObjective,
    "softndcg": lambda *data, **more: SoftRankObjective("ndcg@3", *data, **more),
    "softap": lambda *data, **more: SoftRankObjective("ap", *data, **more),
}


def queries(sizes=(7, 1, 12, 5, 30), seed=0):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, sum(sizes)).astype(float)
    labels[8:20] = 0  # a query without a relevant document
    return labels, np.concatenate(([0], np.cumsum(sizes))), random.standard_normal(sum(sizes))


def made(objective, scores):
    gradient, hessian = np.full((2, len(scores)), np.nan, np.float32)
    return objective.losses(scores, gradient, hessian), gradient, hessian


@pytest.mark.parametrize("kind", KINDS)
def test_contract(kind):
    labels, query_ptr, scores = queries()
    losses, gradient, hessian = made(KINDS[kind](labels, query_ptr), scores)
    assert losses.shape == (5,)
    assert (hessian >= 0).all()
    for begin, end in itertools.pairwise(query_ptr):
        # Scores of a query may be shifted: what some documents gain, others lose.
        assert gradient[begin:end].sum(dtype=float) == pytest.approx(0, abs=1e-6)
    assert gradient[7] == 0  # alone in its query
    assert made(KINDS[kind](labels, query_ptr), scores + 100)[1] == pytest.approx(gradient, abs=1e-6)
    out = np.empty((2, len(scores)), np.float32)
    KINDS[kind](labels, query_ptr).gradients(scores, *out)
    assert (out[0] == gradient).all()
    assert KINDS[kind](labels, query_ptr).start() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_weights_multiply(kind):
    labels, query_ptr, scores = queries()
    weights = np.array([1.0, 1.0, 0.0, 2.0, 0.5])
    losses, gradient, _ = made(KINDS[kind](labels, query_ptr), scores)
    weighted_losses, weighted, _ = made(KINDS[kind](labels, query_ptr, weights=weights), scores)
    assert weighted_losses == pytest.approx(weights * losses)
    assert weighted == pytest.approx(np.repeat(weights, np.diff(query_ptr)) * gradient, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind):
    labels, query_ptr, scores = queries(sizes=(9,) * 300)
    found = []
    for count in (1, 3):
        with threads(count):
            found.append(made(KINDS[kind](labels, query_ptr), scores))
    assert all((one == other).all() for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_scores_far_apart_stay_finite(kind):
    labels, query_ptr, scores = queries()
    for far in (1e3 * scores, np.where(scores > 1, scores + 5000, scores)):
        assert all(np.isfinite(part).all() for part in made(KINDS[kind](labels, query_ptr), far))


def test_refusals():
    with pytest.raises(InputError, match="found 2 scores for 3 documents"):
        RankNetObjective([2, 1, 0], [0, 3]).losses(np.zeros(2))
    with pytest.raises(InputError, match="found 3 weights for 1 queries"):
        RankNetObjective([2, 1, 0], [0, 3], weights=[1, 1, 1])
    with pytest.raises(TypeError, match="abstract"):
        QueryObjective([1], [0, 1])
