import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.objectives.xendcg import XENDCGObjective
from reference.list_losses import bends, slopes

LABELS, SCORES = np.array([2.0, 0, 1, 1, 3]), np.array([0.3, 1.0, -0.4, 0.1, -2.0])


def made(objective, scores):
    gradient, hessian = np.full((2, len(scores)), np.nan, np.float32)
    return objective.losses(scores, gradient, hessian), gradient.astype(float), hessian.astype(float)


def softmax(scores):
    powers = np.exp(scores - np.max(scores))
    return powers / powers.sum()


def test_derivatives_of_a_cross_entropy_with_what_was_drawn():
    loss, gradient, hessian = made(XENDCGObjective(LABELS, [0, 5], terms=1), SCORES)
    drawn = softmax(SCORES) - gradient
    assert drawn.sum() == pytest.approx(1, abs=1e-6)

    def twin(scores):
        return -drawn @ np.log(softmax(np.array(scores)))

    assert loss[0] == pytest.approx(twin(SCORES), abs=1e-6)
    assert gradient == pytest.approx(slopes(twin, SCORES), abs=1e-6)
    assert hessian == pytest.approx(bends(twin, SCORES), abs=1e-5)


def test_what_is_drawn_is_the_gain_less_a_uniform_number():
    n = 20_000
    scores = np.zeros(5 * n)
    _, gradient, _ = made(XENDCGObjective(np.tile(LABELS, n), 5 * np.arange(n + 1), terms=1), scores)
    ours = 0.2 - gradient.reshape(n, 5)
    gains = 2**LABELS - np.random.default_rng(0).random((n, 5))
    twin = gains / gains.sum(axis=1, keepdims=True)
    for moment in (1, 2):
        error = np.sqrt(((ours**moment).var(axis=0) + (twin**moment).var(axis=0)) / n)
        assert (np.abs((ours**moment).mean(axis=0) - (twin**moment).mean(axis=0)) < 4.5 * error).all()
    # With documents in pairs of equal gains, the ratio of what was drawn has no preference.
    assert np.mean(ours[:, 2] > ours[:, 3]) == pytest.approx(0.5, abs=0.02)


def test_three_terms_of_the_newton_step():
    _, plain, hessian = made(XENDCGObjective(LABELS, [0, 5], terms=1), SCORES)
    _, gradient, same = made(XENDCGObjective(LABELS, [0, 5]), SCORES)
    chance = softmax(SCORES)
    full = np.diag(chance) - np.outer(chance, chance)
    diagonal = np.diag(np.diag(full))
    rest = (diagonal - full) @ np.linalg.inv(diagonal)
    assert gradient == pytest.approx(plain + rest @ plain + rest @ rest @ plain, abs=1e-6)
    assert hessian.tolist() == same.tolist() == pytest.approx(np.diag(full), abs=1e-7)


def test_queries_of_equal_labels_and_weights_of_nothing_are_left_out():
    labels, query_ptr = np.array([1.0, 1, 2, 0, 0, 1, 3]), [0, 2, 4, 5, 7]
    losses, gradient, hessian = made(XENDCGObjective(labels, query_ptr, weights=[1, 2, 1, 0]), np.arange(7.0))
    assert losses[[0, 2, 3]].tolist() == [0, 0, 0]
    assert np.flatnonzero(gradient).tolist() == np.flatnonzero(hessian).tolist() == [2, 3]
    single, once, _ = made(XENDCGObjective(labels, query_ptr), np.arange(7.0))
    assert losses[1] == pytest.approx(2 * single[1])
    assert gradient[2:4] == pytest.approx(2 * once[2:4])


def test_a_document_far_above_all_others():
    _, gradient, hessian = made(XENDCGObjective([0, 1, 2], [0, 3]), np.array([900.0, 0.0, -900.0]))
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()


def test_same_scores_same_draw_whatever_the_threads():
    rng = np.random.default_rng(1)
    objective = XENDCGObjective(rng.integers(0, 4, 4000), np.arange(0, 4001, 10), seed=7)
    scores, found = rng.random(4000), []
    for count in (1, 3):
        with threads(count):
            found.append(made(objective, scores)[1])
    assert (found[0] == found[1]).all()
    assert not np.isclose(made(objective, scores + 1)[1], found[0]).all()


def test_refusals():
    with pytest.raises(InputError, match="labels between 0 and 1000, found -1"):
        XENDCGObjective([0, -1], [0, 2])
    with pytest.raises(InputError, match="terms must be at least 1, found 0"):
        XENDCGObjective([0, 1], [0, 2], terms=0)
