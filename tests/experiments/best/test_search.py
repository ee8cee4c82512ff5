import numpy as np
import pytest

import pomona as pm
from experiments.best.here_pool import FOREST, SHORT_MENU, HerePool, use
from pomona.experiments.best.menu import Recipe
from pomona.experiments.best.plan import JUDGE, LEARN, STOP, Plan
from pomona.experiments.best.race import Rung
from pomona.experiments.best.search import Limits, Search, why_not
from pomona.experiments.store import Store


@pytest.fixture(scope="module")
def plan():
    return Plan.of(pm.simulate(24, docs_per_query=8, n_features=4, seed=1), None, 3, seed=0)


def searched(plan, folder, limits=None, seconds=600.0):
    with Store(folder) as store, Search(plan, store, "ndcg@5", limits or Limits(), seed=0) as search:
        search.run(seconds)
        return search


def test_a_search_to_its_end(plan, tmp_path, monkeypatch):
    use(monkeypatch)
    search = searched(plan, tmp_path)
    assert [str(one.recipe) for one in search.race.runners] == [str(recipe) for recipe in SHORT_MENU]
    furthest = search.race.ranking(1)
    assert furthest
    runner = furthest[0]
    with Store(tmp_path) as store:
        search.store = store
        models, scores = search.models(runner, 1, [0, 1, 2]), search.scores(runner, 1, [0, 1, 2])
    # By hand: the models learnt from, stopped by and judge what the plan says.
    expected = []
    for fold, model in enumerate(models):
        learn, stop, judge = (plan.data.take(plan.roles[fold] == role) for role in (LEARN, STOP, JUDGE))
        parameters = {**runner.recipe.parameters, "measure": "ndcg@5"}
        by_hand = type(model)(**parameters).fit(learn, valid=stop)
        assert (by_hand.predict(judge) == model.predict(judge)).all()
        expected.append(by_hand.predict(judge))
    assert (scores == np.concatenate(expected)).all()
    judged = plan.data.take(plan.judged([0, 1, 2]))
    assert search.race.value(runner, 1) == pytest.approx(pm.evaluate(judged, scores, "ndcg@5")["ndcg@5"])


def test_a_second_search_goes_on_where_the_first_ended(plan, tmp_path, monkeypatch):
    use(monkeypatch)
    first = searched(plan, tmp_path)
    n_calls, spent = HerePool.n_calls, first.spent
    use(monkeypatch, (*SHORT_MENU, Recipe("bestfeature")))
    second = searched(plan, tmp_path)
    assert 0 < HerePool.n_calls <= 3  # of the one that is new, out of
    assert n_calls > 3
    assert second.spent > spent > 0
    values = [[search.race.value(one, 0) for one in search.race.runners] for search in (first, second)]
    assert values[0] == values[1][: len(values[0])]
    # Other data, or another measure, are another search.
    other = Plan.of(pm.simulate(24, docs_per_query=8, n_features=4, seed=2), None, 3, seed=0)
    use(monkeypatch, SHORT_MENU[:1])
    assert len(searched(other, tmp_path).race.runners) == 1
    assert HerePool.n_calls >= 1


def test_what_was_killed_is_done_again(plan, tmp_path, monkeypatch):
    use(monkeypatch, SHORT_MENU[:1])
    searched(plan, tmp_path)
    with Store(tmp_path) as store:
        run = next(iter(store.rows()))
        store.begin(run)  # as a process leaves it that dies in the middle
    half = next((tmp_path / "models").glob("*.pomona"))
    half.write_bytes(half.read_bytes()[:100])  # and as a disk may leave a file
    HerePool.n_calls = 0
    search = searched(plan, tmp_path)
    assert 1 <= HerePool.n_calls <= 2
    assert search.race.ranking(1)


def test_a_recipe_that_fails_is_out(plan, tmp_path, monkeypatch):
    broken = Recipe("lambdamart", {**FOREST, "monotone": (1, 0)})
    use(monkeypatch, (broken, SHORT_MENU[1]))
    search = searched(plan, tmp_path)
    assert "2 monotone constraints for 4 features" in search.race.runners[0].reason
    assert search.race.ranking(1) == [search.race.runners[1]]
    assert "2 monotone" in searched(plan, tmp_path).race.runners[0].reason  # and stays so


def test_limits(plan, tmp_path, monkeypatch):
    use(monkeypatch)
    search = searched(plan, tmp_path / "formats", Limits(formats=("solr",)))
    reasons = {str(one.recipe): one.reason for one in search.race.runners}
    assert "no solr: LinearRegression scales features inside each query" in reasons["LinearRegression"]
    assert reasons["LinearRegression(normalize=none)"] == ""
    assert all(not why_not(search_model(search, one, tmp_path), "solr") for one in search.race.ranking(1))
    slow = searched(plan, tmp_path / "latency", Limits(microseconds=1e-6))
    assert all("µs to score a document" in one.reason for one in slow.race.runners)


def search_model(search, runner, tmp_path):
    with Store(tmp_path / "formats") as store:
        search.store = store
        return search.models(runner, 1, [0])[0]


def test_first_trials_on_a_part_of_large_data(plan, tmp_path, monkeypatch):
    use(monkeypatch, SHORT_MENU[:1])
    rungs = [Rung("part", 0.5, (0,), is_short=True), Rung("fold", 1.0, (0,)), Rung("all", 1.0, (0, 1, 2))]
    monkeypatch.setattr("pomona.experiments.best.search.rungs_of", lambda *_: rungs)
    monkeypatch.setattr("pomona.experiments.best.search.SHORTENED", {"n_trees": 2})
    search = searched(plan, tmp_path)
    runner = search.race.runners[0]
    assert set(runner.outcomes) == {(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)}
    with Store(tmp_path) as store:
        search.store = store
        trees = [search.models(runner, rung, [0])[0].n_trees for rung in range(3)]
    assert trees == [2, 6, 6]


def test_ctrl_c_ends_the_search(plan, tmp_path, monkeypatch):
    use(monkeypatch)
    calls = iter(range(100))

    def interrupted(*arguments, **options):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return wait(*arguments, **options)

    from pomona.experiments.best.search import wait

    monkeypatch.setattr("pomona.experiments.best.search.wait", interrupted)
    search = searched(plan, tmp_path)
    assert search.interrupted
    assert search.race.ranking(0)
    assert search.refit([SHORT_MENU[0]], 10) == [None]


def test_in_processes_of_their_own(plan, tmp_path, monkeypatch):
    use(monkeypatch, SHORT_MENU[1:2], here=False)
    search = searched(plan, tmp_path)
    assert len(search.race.ranking(1)) == 1
    use(monkeypatch, SHORT_MENU[1:2])
    here = searched(plan, tmp_path / "here")
    assert search.race.value(search.race.runners[0], 1) == here.race.value(here.race.runners[0], 1)


def test_no_time(plan, tmp_path, monkeypatch):
    use(monkeypatch)
    search = searched(plan, tmp_path, seconds=-1.0)
    assert not search.race.runners
    heard = []
    with Store(tmp_path) as store, Search(plan, store, "ndcg@5", Limits(), seed=0) as search:
        search.run(600.0, hear=heard.append)
    assert heard[-1].n_recipes == 4
    assert heard[-1].value == search.race.value(search.race.ranking(1)[0], 1)


def test_a_training_that_takes_too_long_ends_with_what_it_has(plan, tmp_path, monkeypatch):
    endless = Recipe(
        "lambdamart", {**FOREST, "n_trees": 10**6, "learning_rate": 1e-4, "early_stopping": None}
    )
    use(monkeypatch, (endless,))
    pm.LambdaMART(**{**FOREST, "n_trees": 1}).fit(plan.data, valid=plan.data)  # no time goes into its kernels
    monkeypatch.setattr("pomona.experiments.best.search._LONGEST_SHARE", 2e-3)  # 1.2 s
    search = searched(plan, tmp_path)
    assert len(search.race.ranking(1)) == 1
    with Store(tmp_path) as store:
        search.store = store
        trees = [one.model_.n_trees for one in search.models(search.race.runners[0], 1, [0, 1, 2])]
    assert 0 < min(trees) <= max(trees) < 10**6
    # Another search may have more time for it.
    HerePool.n_calls = 0
    searched(plan, tmp_path)
    assert HerePool.n_calls == 3
