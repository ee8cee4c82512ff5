"""Weights of documents inside their queries: a pair counts r_i r_j, a term r_i, 0 leaves a document out."""

from dataclasses import dataclass

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.objectives.lambdaloss import LambdaLossObjective
from pomona.objectives.lambdas import LambdaObjective
from pomona.objectives.listmle import ListMLEObjective
from pomona.objectives.listnet import ListNetObjective
from pomona.objectives.multinomial import MultinomialObjective
from pomona.objectives.noisy import NoisyObjective
from pomona.objectives.ordinal import OrdinalObjective
from pomona.objectives.ranknet import RankNetObjective
from pomona.objectives.regression import RegressionObjective
from pomona.objectives.softrank import SoftRankObjective
from pomona.objectives.xendcg import XENDCGObjective

LABELS = np.array([2.0, 0, 1, 0, 1, 0, 3, 1, 0, 2, 2, 0])
QUERY_PTR = np.array([0, 5, 7, 12])
WEIGHTS = np.array([2.0, 1.0, 0.5])
RELATIVE = np.array([1.5, 0.5, 0, 2, 1, 1, 1, 0.25, 1.75, 0, 2, 1])
SCORES = np.random.default_rng(1).normal(size=12)


@dataclass(frozen=True, kw_only=True)
class Plain(pm.Measure):
    """NDCG@3 without its closed form."""

    name = "plain"

    def of_query(self, labels):
        return pm.measure("ndcg@3").of_query(labels)


LISTS = {
    "ranknet": RankNetObjective,
    "ranknet, sum": lambda *a, **b: RankNetObjective(*a, **b, average=False, sigma=2.0),
    "listnet": ListNetObjective,
    "listnet, k=2": lambda *a, **b: ListNetObjective(*a, **b, k=2),
    "listnet, k=3": lambda *a, **b: ListNetObjective(*a, **b, k=3),
    "listmle": ListMLEObjective,
    "listmle, k=2": lambda *a, **b: ListMLEObjective(*a, **b, k=2),
    "xendcg": lambda *a, **b: XENDCGObjective(*a, **b, terms=1),
}
SOFT = {
    "soft ndcg": lambda *a, **b: SoftRankObjective("ndcg@3", *a, **b),
    "soft ndcg of whole lists": lambda *a, **b: SoftRankObjective("ndcg", *a, **b),
    "soft ap": lambda *a, **b: SoftRankObjective("ap", *a, **b),
}
LAMBDAS = {
    **{
        measure: lambda *a, measure=measure, **b: LambdaObjective(measure, *a, **b)
        for measure in ("ndcg", "ndcg@2", "ap", "err", "rr", "rbp@3")
    },
    "by swaps": lambda *a, **b: LambdaObjective(Plain(), *a, **b),
    "one query with a ceiling": lambda *a, **b: LambdaObjective(pm.measure("sr4"), *a, **b),
    "truncated": lambda *a, **b: LambdaObjective("ndcg", *a, **b, truncation=2, normalize=False),
    "lambdaloss": lambda *a, **b: LambdaLossObjective("ndcg", *a, **b),
    "noisy": lambda *a, **b: NoisyObjective(LambdaObjective("ndcg", *a, **b), scale=0.3, n_draws=2),
}
ALL = {**LISTS, **SOFT, **LAMBDAS}


def data_of(make):
    """Labels and offsets of three queries, or of one, which a ceiling needs."""
    if make is LAMBDAS["one query with a ceiling"]:
        return LABELS[:5] * 2, QUERY_PTR[:2], WEIGHTS[:1], RELATIVE[:5], SCORES[:5]
    return LABELS, QUERY_PTR, WEIGHTS, RELATIVE, SCORES


def derivatives(objective, scores):
    gradient, hessian = np.full((2, len(scores)), 9, np.float32)
    objective.gradients(scores, gradient, hessian)
    return gradient, hessian


@pytest.mark.parametrize("name", ALL)
def test_1_for_all_documents_changes_no_bit(name):
    labels, query_ptr, weights, relative, scores = data_of(ALL[name])
    without = derivatives(ALL[name](labels, query_ptr, weights=weights), scores)
    ones = derivatives(ALL[name](labels, query_ptr, weights=weights, relative=np.ones(len(relative))), scores)
    if "ranknet" in name:  # adds in another order
        assert ones[0] == pytest.approx(without[0], rel=1e-6)
        assert ones[1] == pytest.approx(without[1], rel=1e-6)
    else:
        assert ones[0].tobytes() == without[0].tobytes()
        assert ones[1].tobytes() == without[1].tobytes()


@pytest.mark.parametrize("name", ALL)
def test_a_document_of_weight_0_is_not_moved(name):
    labels, query_ptr, weights, relative, scores = data_of(ALL[name])
    gradient, hessian = derivatives(ALL[name](labels, query_ptr, weights=weights, relative=relative), scores)
    assert not gradient[relative == 0].any()
    assert not hessian[relative == 0].any()
    assert gradient.any()


@pytest.mark.parametrize("name", LISTS)
def test_a_document_of_weight_0_might_as_well_not_be_there(name):
    kept = RELATIVE > 0
    fewer_ptr = np.concatenate(([0], np.cumsum(kept)))[QUERY_PTR]
    made = LISTS[name](LABELS, QUERY_PTR, weights=WEIGHTS, relative=RELATIVE)
    fewer = LISTS[name](LABELS[kept], fewer_ptr, weights=WEIGHTS, relative=RELATIVE[kept])
    scores = np.where(kept, SCORES, 50.0)
    assert derivatives(made, scores)[0][kept].tolist() == derivatives(fewer, SCORES[kept])[0].tolist()
    assert made.losses(scores).shape == (3,)


@pytest.mark.parametrize("name", [*LISTS, *SOFT])
def test_gradients_are_slopes_of_the_loss(name):
    if name in ("listnet, k=3", "xendcg"):
        pytest.skip("draws anew at other scores")
    labels = np.array([2.0, 0, 1, 3, 4, 5, 1, 0, 2, 4, 3, 7]) / 2  # ListMLE draws orders of equal labels
    relative = np.where(RELATIVE > 0, RELATIVE, 0.5)
    objective = ALL[name](labels, QUERY_PTR, weights=WEIGHTS, relative=relative)
    gradient = derivatives(objective, SCORES)[0]
    for i in range(len(SCORES)):
        step = 1e-5 * (np.arange(len(SCORES)) == i)
        slope = (objective.losses(SCORES + step).sum() - objective.losses(SCORES - step).sum()) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_pairs_count_by_the_product_of_their_weights():
    r = np.array([2.0, 0.5, 1.0])
    gradient, hessian = derivatives(
        RankNetObjective([2, 1, 0], [0, 3], weights=[3.0], relative=r, average=False), np.zeros(3)
    )
    pairs = {(0, 1): 2 * 0.5, (0, 2): 2 * 1, (1, 2): 0.5 * 1}
    assert gradient == pytest.approx(
        [-3 * (pairs[0, 1] + pairs[0, 2]) / 2, 3 * (pairs[0, 1] - pairs[1, 2]) / 2, 3 * (2 + 0.5) / 2]
    )
    assert hessian == pytest.approx([3 * 3 / 4, 3 * 1.5 / 4, 3 * 2.5 / 4])
    mean = derivatives(RankNetObjective([2, 1, 0], [0, 3], weights=[3.0], relative=r), np.zeros(3))[0]
    assert mean == pytest.approx(gradient / (1 + 2 + 0.5))


@pytest.mark.parametrize("measure", ["dcg", "dcg@1", Plain()])
def test_lambdas_count_by_the_product_of_weights(measure):
    r, labels, scores = np.array([2.0, 0.5, 0.0, 1.0]), np.array([1, 2, 3, 0]), np.array([0.3, 0.2, 0.1, 0.0])
    made = LambdaObjective(measure, labels, [0, 4], weights=[3.0], relative=r, normalize=False)
    gradient, hessian = derivatives(made, scores)
    deltas = pm.measure(measure).swap_deltas(labels.astype(float))
    expected, bends = np.zeros((2, 4))
    for a in range(4):
        for b in range(a + 1, 4):
            delta = deltas[a, b] * r[a] * r[b] * 3  # what the measure gains when b rises to a
            up, down = (b, a) if delta > 0 else (a, b)
            rho = 1 / (1 + np.exp(scores[up] - scores[down]))
            expected[up] -= abs(delta) * rho
            expected[down] += abs(delta) * rho
            bends[[a, b]] += abs(delta) * rho * (1 - rho)
    assert gradient == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert hessian == pytest.approx(bends, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("name", ["listnet", "ranknet", "xendcg"])
def test_a_document_of_weight_2_is_as_two_of_weight_1(name):
    """w̄ r: weights 2, 1, 1 have the mean 4/3; drawn chances and means over pairs know no scale."""
    labels, scores = np.array([2.0, 0, 1]), np.array([0.3, -0.2, 0.1])
    r = np.array([2, 1, 1]) / (4 / 3)
    one = LISTS[name](labels, [0, 3], weights=[1.0], relative=r)
    if name == "xendcg":
        one = XENDCGObjective(labels * 40, [0, 3], relative=r, terms=1)  # γ is nothing beside such gains
        two = XENDCGObjective(labels[[0, 0, 1, 2]] * 40, [0, 4], terms=1)
    else:
        two = LISTS[name](labels[[0, 0, 1, 2]], [0, 4])
    gradient = derivatives(one, scores)[0]
    twice = derivatives(two, scores[[0, 0, 1, 2]])[0]
    assert gradient == pytest.approx([twice[0] + twice[1], twice[2], twice[3]], rel=1e-5)


def test_orders_count_by_the_weights_of_documents():
    r, s = np.array([2.0, 0.5, 1.0]), np.array([0.3, -0.2, 0.1])
    strength = r * np.exp(s)
    made = ListMLEObjective([2, 1, 0], [0, 3], weights=[3.0], relative=r)
    chances = strength[0] / strength.sum(), strength[1] / (strength[1] + strength[2])
    expected = 3 * (-2.0 * np.log(chances[0]) - 0.5 * np.log(chances[1]))
    assert made.losses(s) == pytest.approx([expected])


def test_softrank_sums_terms_by_weights():
    one = [
        SoftRankObjective("dcg@2", [1, 1, 0], [0, 3], relative=r).losses(SCORES[:3])[0]
        for r in ([1, 0, 1], [0, 1, 1], [2, 0.5, 1])
    ]
    assert one[2] == pytest.approx(2 * one[0] + 0.5 * one[1])


@pytest.mark.parametrize("make", [RegressionObjective, OrdinalObjective, MultinomialObjective])
def test_labels_of_weight_0_are_nothing_to_learn(make):
    labels, weights = np.array([2.0, 0, 1, 7]), np.array([1.0, 2, 0.5, 0])
    n_outputs = make(labels, weights=weights).n_outputs
    shape = (4,) if n_outputs == 1 else (n_outputs, 4)
    gradient, hessian = np.empty((2, *shape), np.float32)
    objective, fewer = make(labels, weights=weights), make(labels[:3], weights=weights[:3])
    objective.gradients(np.zeros(shape), gradient, hessian)
    some = np.empty((2, *shape[:-1], 3), np.float32)
    fewer.gradients(np.zeros((*shape[:-1], 3)), *some)
    assert gradient[..., :3].tolist() == some[0].tolist()
    assert not gradient[..., 3].any()
    assert objective.start() == fewer.start()


def test_a_gain_beyond_all_bounds_of_a_document_of_weight_0_is_no_matter():
    gradient, hessian = np.empty((2, 2), np.float32)
    RegressionObjective([3000, 1], target="gain", weights=[0, 1]).gradients(np.ones(2), gradient, hessian)
    assert gradient.tolist() == [0, 0]
    with pytest.raises(InputError, match="label 200 has a gain of"):
        RegressionObjective([200, 1], target="gain")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("relative", [[1.0], -np.ones(12), np.full(12, np.nan)])
def test_what_is_no_weight_is_refused(name, relative):
    with pytest.raises(InputError, match="weights"):
        ALL[name](LABELS, QUERY_PTR, relative=relative)
