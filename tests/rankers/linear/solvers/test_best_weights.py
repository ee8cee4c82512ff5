import numpy as np
import pytest

import pomona as pm
from pomona.measures.parse import measure
from pomona.rankers.linear.solvers.best_weights import BestWeights

# Ranked by the first feature the relevant document comes first, by the second last.
DATA = pm.Dataset([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], [1, 0, 0], [7, 7, 7])
GOOD, BAD = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def trial(valid=DATA):
    return BestWeights(measure("ap"), DATA, valid)


def test_the_first_of_the_best_is_kept():
    best = trial()
    best.offer(BAD, step=1.0)
    best.offer(GOOD, step=2.0)
    best.offer(2 * GOOD, step=3.0)
    best.offer(BAD, step=4.0)
    assert best.found().tolist() == [1.0, 0.0]
    assert best.settings == {"step": 2.0}
    assert best.evals == {part: [1 / 3, 1.0, 1.0, 1 / 3] for part in ("train", "valid")}


def test_without_validation_the_last_is_kept():
    best = trial(valid=None)
    best.offer(GOOD)
    best.offer(BAD)
    assert best.found().tolist() == [0.0, 1.0]
    assert best.evals == {}


def test_curves_are_those_of_the_best_path():
    best = trial()
    for coef in (BAD, GOOD):
        best.start_path()
        best.offer(coef)
        best.offer(BAD)
    assert best.evals["valid"] == [1.0, 1 / 3]


def test_offers_are_copied():
    best, coef = trial(), GOOD.copy()
    best.offer(coef)
    coef[:] = 9
    assert best.found().tolist() == [1.0, 0.0]


def test_ctrl_c_keeps_the_best_so_far():
    best = trial()

    def search():
        with best.until_interrupted():
            best.offer(GOOD)
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted: keeping the best"):
        search()
    assert best.interrupted
    assert best.found().tolist() == [1.0, 0.0]


def test_ctrl_c_before_the_first_offer_keeps_nothing():
    best = trial()
    with pytest.raises(KeyboardInterrupt), best.until_interrupted():
        raise KeyboardInterrupt
    with pytest.raises(ValueError, match="no weights"):
        best.found()


def test_weights_that_are_all_0_are_said_so():
    best = trial()
    best.offer(np.zeros(2))
    with pytest.warns(UserWarning, match="all documents score alike"):
        best.found()
