"""The checks find out rankers that break a promise."""

import itertools
from dataclasses import field
from typing import ClassVar

import numpy as np
import pytest

import pomona as pm
from pomona._jit import n_threads
from pomona.testing import check_ranker, ranker_checks
from pomona.testing import ranker as checks
from testing.extending import BLOCKS, Stepwise, run_blocks

CALLS = itertools.count()


def test_the_page_on_extending_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Every swap of two documents is tried for every tree: one tells as much as ten.
    page = run_blocks("extending_page", replace=("n_trees=10", "n_trees=1"))
    assert page.Stepwise is not Stepwise
    assert callable(page.test_stepwise)
    assert len(BLOCKS) == 6
    assert (tmp_path / "stepwise.pomona").is_file()


def test_a_class_with_parameters_or_an_instance():
    check_ranker(Stepwise(n_steps=7), learning_rate=0.5)
    with pytest.raises(TypeError, match="n_stpes"):
        check_ranker(Stepwise, n_stpes=7)


class Plain(pm.Ranker):
    """The sum of the features, each times its covariance with the labels.

    Parameters
    ----------
    measure : what `score` reports.
    power : of the covariance.
    """

    name = "plain"
    family = "point-wise"
    paper = "nobody, nowhere"
    learnt_attributes = ("coef_",)

    def __init__(self, measure="ndcg@10", power=1):
        self.measure, self.power = measure, power

    def learn(self, train, valid, weights):
        rows = np.tanh(np.nan_to_num(train.X).astype(float))
        centered = rows - np.average(rows, axis=0, weights=weights)
        labels = train.y if weights is None else train.y * weights
        self.coef_ = (centered * labels[:, None]).sum(axis=0) ** self.power

    def predict_rows(self, X):
        return (np.tanh(np.nan_to_num(X).astype(float)) * self.coef_).sum(axis=1)


def test_a_constructor_of_ones_own_will_do():
    check_ranker(Plain)


def test_checks_have_names_and_say_what_they_check():
    names = [check.__name__ for check in ranker_checks()]
    assert len(set(names)) == len(names) >= 18
    assert all(name.startswith("check_") for name in names)
    assert all(check.__doc__ for check in ranker_checks())


class Useless(Stepwise):
    def predict_rows(self, X):
        return np.zeros(len(X))


class OneScoreTooMany(Stepwise):
    def predict(self, X, qid=None):
        return np.append(super().predict(X, qid), 0)


class NotFinite(Stepwise):
    def predict(self, X, qid=None):
        scores = super().predict(X, qid)
        scores[3] = np.nan
        return scores


class ScoresByPlace(Stepwise):
    def predict_rows(self, X):
        return super().predict_rows(X) + 1e-9 * np.arange(len(X))


class LearnsIds(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, weights)
        self.coef_ = self.coef_ + float(train.qids[0])


class IgnoresItsSeed(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, weights)
        self.coef_ = self.coef_ * (1 + 1e-9 * next(CALLS))


class CountsThreads(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, weights)
        self.coef_ = self.coef_ * (1 + 1e-9 * n_threads())


class LosesAnAttribute(Stepwise):
    def set_state(self, facts, arrays):
        self.coef_, self.scale_ = arrays["coef_"], 1.0


class ScoresOtherwiseWhenLoaded(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, weights)
        self.bonus = 1.0

    def predict_rows(self, X):
        return super().predict_rows(X) + getattr(self, "bonus", 0.0)


class LosesDigits(Stepwise):
    def get_state(self):
        facts, arrays = super().get_state()
        return facts, {name: np.round(array, 3) for name, array in arrays.items()}


class LosesItsRecord(Stepwise):
    def written(self):
        facts, arrays = super().written()
        return {**facts, "training": {}}, arrays


class FearsConstants(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, weights)
        with np.errstate(all="ignore"):
            self.coef_ = self.coef_ / np.where(np.ptp(train.X, axis=0) == 0, 0, 1)


class CrashesOnOneFeature(Stepwise):
    def learn(self, train, valid, weights):
        assert train.n_features > 1
        super().learn(train, valid, weights)


class WritesIntoTheData(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, weights)
        train.X[0] = 0


class ReadsFramesDifferently(Stepwise):
    def fit(self, X, y=None, qid=None, **more):
        super().fit(X, y, qid, **more)
        if hasattr(X, "columns"):
            self.coef_ = self.coef_ + 1
        return self


class PredictsBeforeFit(Stepwise):
    def check_fitted(self):
        self.n_features_in_, self.coef_, self.scale_ = 3, np.zeros(3), np.ones(3)
        self.feature_names_ = "f1", "f2", "f3"


class StaysFitted(Stepwise):
    def __sklearn_is_fitted__(self):
        return True


class LeavesThingsBehind(Stepwise):
    def fit(self, X, y=None, qid=None, **more):
        self.scratch = X
        return super().fit(X, y, qid, **more)


class LosesTheQueries(Stepwise):
    def fit(self, X, y=None, qid=None, **more):
        return super().fit(X, y, None if qid is None else np.arange(len(qid)) * 0, **more)

    def score(self, X, y=None, qid=None, sample_weight=None):
        return 0.1


class IgnoresWeights(Stepwise):
    def learn(self, train, valid, weights):
        super().learn(train, valid, None)


class TakesAnyFeatures(Stepwise):
    def predict(self, X, qid=None):
        return np.zeros(len(X)) if isinstance(X, np.ndarray) and X.shape[1] == 3 else super().predict(X, qid)


class Undocumented(Stepwise):
    """Has a parameter k, and also C, in a sentence."""

    C: float = 1.0


class TakesAnyNumber(Stepwise):
    def fit(self, X, y=None, qid=None, **more):
        steps, self.n_steps = self.n_steps, max(self.n_steps, 1)
        super().fit(X, y, qid, **more)
        self.n_steps = steps
        return self


class NoFamily(Stepwise):
    family = "some"


class SearchesElsewhere(Stepwise):
    search_space: ClassVar = {"n_stpes": [1, 2]}


class SearchesNowhere(Stepwise):
    search_space: ClassVar = {"n_steps": (5, 1, "int")}


class CannotBeCloned(Stepwise):
    """Adds to its parameters.

    Parameters
    ----------
    extras : grows.
    """

    extras: list[int] = field(default_factory=list)

    def __sklearn_clone__(self):
        return type(self)(extras=[*self.extras, 1])


@pytest.mark.parametrize(
    ("cls", "check", "message"),
    [
        (Useless, checks.check_beats_random, "on easy data a ranker must beat random scores"),
        (OneScoreTooMany, checks.check_beats_random, r"must give one score a document: found shape \(\d+,\)"),
        (NotFinite, checks.check_beats_random, "scores must be finite, found 1 of"),
        (ScoresByPlace, checks.check_scores_follow_documents, "must not depend on the order of the rows"),
        (LearnsIds, checks.check_shuffled_rows_teach_the_same, "in another order must give the same model"),
        (IgnoresItsSeed, checks.check_same_seed_same_model, "same seed must give the same model"),
        (CountsThreads, checks.check_same_seed_same_model, r"any number of threads \(1 and 2\)"),
        (LosesAnAttribute, checks.check_save_and_load, "save and load must keep attribute scale_"),
        (ScoresOtherwiseWhenLoaded, checks.check_save_and_load, "must give the scores of the saved one"),
        (LosesDigits, checks.check_save_and_load, "save and load must keep attribute coef_"),
        (LosesItsRecord, checks.check_save_and_load, "save and load must keep attribute evals_"),
        (FearsConstants, checks.check_odd_data, "scores must be finite also with constant features"),
        (
            CrashesOnOneFeature,
            checks.check_degenerate_data,
            "data with one feature must give a model or an InputError",
        ),
        (
            FearsConstants,
            checks.check_degenerate_data,
            "data with a constant feature must give finite scores",
        ),
        (
            ReadsFramesDifferently,
            checks.check_any_table,
            "rows as a polars frame must give the model of the same",
        ),
        (WritesIntoTheData, checks.check_data_stay_as_they_are, "must not write into X"),
        (CannotBeCloned, checks.check_is_an_estimator, "a clone must have the same parameters"),
        (PredictsBeforeFit, checks.check_is_an_estimator, "predict before fit must raise"),
        (StaysFitted, checks.check_a_failed_fit_is_no_fit, "whose training failed must not count as fitted"),
        (LeavesThingsBehind, checks.check_a_failed_fit_is_no_fit, r"end in `_` only, found \['scratch'\]"),
        (LosesTheQueries, checks.check_routing, "cross_validate must score easy data above 0.2"),
        (IgnoresWeights, checks.check_weights, "queries of weight 0 must teach nothing"),
        (TakesAnyFeatures, checks.check_refusals, "rows of other features must be refused"),
        (TakesAnyNumber, checks.check_parameter_ranges, "n_steps=0 must be refused with a PomonaError, but"),
        (Undocumented, checks.check_ranker_is_documented, r"without one: C$"),
        (NoFamily, checks.check_ranker_is_documented, "family must be one of point-wise, .*, found 'some'"),
        (
            SearchesElsewhere,
            checks.check_ranker_is_documented,
            "search_space must name parameters, found 'n_stpes'",
        ),
        (SearchesNowhere, checks.check_ranker_is_documented, r"must be a list, or \(least, most"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_is_found_out(cls, check, message):
    assert check in ranker_checks()
    with pytest.raises(AssertionError, match=message):
        check(cls(n_steps=5))
