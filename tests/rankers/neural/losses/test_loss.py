"""What every loss promises: it is the objective of the same name, on padded batches."""

import itertools

import numpy as np
import pytest
import torch

from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure
from pomona.objectives.lambdas import LambdaObjective
from pomona.objectives.listmle import ListMLEObjective
from pomona.objectives.listnet import ListNetObjective
from pomona.objectives.query_objective import QueryObjective
from pomona.objectives.ranknet import RankNetObjective
from pomona.objectives.softrank import SoftRankObjective, soft_form
from pomona.rankers.neural.losses.lambdas import LambdaLoss
from pomona.rankers.neural.losses.listmle import ListMLELoss
from pomona.rankers.neural.losses.listnet import ListNetLoss
from pomona.rankers.neural.losses.ranknet import RankNetLoss
from pomona.rankers.neural.losses.softrank import SoftRankLoss
from pomona.rankers.neural.training.padding import Padding

CPU = torch.device("cpu")


def lists_of(labels, query_ptr):
    return RankedLists.of_documents(labels, query_ptr)


def ranknet(sigma=1.5, average=True):
    return (
        lambda labels, query_ptr: RankNetObjective(labels, query_ptr, sigma=sigma, average=average),
        lambda labels, _, padding: RankNetLoss(padding, labels, sigma=sigma, average=average),
    )


def listnet(k):
    return (
        lambda labels, query_ptr: ListNetObjective(labels, query_ptr, k=k),
        lambda labels, _, padding: ListNetLoss(padding, labels, k=k, n_samples=1),
    )


def listmle(k):  # of labels that all differ: equal ones are drawn in another order by each
    return (
        lambda labels, query_ptr: ListMLEObjective(labels, query_ptr, k=k),
        lambda labels, _, padding: ListMLELoss(padding, labels, k=k),
    )


def softrank(text):
    return (
        lambda labels, query_ptr: SoftRankObjective(text, labels, query_ptr, sigma=0.7),
        lambda labels, query_ptr, padding: SoftRankLoss(
            padding, soft_form(measure(text), lists_of(labels, query_ptr)), sigma=0.7
        ),
    )


def lambdas(text, **options):
    options = {"sigma": 1.0, "truncation": None, "normalize": False, **options}
    return (
        lambda labels, query_ptr: LambdaObjective(text, labels, query_ptr, **options),
        lambda labels, query_ptr, padding: LambdaLoss(
            padding, measure(text).closed_form(lists_of(labels, query_ptr)), **options
        ),
    )


KINDS = {
    "ranknet": ranknet(),
    "ranknet, sums": ranknet(sigma=1.0, average=False),
    "listnet": listnet(1),
    "listnet, top 2": listnet(2),
    "listmle": listmle(None),
    "listmle, top 3": listmle(3),
    **{
        f"soft {text}": softrank(text)
        for text in ("ndcg", "ndcg@1", "ndcg@5", "letor4:ndcg@5", "p@3", "rbp", "ap")
    },
    **{
        f"lambdas of {text}": lambdas(text)
        for text in (
            "ndcg",
            "ndcg@5",
            "letor4:ndcg@5",
            "p@5",
            "rbp@7",
            "ap",
            "ap@4",
            "err",
            "err@5",
            "rr",
            "sr4",
        )
    },
    "lambdas, normalized": lambdas("ndcg@5", normalize=True, sigma=2.0),
    "lambdas, truncated": lambdas("ndcg", normalize=True, truncation=3),
}


def queries(kind, sizes=(7, 1, 2, 12, 30, 5), seed=0):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, sum(sizes)).astype(np.float32)
    labels[10:22] = 0  # a query without a relevant document
    if "listmle" in kind:
        labels = random.permutation(sum(sizes)).astype(np.float32)
    query_ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return labels, query_ptr, random.standard_normal(sum(sizes))


def called(kind, labels, query_ptr, scores, fill=0.0, longer=0):
    """Losses and flat gradient, optionally of a batch that a longer query is added to."""
    if longer:
        labels, scores = (
            np.append(labels, np.resize(labels, longer)),
            np.append(scores, np.resize(scores, longer)),
        )
        query_ptr = np.append(query_ptr, len(labels))
    padding = Padding(query_ptr, CPU)
    loss = KINDS[kind][1](labels, query_ptr, padding)
    losses, gradient = loss(padding.pad(torch.tensor(scores), fill=fill))
    return losses, padding.flat(gradient)


@pytest.mark.parametrize("kind", KINDS)
def test_is_the_objective(kind):
    labels, query_ptr, scores = queries(kind)
    losses, gradient = called(kind, labels, query_ptr, scores)
    objective = KINDS[kind][0](labels, query_ptr)
    expected, hessian = np.empty((2, len(scores)), np.float32)
    if isinstance(objective, QueryObjective):
        assert losses.numpy() == pytest.approx(
            objective.losses(scores, expected, hessian), rel=1e-6, abs=1e-9
        )
    else:
        objective.gradients(scores, expected, hessian)
        assert losses is None
    assert expected.any()
    assert gradient.numpy() == pytest.approx(expected, rel=1e-5, abs=3e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind):
    labels, query_ptr, scores = queries(kind)
    losses, gradient = called(kind, labels, query_ptr, scores)
    for more in ({"fill": 1e9}, {"fill": -1e9}, {"longer": 50}):
        others, found = called(kind, labels, query_ptr, scores, **more)
        assert found[: len(scores)].numpy() == pytest.approx(gradient.numpy(), abs=1e-12)
        if losses is not None:
            assert others[: len(losses)].numpy() == pytest.approx(losses.numpy(), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_follow_their_documents(kind):
    labels, query_ptr, scores = queries(kind)
    order = np.concatenate(
        [np.random.default_rng(1).permutation(np.arange(a, b)) for a, b in itertools.pairwise(query_ptr)]
    )
    _, gradient = called(kind, labels, query_ptr, scores)
    _, shuffled = called(kind, labels[order], query_ptr, scores[order])
    assert shuffled.numpy() == pytest.approx(gradient.numpy()[order], abs=1e-12)
    assert padded_sums(gradient.numpy(), query_ptr) == pytest.approx(0, abs=1e-6)


def padded_sums(values, query_ptr):
    return np.add.reduceat(values, query_ptr[:-1])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "lambdas" not in kind])
def test_gradient_is_the_finite_difference(kind):
    labels, query_ptr, scores = queries(kind)
    _, gradient = called(kind, labels, query_ptr, scores)
    step = 1e-5
    for i in range(0, len(scores), 5):
        up, down = scores.copy(), scores.copy()
        up[i] += step
        down[i] -= step
        slope = (
            called(kind, labels, query_ptr, up)[0].sum() - called(kind, labels, query_ptr, down)[0].sum()
        ) / (2 * step)
        assert float(gradient[i]) == pytest.approx(float(slope), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_is_enough(kind):
    labels, query_ptr, scores = queries(kind)
    _, gradient = called(kind, labels, query_ptr, scores)
    _, single = called(kind, labels, query_ptr, scores.astype(np.float32))
    assert single.numpy() == pytest.approx(gradient.numpy(), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_far_apart_stay_finite(kind):
    labels, query_ptr, scores = queries(kind)
    for far in (1e3 * scores, np.where(scores > 1, scores + 5000, scores), 0 * scores):
        losses, gradient = called(kind, labels, query_ptr, far.astype(np.float32))
        assert gradient.isfinite().all()
        assert losses is None or losses.isfinite().all()
