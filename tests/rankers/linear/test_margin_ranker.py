from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import pomona as pm
from pomona._parameters import read_parameters
from pomona.errors import InputError
from pomona.rankers.linear.margin_ranker import MarginRanker


class Watched:
    """Learns to use the first feature alone for C = 1000, and ever more of the second away from it."""

    typical_c = 100.0
    converged = True

    def __init__(self, interrupt_at, fails_from):
        self.coef = np.zeros(2)
        self.seen, self._interrupt_at, self._fails_from = [], interrupt_at, fails_from

    def solve(self, C):
        self.seen.append(C)
        if self._interrupt_at == len(self.seen):
            raise KeyboardInterrupt
        self.converged = self._fails_from > C
        self.coef = np.array([1.0, (np.log10(C) - 3) ** 2])


@dataclass(kw_only=True, eq=False, repr=False)
class Watching(MarginRanker):
    interrupt_at: int = 0
    fails_from: float = np.inf

    def make_problem(self, train, weights):
        self.problem = Watched(self.interrupt_at, self.fails_from)
        return self.problem


@pytest.fixture(scope="module")
def data():
    """Feature 1 is the label, feature 2 nearly its opposite."""
    y = np.array([2, 1, 0, 0] * 5)
    X = np.column_stack([y, y[::-1]]).astype(np.float32)
    return pm.Dataset(X, y, np.repeat(np.arange(5), 4))


def test_a_grid_is_tried_and_the_best_on_validation_is_kept(data):
    ranker = Watching().fit(data, valid=data)
    assert ranker.problem.seen == pytest.approx([0.1, 1, 10, 100, 1000, 10000, 100000])
    assert ranker.evals_["C"] == ranker.problem.seen
    assert ranker.evals_["valid"] == ranker.evals_["train"]
    assert int(np.argmax(ranker.evals_["valid"])) == 4
    assert ranker.problem.seen[4] == ranker.C_
    assert ranker.evals_["valid"][4] == ranker.score(data) == 1


def test_without_validation_queries_a_typical_value_is_taken(data):
    ranker = Watching().fit(data)
    assert ranker.problem.seen == [100.0]
    assert ranker.C_ == 100
    assert ranker.evals_ == {"C": [100.0]}


@pytest.mark.parametrize("given", [2.5, np.float32(2.5)])
def test_a_number_is_taken_as_it_is(given, data):
    ranker = Watching(C=given).fit(data, valid=data)
    assert ranker.problem.seen == [2.5]
    assert list(ranker.evals_) == ["C", "train", "valid"]


@pytest.mark.parametrize("given", [0, -1.0, "much", "2.5", None, np.nan, np.inf])
def test_other_values_of_c_are_refused(given, data):
    with pytest.raises(InputError, match="C must be a number above 0, or 'validate', found"):
        Watching(C=given).fit(data)


def test_a_command_line_has_numbers_and_text():
    given = [("C", "2.5")], [("C", "validate")]
    assert [read_parameters(Watching, pairs)["C"] for pairs in given] == [2.5, "validate"]


def test_other_parameters_are_checked(data):
    with pytest.raises(InputError, match="max_iterations must be an integer of at least 1, found 0"):
        Watching(max_iterations=0).fit(data)
    with pytest.raises(InputError, match=r"tolerance must be a number above 0, found 0\.0"):
        Watching(tolerance=0.0).fit(data)


def test_ctrl_c_keeps_the_best_so_far(data):
    with pytest.warns(UserWarning, match="interrupted: keeping value 1 of 3"):
        ranker = Watching(interrupt_at=4).fit(data, valid=data)
    assert ranker.interrupted_
    assert ranker.C_ == 0.1  # the smallest of equals
    assert len(ranker.evals_["valid"]) == 3


def test_ctrl_c_before_anything_is_learnt_keeps_nothing(data):
    with pytest.raises(KeyboardInterrupt):
        Watching(interrupt_at=1).fit(data)


def test_ctrl_c_within_the_first_c_keeps_its_weights(data):
    class Halfway(Watched):
        def solve(self, C):
            super().solve(C)
            raise KeyboardInterrupt

    class Interrupted(Watching):
        def make_problem(self, train, weights):
            return Halfway(0, np.inf)

    with pytest.warns(UserWarning, match="interrupted"):
        ranker = Interrupted(C=1000.0).fit(data)
    assert ranker.coef_.tolist() == [1, 0]
    assert ranker.C_ == 1000
    assert ranker.evals_ == {"C": [1000]}


def test_no_larger_c_is_tried_after_one_that_fails(data):
    ranker = Watching(fails_from=50.0)
    with pytest.warns(ConvergenceWarning, match="did not reach its tolerance for C = 100"):
        ranker.fit(data, valid=data)
    assert ranker.problem.seen == pytest.approx([0.1, 1, 10, 100])
