from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.linear.linear_ranker import LinearRanker


@dataclass(kw_only=True, eq=False, repr=False)
class Fixed(LinearRanker):
    def learn_weights(self, train, valid, weights):
        self.coef_ = np.array([1.0, -2.0])


def data(X=((0, 4), (1, 8), (3, 6))):
    return pm.Dataset(np.array(X, np.float32), [0, 1, 2], [1, 1, 1])


def test_scores_are_weighted_sums_of_normalized_features():
    fitted = Fixed().fit(data())
    assert fitted.predict(data()) == pytest.approx([0 - 0, 1 / 3 - 2 * 1, 1 - 2 * 0.5])
    plain = Fixed(normalize=None).fit(data())
    assert plain.predict(data().X) == pytest.approx([-8, -15, -9])
    assert fitted.coefficients() == {"f2": -2.0, "f1": 1.0}


def test_undefined_counts_as_zero():
    fitted = Fixed(normalize=None).fit(data())
    assert fitted.predict([[np.nan, 1.0]]) == [-2.0]


def test_scores_of_normalized_queries_need_the_queries():
    fitted = Fixed().fit(data())
    with pytest.raises(InputError, match="whole queries, and the query ids qid of 6 rows are missing"):
        fitted.predict(np.tile(data().X, (2, 1)))
    assert (fitted.predict(data().X, qid=0) == fitted.predict(data())).all()
    rows = np.array([[0, 4], [5, 5], [1, 8], [3, 6]], np.float32)
    scattered = fitted.predict(rows, qid=[1, 2, 1, 1])
    assert scattered[[0, 2, 3]] == pytest.approx(fitted.predict(data()))
    assert scattered[1] == 0


def test_infinite_values_and_weights_are_refused():
    with pytest.raises(InputError, match="infinite"):
        Fixed(normalize=None).fit(data(((np.inf, 1), (1, 2), (2, 2))))

    class Diverged(Fixed):
        def learn_weights(self, train, valid, weights):
            self.coef_ = np.array([np.nan, 1.0])

    with pytest.raises(InputError, match="did not converge"):
        Diverged().fit(data())


# Ranked by the first feature the relevant document comes first, by the second last.
EASY = pm.Dataset([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], [1, 0, 0], [7, 7, 7])
GOOD, BAD = [1.0, 0.0], [0.0, 1.0]


@dataclass(kw_only=True, eq=False, repr=False)
class Trying(LinearRanker):
    """Tries the weights of each path, one after the other."""

    name: ClassVar[str] = "trying"
    learnt_attributes: ClassVar[tuple[str, ...]] = ("step_",)

    measure: str = "ap"
    paths: tuple = ()
    interrupted_after: int | None = None

    def learn_weights(self, train, valid, weights):
        log, judge = self.start_training(3), self.curve_judge(valid, train)
        coef = np.zeros(2)
        with log.watch():
            for path in self.paths:
                log.start_path()
                for step, tried in enumerate(path):
                    if step == self.interrupted_after:
                        raise KeyboardInterrupt
                    coef[:] = tried
                    self.keep_if_best(log, coef, judge(coef), step=step)


def test_the_first_of_the_best_weights_is_kept():
    ranker = Trying(paths=((BAD, GOOD, (2.0, 0.0), BAD),)).fit(EASY, valid=EASY)
    assert (ranker.coef_.tolist(), ranker.step_, ranker.best_iteration_) == (GOOD, 1, 2)
    assert ranker.evals_ == {part: [1 / 3, 1.0, 1.0, 1 / 3] for part in ("train", "valid")}


def test_without_validation_queries_the_last_weights_are_kept():
    ranker = Trying(paths=((GOOD, BAD),)).fit(EASY)
    assert (ranker.coef_.tolist(), ranker.best_iteration_, ranker.evals_) == (BAD, 2, {})


def test_the_curves_are_those_of_the_best_path():
    ranker = Trying(paths=((BAD, BAD), (GOOD, BAD))).fit(EASY, valid=EASY)
    assert (ranker.best_iteration_, ranker.evals_["valid"]) == (1, [1.0, 1 / 3])


def test_ctrl_c_keeps_the_best_weights(tmp_path):
    with pytest.warns(UserWarning, match="interrupted: keeping iteration 1 of 2") as caught:
        ranker = Trying(paths=((GOOD, BAD, GOOD),), interrupted_after=2).fit(EASY, valid=EASY)
    assert caught[0].filename == __file__
    assert (ranker.coef_.tolist(), ranker.interrupted_) == (GOOD, True)
    ranker.save(tmp_path / "m.pomona")
    loaded = pm.load_model(tmp_path / "m.pomona", Trying)
    assert (loaded.coef_.tolist(), loaded.step_) == (GOOD, 0)
    assert (loaded.evals_, loaded.best_iteration_, loaded.interrupted_) == (ranker.evals_, 1, True)
    with pytest.raises(KeyboardInterrupt):
        Trying(paths=((GOOD,),), interrupted_after=0).fit(EASY, valid=EASY)


def test_weights_that_are_all_0_are_said_so():
    with pytest.warns(UserWarning, match="all documents score alike") as caught:
        Trying(paths=(((0.0, 0.0),),)).fit(EASY)
    assert caught[0].filename == __file__
