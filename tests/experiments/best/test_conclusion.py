from types import SimpleNamespace

import numpy as np
import pytest

import pomona as pm
from experiments.best.here_pool import FOREST, SHORT_MENU, use
from pomona.errors import InputError, PomonaError
from pomona.experiments.best.conclusion import conclude, docs_to_choose_by, reserve
from pomona.experiments.best.menu import Recipe
from pomona.experiments.best.plan import Plan
from pomona.experiments.best.search import Limits, Search
from pomona.experiments.execute import execute
from pomona.experiments.store import Store


@pytest.fixture(scope="module")
def plan():
    return Plan.of(pm.simulate(40, docs_per_query=8, n_features=4, seed=1), None, 4, seed=0)


@pytest.fixture
def concluded(plan, tmp_path, monkeypatch):
    def concluded(limits=None, menu=SHORT_MENU, interrupt=False):
        use(monkeypatch, menu)
        limits = limits or Limits()
        with Store(tmp_path) as store, Search(plan, store, "ndcg@5", limits, seed=0) as search:
            search.run(600.0)
            search.interrupted = interrupt
            assert 0 < reserve(search, 600.0) < 300
            return search, conclude(search, 600.0, 60.0)

    return concluded


def test_the_model_is_the_weighted_mean_of_the_models_of_all_folds(concluded, plan, tmp_path):
    _, found = concluded()
    assert found.form == "mean of folds"
    assert not found.is_partial
    assert found.estimate.n_queries == 40
    assert sum(weight for _, weight in found.members) == pytest.approx(1)
    assert found.microseconds > 0
    scores = found.model.predict(plan.data)
    assert found.model.score(plan.data) > 0.5
    found.model.save(tmp_path / "m.pomona")
    assert (pm.load_model(tmp_path / "m.pomona").predict(plan.data) == scores).all()


def test_one_ranker_is_the_mean_of_its_folds(concluded, plan, tmp_path):
    search, found = concluded(menu=SHORT_MENU[:1])
    assert found.way == "alone"
    ((runner, weight),) = found.members
    assert weight == 1
    with Store(tmp_path) as store:
        search.store = store
        models = search.models(runner, 1, [0, 1, 2, 3])
    mean = np.mean([model.predict(plan.data) for model in models], axis=0)
    assert found.model.predict(plan.data) == pytest.approx(mean)
    assert found.model.portable().n_trees == sum(model.model_.n_trees for model in models)


def test_what_can_be_exported(concluded, plan):
    menu = (*SHORT_MENU, Recipe("lambdamart", {**FOREST, "n_leaves": 6}))
    _, found = concluded(Limits(formats=("lightgbm", "solr")), menu)
    assert found.notes == ()
    assert found.scale == "none"
    assert found.model.exported("lightgbm")
    kinds = {runner.recipe.ranker for runner, _ in found.members}
    assert kinds <= {"lambdamart", "mart"} or kinds == {"linearregression"}


def test_a_model_that_must_be_quick_is_fitted_again(concluded, plan, monkeypatch):
    monkeypatch.setattr(
        "pomona.experiments.best.conclusion._microseconds", lambda runner, rung, folds: 1.0
    )  # so that four of them are too slow, and one is not
    _, found = concluded(Limits(microseconds=3.0), SHORT_MENU[:1])
    assert found.form == "fitted again"
    runner = found.members[0][0]
    by_hand = pm.LambdaMART(**runner.recipe.parameters, measure="ndcg@5").fit(
        plan.data.take(plan.roles[plan.final] == 1), valid=plan.data.take(plan.roles[plan.final] == 2)
    )
    assert (found.model.predict(plan.data) == by_hand.predict(plan.data)).all()
    _, interrupted = concluded(Limits(microseconds=3.0), (Recipe("mart", FOREST),), interrupt=True)
    assert interrupted.form in ("fitted again", "one fold")


def test_what_is_not_as_asked_for_is_said(concluded, monkeypatch):
    monkeypatch.setattr("pomona.experiments.best.conclusion._timed", lambda model, plan: (7.0, 100))
    _, found = concluded(Limits(microseconds=3.0), SHORT_MENU[:2])
    assert found.notes == ("scoring takes 7 µs a document, above the 3 µs asked for",)


def test_nothing_within_the_limits(concluded):
    with pytest.raises(InputError, match="no ranker could be fitted within the limits; the first: takes"):
        concluded(Limits(microseconds=1e-9))


def test_no_time(plan, tmp_path, monkeypatch):
    use(monkeypatch)
    with Store(tmp_path) as store, Search(plan, store, "ndcg@5", Limits(), seed=0) as search:
        search.run(0.0)
        with pytest.raises(PomonaError, match="no ranker was fitted in the time: give more of it"):
            conclude(search, 1.0, 1.0)


def test_few_queries_choose_where_the_time_was_short(plan, tmp_path, monkeypatch):
    use(monkeypatch, SHORT_MENU[:2])
    with Store(tmp_path) as store, Search(plan, store, "ndcg@5", Limits(), seed=0) as search:
        job = search.race.next()
        search._keep(job, execute(search.task(*job)), is_late=False)
        found = conclude(search, 600.0, 60.0)
    assert found.is_partial
    assert found.estimate.n_queries == (plan.roles[0] == 3).sum()


def test_how_many_documents_choose(plan):
    def search(plan, choosing_seconds):
        return SimpleNamespace(plan=plan, choosing_seconds=choosing_seconds)

    assert docs_to_choose_by(search(plan, 1e-4), 1.0) == plan.data.n_docs
    large = Plan.of(pm.simulate(700, docs_per_query=40, n_features=2, seed=1), None, 4, seed=0)
    assert docs_to_choose_by(search(large, 1e-4), 1.0) == 3_000
    assert docs_to_choose_by(search(large, 1e-4), 60.0) == int(0.08 * 60 / (7 * 1e-4))
    assert docs_to_choose_by(search(large, 1e-9), 1.0) == min(large.data.n_docs, 60_000)
