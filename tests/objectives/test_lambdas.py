import itertools
import re
from dataclasses import dataclass

import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.ndcg import NDCG
from pomona.measures.parse import measure
from pomona.measures.seznam_rank import SR4
from pomona.objectives.lambdaloss import LambdaLossObjective
from pomona.objectives.lambdas import LambdaObjective
from reference.lambdas import lambdas

GRADES = {
    **dict.fromkeys(("letor3:ndcg@5", "letor4:ndcg@10", "letor4:ap", "letor4:p@5", "letor3:p@10"), (0, 1, 2)),
    "sr": (1, 2, 3, 4, 5),
}
CLOSED = [
    *("ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "dcg@5", "p@5", "recall@5", "rbp", "rbp(p=0.5)@4", "wta"),
    "success(relevant=4)@2",
    *("letor3:ndcg@5", "letor4:ndcg@10", "mslr:ndcg@10", "yahoo:ndcg@10", "ranklib:ndcg@5", "sklearn:ndcg@5"),
    *("letor3:p@10", "letor4:p@5", "mslr:p@5", "ranklib:p@10", "rbp(max_grade=4)@7"),
    *("ap", "ap@3", "ap@10", "letor4:ap", "mslr:ap", "lightgbm:ap@5"),
    *("err", "err@5", "yahoo:err", "ranklib:err@10", "pfound", "pfound@10", "rr", "rr@5", "ranklib:rr@10"),
    *("pfound(p_relevant=0/0.3/0.9999999/1/1)", "pfound(p_relevant=0/0.3/0.5/1/1)@4"),
    *("sr", "sr4", "sr4@3", "sr4(clip=false)"),
]
SWAPPED = ["meanndcg", "meanndcg@5", "letor4:meanndcg", "best@3"]
GRADES["letor4:meanndcg"] = (0, 1, 2)


class FirstTwo(Measure):
    """A user's own: the labels of the first two documents multiplied, plus the first."""

    def of_query(self, labels):
        return float(labels[0] * labels[1:2].sum() + labels[0])


class Steps(Measure):
    """Every swap of different labels changes as much as any other."""

    def swap_deltas(self, labels):
        ranks = np.arange(len(labels))
        return np.sign(labels[None, :] - labels[:, None]) * np.sign(ranks[None, :] - ranks[:, None])


class Twice(NDCG):
    """A measure with a closed form, changed in a way that its family does not know."""

    def of_lists(self, lists):
        return 2 * super().of_lists(lists)

    def swap_deltas(self, labels):
        return 2 * super().swap_deltas(labels)


def made(objective, scores):
    gradient, hessian = np.full((2, len(scores)), np.nan, np.float32)
    objective.gradients(np.asarray(scores, np.float64), gradient, hessian)
    return gradient, hessian


def queries(grades, sizes=(2, 6, 13, 24, 41), seed=0):
    random = np.random.default_rng(seed)
    n = sum(sizes)
    labels = random.choice(np.array(grades, float), n, p=_skewed(len(grades)))
    return labels, 2 * random.standard_normal(n), np.concatenate(([0], np.cumsum(sizes)))


def _skewed(n):
    chances = 0.6 ** np.arange(n)
    return chances / chances.sum()


def close(found, expected, tolerance=3e-6):
    return np.abs(found - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-30)


def assert_equals_twin(one, labels, scores, query_ptr, tolerance=3e-6, **options):
    gradient, hessian = made(LambdaObjective(one, labels, query_ptr, **options), scores)
    for begin, end in itertools.pairwise(query_ptr):
        expected = lambdas(
            labels[begin:end].tolist(),
            scores[begin:end].tolist(),
            lambda ranked: one.of_query(np.array(ranked)),
            **options,
        )
        assert close(gradient[begin:end], np.array(expected[0]), tolerance)
        assert close(hessian[begin:end], np.array(expected[1]), tolerance)
        assert abs(gradient[begin:end].sum(dtype=float)) <= 1e-6 * np.abs(gradient[begin:end]).sum()
    assert gradient.any()
    return gradient


OPTIONS = [
    {"normalize": False},
    {"normalize": True},
    {"normalize": True, "truncation": 4, "sigma": 2.0},
    {"normalize": False, "truncation": 1, "sigma": 0.5},
]


@pytest.mark.parametrize("text", CLOSED + SWAPPED)
def test_equals_the_slow_twin(text):
    sizes = (2, 6, 13, 24, 41) if text in CLOSED else (2, 6, 13)  # brute force is slow
    data = queries(GRADES.get(text, (0, 1, 2, 3, 4)), sizes)
    for options in OPTIONS:
        assert_equals_twin(measure(text), *data, **options)


@pytest.mark.parametrize("one", [FirstTwo(), Twice(k=3)], ids=["own", "changed"])
def test_a_users_own_measure(one):
    data = queries((0, 1, 2), (2, 6, 9))
    for options in OPTIONS:
        assert_equals_twin(one, *data, **options)


@pytest.mark.parametrize("text", ["sr4", "sr4(clip=false)", "sr4@3"])
def test_queries_may_have_different_formulas(text):
    # SeznamRank has other weights where no document has the top grade: swaps, query by query, say the same.
    random = np.random.default_rng(3)
    sizes = random.integers(2, 12, 30)
    labels, ends = random.integers(0, 5, sizes.sum()).astype(float), np.concatenate(([0], np.cumsum(sizes)))
    labels[: ends[10]] = np.minimum(labels[: ends[10]], 3)
    relative, scores = random.choice([0.0, 1.0, 2.0], len(labels)), random.normal(size=len(labels))
    by_swaps = LambdaObjective(measure(text), labels, ends, relative=relative)
    by_form = LambdaObjective(measure(text), labels, ends, relative=relative)
    assert len(by_form._parts) == 2
    by_swaps._parts = []
    for expected, found in zip(made(by_swaps, scores), made(by_form, scores), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("text", ["sr4", "sr4(clip=false)"])
def test_what_lambdas_push_towards(text):
    """Swaps of queries of both kinds change the measure as the lambdas think."""
    labels, query_ptr = np.array([3, 0, 2, 1, 4, 0, 1, 2], np.float32), np.array([0, 4, 8])
    gradient, hessian = np.empty((2, 8), np.float32)
    objective = LambdaObjective(text, labels, query_ptr, sigma=1.0, normalize=False)
    objective.gradients(np.zeros(8), gradient, hessian)
    # With equal scores a pair's λ is |Δ| / 2. In the first query, flat: ranks in the objective's order.
    one, expected = SR4(clip="false" not in text), np.zeros(8)
    for begin, end in ((0, 4), (4, 8)):
        order = begin + objective.tie_order[begin:end]
        for a, b in itertools.combinations(range(4), 2):
            i, j = order[a], order[b]
            swapped = labels[order].copy()
            swapped[[a, b]] = swapped[[b, a]]
            push = abs(one.of_query(swapped) - one.of_query(labels[order])) / 2
            if labels[i] != labels[j]:
                better, worse = (i, j) if labels[i] > labels[j] else (j, i)
                expected[better] -= push
                expected[worse] += push
    assert gradient == pytest.approx(expected, abs=1e-6)


class ClippedAtHalf(SR4):
    """A rule of its own, which no formula knows."""

    def of_lists(self, lists):
        return np.minimum(super().of_lists(lists), 0.5)


def test_a_rule_of_its_own_has_no_formula_of_its_parent():
    assert LambdaObjective(ClippedAtHalf(), [4, 0, 3, 0], [0, 2, 4])._parts == []


def test_the_sheet():
    # Labels (2, 1, 0) ranked the wrong way round, against numbers worked out apart.
    labels, scores = [2, 1, 0], [0.0, 1.0, 2.0]
    gradient, hessian = made(LambdaObjective("ndcg", labels, [0, 3], normalize=False), scores)
    assert gradient == pytest.approx([-0.416596, -0.021586, 0.438182], abs=1e-6)
    assert hessian == pytest.approx([0.057554, 0.034164, 0.063360], abs=1e-6)
    gradient, hessian = made(LambdaObjective("ndcg", labels, [0, 3], truncation=30), scores)
    assert gradient == pytest.approx([-0.262379, -0.024043, 0.286422], abs=1e-6)
    assert hessian == pytest.approx([0.040070, 0.038053, 0.046536], abs=1e-6)


def test_with_equal_steps_it_is_ranknet():
    labels, scores, query_ptr = queries((0, 1, 2), (8,))

    def cost(s):
        better = labels[:, None] > labels[None, :]
        return np.log1p(np.exp(-(s[:, None] - s[None, :])))[better].sum()

    gradient, hessian = made(LambdaObjective(Steps(), labels, query_ptr, normalize=False), scores)
    step = 1e-4 * np.eye(len(labels))
    slopes = [(cost(scores + e) - cost(scores - e)) / 2e-4 for e in step]
    bends = [(cost(scores + e) - 2 * cost(scores) + cost(scores - e)) / 1e-8 for e in step]
    assert gradient == pytest.approx(slopes, abs=1e-5)
    assert hessian == pytest.approx(bends, abs=1e-4)
    labels, scores = np.array([2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0])
    assert cost(scores) == pytest.approx(4.753451, abs=1e-6)


def test_labels_may_be_any_numbers():
    random = np.random.default_rng(3)
    labels, scores = 3 * random.random(40), random.standard_normal(40)
    for text in ("ndcg@5", "ndcg(gain=linear)", "err@5", "rbp(max_grade=3)"):
        assert_equals_twin(measure(text), labels, scores, np.array([0, 15, 40]), normalize=True)


@pytest.mark.parametrize("text", ["ndcg", "ndcg@10", "ap", "err@10"])
def test_scores_far_apart_or_far_from_zero(text):
    labels, scores, query_ptr = queries((0, 1, 2, 3, 4))
    for far in (300 * scores, scores + 1e6, np.where(scores > 1, scores + 1000, scores)):
        # Single precision: at a distance of 1000 from the best score, differences are good to 1e-4.
        assert_equals_twin(measure(text), labels, far, query_ptr, tolerance=1e-4, normalize=False)


def dense(labels, scores, weight):
    """NDCG's gradients over all pairs at once, for queries too long for the twin."""
    order = np.argsort(-scores)
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order))
    discount = np.zeros(len(order))
    discount[: len(weight)] = weight
    gain = 2**labels - 1
    ideal = np.sort(gain)[::-1][: len(weight)] @ weight
    delta = np.abs(np.subtract.outer(gain, gain) * np.subtract.outer(discount[rank], discount[rank])) / ideal
    sign = np.sign(np.subtract.outer(labels, labels))
    return -(sign * delta / (1 + np.exp(sign * np.subtract.outer(scores, scores)))).sum(axis=1)


def test_long_queries():
    random = np.random.default_rng(4)
    labels, scores = random.integers(0, 5, 1500).astype(float), random.standard_normal(1500)
    weight = 1 / np.log2(np.arange(2, 1502))
    gradient, _ = made(LambdaObjective("ndcg", labels, [0, 1500], normalize=False), scores)
    assert close(gradient, dense(labels, scores, weight), 1e-5)
    gradient, _ = made(LambdaObjective("ndcg@100", labels, [0, 1500], normalize=False), scores)
    assert close(gradient, dense(labels, scores, weight[:100]), 1e-5)


def test_a_huge_query_with_real_labels():
    random = np.random.default_rng(5)
    labels, scores = 4 * random.random(20_000), random.standard_normal(20_000)
    for text in ("ndcg@10", "ap@10", "err@10"):
        gradient, hessian = made(LambdaObjective(text, labels, [0, len(labels)]), scores)
        assert np.isfinite(gradient).all()
        assert (hessian >= 0).all()
        assert abs(gradient.sum(dtype=float)) < 1e-4 * np.abs(gradient).sum(dtype=float)
        assert gradient.any()


def test_the_measure_says_who_should_rise():
    # Under LETOR's table of gains label 3 is worth nothing: the document of label 2 must rise above it.
    gradient, _ = made(LambdaObjective("letor4:ndcg@1", [3, 2], [0, 2]), [1.0, 0.0])
    assert gradient[1] < 0 < gradient[0]


def test_beyond_the_cut_off_ranks_count_nothing():
    # Rank 2 and rank 3 are both beyond k = 1: only pairs with rank 1 push, by (gain difference) · 1 / ideal.
    gradient, _ = made(LambdaObjective("ndcg@1", [0, 2, 1], [0, 3], normalize=False), [2.0, 1.0, 0.0])
    first, second = 1 / (1 + np.exp(-1)), (1 / 3) / (1 + np.exp(-2))
    assert gradient == pytest.approx([first + second, -first, -second], abs=1e-6)


@pytest.mark.parametrize("text", ["ndcg@3", "letor4:ndcg@10", "ap", "err", "sr4", "meanndcg", "yahoo:ndcg"])
def test_queries_that_teach_nothing(text):
    labels = np.array([1, 1, 1, 2, 0, 0, 0, 1, 0])
    query_ptr = [0, 3, 4, 4, 7, 9]  # equal labels, one document, none, nothing relevant, a pair
    objective = LambdaObjective(text, labels, query_ptr)
    gradient, hessian = made(objective, np.arange(9.0))
    assert not gradient[:7].any()
    assert not hessian[:7].any()
    # Two documents are fewer than k = 10, and then NDCG is 0 by LETOR's rules, whatever the order.
    assert objective.n_usable_queries == (0 if text == "letor4:ndcg@10" else 1)
    assert gradient[7:].any() == (text != "letor4:ndcg@10")


def test_shuffled_documents():
    labels, scores, query_ptr = queries((0, 1, 2, 3, 4), (50, 70))
    order = np.concatenate((np.random.default_rng(1).permutation(50), 119 - np.arange(70)))
    for text in ("ndcg@10", "ndcg", "ap", "err@5", "sr4"):
        gradient, hessian = made(LambdaObjective(text, labels, query_ptr), scores)
        moved, moved_hessian = made(LambdaObjective(text, labels[order], query_ptr), scores[order])
        assert close(moved, gradient[order])
        assert close(moved_hessian, hessian[order])


def test_any_number_of_threads_gives_the_same_bits():
    labels, scores, query_ptr = queries((0, 1, 2, 3, 4), np.random.default_rng(0).integers(1, 60, 300))
    for text in ("ndcg@10", "ap", "err"):
        found = []
        for count in (1, 2, 4):
            with threads(count):
                objective = LambdaObjective(text, labels, query_ptr)
                found.append([made(objective, scores), made(objective, scores.round(1))])
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])


def test_earlier_rounds_leave_no_trace():
    labels, scores, query_ptr = queries((0, 1, 2, 3, 4), (5, 30, 150, 150))
    random = np.random.default_rng(2)
    for text in ("ndcg@10", "ndcg", "meanndcg@2"):
        if text == "meanndcg@2":
            labels, scores, query_ptr = labels[:5], scores[:5], query_ptr[:2]
        used = LambdaObjective(text, labels, query_ptr)
        for tied in (np.zeros(len(scores)), scores, scores.round(), np.ones(len(scores))):
            made(used, random.standard_normal(len(scores)))
            assert np.array_equal(made(used, tied), made(LambdaObjective(text, labels, query_ptr), tied))


def test_ties_are_broken_by_the_seed_and_not_by_input_order():
    labels = np.repeat([2.0, 1.0, 0.0], 10)
    tied = np.zeros(30)
    by_seed = [made(LambdaObjective("ndcg@5", labels, [0, 30], seed=seed), tied)[0] for seed in (0, 0, 1)]
    assert np.array_equal(by_seed[0], by_seed[1])
    assert not np.array_equal(by_seed[0], by_seed[2])
    # In input order the first five would stand right already; now others are pushed up as well.
    assert (by_seed[0][10:] != 0).any()
    in_input_order = made(LambdaObjective("ndcg@5", labels, [0, 30]), -1e-9 * np.arange(30))[0]
    assert not close(by_seed[0], in_input_order, 0.1)


def test_weights_of_queries():
    labels, scores, query_ptr = queries((0, 1, 2), (10, 20, 30))
    for text in ("ndcg@5", "meanndcg"):
        plain = made(LambdaObjective(text, labels, query_ptr), scores)
        weighted = made(LambdaObjective(text, labels, query_ptr, weights=[1, 0, 2.5]), scores)
        factor = np.repeat([1, 0, 2.5], [10, 20, 30])
        assert close(weighted[0], factor * plain[0])
        assert close(weighted[1], factor * plain[1])


def test_scores_of_other_kinds_and_read_only():
    labels, scores, query_ptr = queries((0, 1, 2), (10, 20))
    objective = LambdaObjective("ndcg@5", labels, query_ptr)
    expected = made(objective, scores.astype(np.float32).astype(np.float64))
    frozen = scores.astype(np.float32)
    frozen.setflags(write=False)
    out = np.empty((2, 30), np.float32)
    objective.gradients(frozen, out[0], out[1])
    assert np.array_equal(out, expected)
    assert objective.start() == 0
    assert objective.n_outputs == 1


def test_no_documents():
    assert LambdaObjective("ndcg", [], [0, 0]).n_usable_queries == 0
    made(LambdaObjective("ndcg@3", [], [0]), [])


def test_what_is_refused():
    with pytest.raises(InputError, match="sigma must be above 0"):
        LambdaObjective("ndcg", [1, 0], [0, 2], sigma=0)
    with pytest.raises(InputError, match="truncation must be at least 1"):
        LambdaObjective("ndcg", [1, 0], [0, 2], truncation=0)
    with pytest.raises(InputError, match="found 1 scores for 2 documents"):
        LambdaObjective("ndcg", [1, 0], [0, 2]).gradients(np.zeros(1), *np.zeros((2, 2), np.float32))


@pytest.mark.parametrize(("measure", "label"), [("dcg", 200), ("dcg@2", 128), ("dcg(gain=linear)", 1e31)])
def test_gains_that_lambdas_cannot_hold_are_refused(measure, label):
    with pytest.raises(InputError, match=re.escape(f"label {label:g} has a gain of")):
        LambdaObjective(measure, [label, 0, 1], [0, 3])
    LambdaObjective(measure.replace("dcg", "ndcg"), [label, 0, 1], [0, 3])  # over the best sum: at most 1


@dataclass(frozen=True, kw_only=True)
class Huge(Measure):
    name = "huge"

    def of_query(self, labels):
        return 1e200 * labels[0]


def test_changes_that_lambdas_cannot_hold_are_refused():
    objective = LambdaObjective(Huge(), [2, 0, 1], [0, 3])
    with pytest.raises(InputError, match="labels 0 to 2 trade places"):
        objective.gradients(np.zeros(3), *np.empty((2, 3), np.float32))


def test_lambdas_that_overflow_come_to_an_end():
    objective = LambdaLossObjective("dcg", [2, 0, 1], [0, 3], mu=1e308, sigma=1e300)
    gradient, hessian = np.empty((2, 3), np.float32)
    with np.errstate(all="ignore"):
        objective.gradients(np.arange(3.0), gradient, hessian)
    assert not np.isfinite(gradient).all()
