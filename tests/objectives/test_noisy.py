import numpy as np
import pytest
from scipy import stats

from pomona._jit import threads
from pomona.errors import InputError
from pomona.objectives.lambdas import LambdaObjective
from pomona.objectives.noisy import NoisyObjective
from reference.lambdas import lambdas

LABELS, SCORES = np.array([2.0, 0, 1, 0, 3, 1]), np.array([0.3, 1.0, -0.4, 0.1, 0.0, 0.7])
GAINS, DISCOUNTS = 2**LABELS - 1, 1 / np.log2(np.arange(2, 8))
BEST = np.sort(GAINS)[::-1] @ DISCOUNTS


class Remembering:
    """The scores that it was asked at."""

    n_outputs, tie_order = 1, None

    def __init__(self):
        self.asked = []

    def start(self):
        return 3.5

    def gradients(self, scores, out_gradient, out_hessian):
        self.asked.append(scores.copy())
        out_gradient[:], out_hessian[:] = scores, scores**2


def made(objective, scores):
    gradient, hessian = np.full((2, len(scores)), np.nan, np.float32)
    objective.gradients(scores, gradient, hessian)
    return gradient, hessian


def ndcg(ranked):
    return (2 ** np.array(ranked) - 1) @ DISCOUNTS / BEST


def test_the_noise_is_gumbel_s_and_of_every_document_and_draw_its_own():
    inner, scores = Remembering(), np.linspace(-1, 1, 5000)
    made(NoisyObjective(inner, scale=0.5, n_draws=7, seed=3), scores)
    noise = (np.array(inner.asked) - scores) / 0.5
    assert noise.shape == (7, 5000)
    assert stats.kstest(noise.ravel(), stats.gumbel_r.cdf).pvalue > 0.01
    among = np.corrcoef(np.vstack([noise, np.roll(noise, 1, axis=1)]))
    assert np.abs(among - np.eye(14)).max() < 0.06


def test_the_mean_of_the_draws():
    inner = Remembering()
    gradient, hessian = made(NoisyObjective(inner, scale=2.0, n_draws=3), SCORES)
    assert gradient == pytest.approx(np.mean(inner.asked, axis=0), rel=1e-6)
    assert hessian == pytest.approx(np.mean(np.square(inner.asked), axis=0), rel=1e-6)
    assert NoisyObjective(inner, scale=1.0).start() == 3.5


@pytest.mark.parametrize("normalize", [False, True])
def test_lambdas_are_those_of_many_plainly_drawn_rankings(normalize):
    random = np.random.default_rng(0)
    drawn = [
        lambdas(LABELS.tolist(), (SCORES + 0.5 * random.gumbel(size=6)).tolist(), ndcg, normalize=normalize)
        for _ in range(4000)
    ]
    objective = LambdaObjective("ndcg", LABELS, [0, 6], normalize=normalize)
    ours = made(NoisyObjective(objective, scale=0.5, n_draws=20_000, seed=1), SCORES)
    for part in (0, 1):
        twin = np.array([one[part] for one in drawn])
        error = twin.std(axis=0) / np.sqrt(len(twin))
        assert (np.abs(ours[part] - twin.mean(axis=0)) < 4.5 * error + 1e-4).all()


def test_same_scores_same_noise_and_others_other_noise():
    inner = Remembering()
    objective = NoisyObjective(inner, scale=1.0, n_draws=1, seed=5)
    for scores in (SCORES, SCORES, SCORES + 0.1):
        made(objective, scores)
    made(NoisyObjective(inner, scale=1.0, n_draws=1, seed=6), SCORES)
    first, again, moved, reseeded = inner.asked
    assert (first == again).all()
    assert not np.isclose(moved - SCORES - 0.1, first - SCORES).any()
    assert not np.isclose(reseeded, first).any()


def test_threads_change_nothing():
    scores = np.random.default_rng(2).random(50_000)
    found = []
    for count in (1, 3):
        with threads(count):
            found.append(made(NoisyObjective(Remembering(), scale=1.0), scores)[0].tobytes())
    assert found[0] == found[1]


def test_refusals():
    with pytest.raises(InputError, match="scale of noise must be above 0, found 0"):
        NoisyObjective(Remembering(), scale=0.0)
    with pytest.raises(InputError, match="n_draws must be at least 1, found 0"):
        NoisyObjective(Remembering(), scale=1.0, n_draws=0)
