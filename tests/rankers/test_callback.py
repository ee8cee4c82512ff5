import io

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.callback import Callbacks, StopTrainingError, TrainingStep

DATA = pm.simulate(30, docs_per_query=10, n_features=5, seed=1)
FRESH = pm.simulate(20, docs_per_query=10, n_features=5, seed=2)


def mart(**more):
    return pm.MART(n_trees=12, n_leaves=4, min_docs=2, **more)


def test_a_line_every_so_many_iterations():
    lines = io.StringIO()
    ranker = mart(early_stopping=None).fit(DATA, valid=FRESH, callbacks=pm.PrintProgress(5, file=lines))
    told = lines.getvalue().splitlines()
    assert [line.split(",")[0] for line in told] == [f"MART: tree {n} of 12" for n in (5, 10, 12)]
    values = [f"{part} {ranker.evals_[part][4]:.4f}" for part in ("train", "valid")]
    assert told[0].split(", ")[1:3] == values


def test_progress_goes_to_stderr(capsys):
    mart().fit(DATA, callbacks=[pm.PrintProgress(6)])
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 2)


def test_a_training_that_has_had_its_time():
    ranker = mart().fit(DATA, valid=FRESH, callbacks=[pm.StopAfter(seconds=1e-9)])
    assert len(ranker.evals_["valid"]) == ranker.best_iteration_ == ranker.model_.n_trees == 1
    assert not ranker.interrupted_


@pytest.mark.parametrize("kind", [pm.MART, pm.PRank, pm.RankBoost, pm.RandomForest])
def test_a_checkpoint_is_the_best_model_so_far(kind, tmp_path):
    quick = {"n_trees": 6, "n_rounds": 6, "n_epochs": 6, "min_docs": 2}
    new = lambda: kind(**{name: value for name, value in quick.items() if name in kind().get_params()})  # noqa: E731
    path = tmp_path / "m.pomona"
    kept = new().fit(DATA, valid=FRESH, callbacks=[pm.Checkpoint(path, every=1)])
    loaded = pm.load_model(path)
    np.testing.assert_array_equal(loaded.predict(FRESH), kept.predict(FRESH))
    assert loaded.best_iteration_ == kept.best_iteration_
    new().fit(DATA, valid=FRESH, callbacks=[pm.Checkpoint(path, every=4), lambda step: step.iteration == 4])
    stopped = new().fit(DATA, valid=FRESH, callbacks=lambda step: step.iteration == 4)
    np.testing.assert_array_equal(pm.load_model(path).predict(FRESH), stopped.predict(FRESH))


def test_what_a_callback_sees():
    seen: list[TrainingStep] = []
    ranker = mart(early_stopping=3).fit(DATA, valid=FRESH, callbacks=seen.append)
    assert [step.iteration for step in seen] == list(range(1, len(ranker.evals_["valid"]) + 1))
    best = [step.iteration for step in seen if step.is_best]
    assert best[-1] == ranker.best_iteration_ == seen[-1].best_iteration
    assert (seen[0].ranker, seen[0].unit, seen[0].total) == ("MART", "tree", 12)
    assert 0 < seen[0].seconds <= seen[-1].seconds


def test_a_callback_that_fails_ends_the_training():
    def fail(step):
        raise RuntimeError("the disk is full")

    ranker = mart()
    with pytest.raises(RuntimeError, match="the disk is full"):
        ranker.fit(DATA, callbacks=[fail])
    with pytest.raises(Exception, match="not fitted"):
        ranker.predict(DATA)


def test_every_callback_is_told_before_one_stops():
    told = []
    with pytest.raises(StopTrainingError):
        Callbacks([lambda step: True, told.append]).tell("step")
    assert told == ["step"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mart().fit(DATA, callbacks=["log"]), "a callback of type str"),
        (lambda: pm.LinearRegression().fit(DATA, callbacks=print), "does not learn step by step"),
        (lambda: pm.PrintProgress(0), "every=0"),
        (lambda: pm.Checkpoint("m", every=1.5), "every=1.5"),
        (lambda: pm.StopAfter(0), "seconds 0"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(InputError, match=said):
        call()
