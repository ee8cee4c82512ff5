import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.objectives.listnet import ListNetObjective
from reference.list_losses import bends, slopes, top_k_cross_entropy


def made(objective, scores):
    gradient, hessian = np.empty((2, len(scores)), np.float32)
    return objective.losses(np.array(scores, float), gradient, hessian), gradient, hessian


def test_the_sheet():
    losses, gradient, _ = made(ListNetObjective([2, 1, 0], [0, 3]), [0, 1, 2])
    chances = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
    assert losses == pytest.approx(-chances[::-1] @ np.log(chances))
    assert losses == pytest.approx(1.982816, abs=1e-6)
    assert gradient == pytest.approx([-0.575210, 0, 0.575210], abs=1e-6)
    losses, _, _ = made(ListNetObjective([2, 1, 0], [0, 3], k=2), [0, 1, 2])
    assert losses == pytest.approx(3.233737, abs=1e-6)


lists = st.lists(st.tuples(st.integers(0, 4), st.floats(-5, 5)), min_size=1, max_size=6)


@pytest.mark.parametrize("k", [1, 2])
@given(lists)
def test_equals_the_slow_twin(k, documents):
    labels, scores = map(list, zip(*documents, strict=True))
    losses, gradient, hessian = made(ListNetObjective(labels, [0, len(labels)], k=k), scores)

    def twin(s):
        return top_k_cross_entropy(labels, s, k)

    assert losses[0] == pytest.approx(twin(scores), abs=1e-12)
    assert gradient == pytest.approx(slopes(twin, scores), abs=2e-6)
    assert hessian == pytest.approx(bends(twin, scores), abs=2e-5)


@pytest.mark.parametrize("k", [1, 2])
def test_least_at_the_labels(k):
    labels = np.array([2.0, 0.0, 1.0, 1.0])
    objective = ListNetObjective(labels, [0, 4], k=k)
    best = objective.losses(labels + 7)[0]
    assert best == pytest.approx(top_k_cross_entropy(labels, labels, k))
    assert made(objective, labels)[1] == pytest.approx(np.zeros(4), abs=1e-7)
    assert objective.losses(labels + np.array([0, 0.01, 0, 0]))[0] > best


@pytest.mark.parametrize("k", [3, 9])
def test_sampled_prefixes_are_right_on_average(k):
    labels, scores = [2, 1, 0, 1], [0.5, 1.0, 0.0, -1.0]
    losses, gradient, _ = made(ListNetObjective(labels, [0, 4], k=k, n_samples=40_000), scores)

    def twin(s):
        return top_k_cross_entropy(labels, s, k)

    assert losses[0] == pytest.approx(twin(scores), abs=0.02)
    assert gradient == pytest.approx(slopes(twin, scores), abs=0.02)


def test_prefixes_are_drawn_anew():
    objective = ListNetObjective([2, 1, 0, 1], [0, 4], k=3, n_samples=2)
    scores = np.array([0.5, 1.0, 0.0, -1.0])
    assert len({objective.losses(scores)[0] for _ in range(5)}) > 1


def test_second_document_when_labels_are_far_apart():
    losses, gradient, hessian = made(ListNetObjective([900, 0, 0], [0, 3], k=2), [0.0, 800.0, 1.0])
    assert np.isfinite([*losses, *gradient, *hessian]).all()


def test_refusals():
    for wrong in ({"k": 0}, {"n_samples": 0}):
        with pytest.raises(InputError, match="must be at least 1"):
            ListNetObjective([1], [0, 1], **wrong)
