import numpy as np
import pytest

from experiments.best.here_pool import use
from pomona.experiments.best.menu import MENU, Recipe
from pomona.experiments.best.race import Outcome, Race, Rung, rungs_of

RUNGS = [Rung("fold", 1.0, (0,)), Rung("all", 1.0, (0, 1, 2))]


def done(value, seconds=1.0):
    return Outcome(value, seconds, 0.1)


def numbered(n):
    return [Recipe("lambdamart", {"n_leaves": 10 + i}) for i in range(n)]


def test_the_first_goes_on_at_once_and_then_the_best_third(monkeypatch):
    use(monkeypatch, numbered(6), here=False)
    race = Race(RUNGS, [1, 1, 1], seed=0)
    values = [0.1, 0.2, 0.3, 0.15, 0.25, 0.35]
    order = []
    while (job := race.next()) is not None:
        runner, rung, fold = job
        number = runner.recipe.parameters["n_leaves"] - 10
        order.append((number, rung, fold))
        race.tell(job, done(values[number]))
    assert order[:3] == [(0, 0, 0), (0, 1, 1), (0, 1, 2)]  # fold 0 of the higher rung is known already
    furthest = {number for number, rung, _ in order if rung == 1}
    assert furthest == {0, 1, 2, 4, 5}  # each was in the best third when it was done
    assert len(order) == len(set(order)) == 6 + 2 * 5
    assert [one.recipe.parameters["n_leaves"] - 10 for one in race.ranking(1)] == [5, 2, 4, 1, 0]


def test_a_value_is_the_mean_over_queries():
    race = Race(RUNGS, [1, 1, 2], seed=0)
    job = race.next()
    runner = job[0]
    for fold, value in enumerate((0.1, 0.2, 0.4)):
        assert race.value(runner, 1) is None
        race.tell((runner, 1, fold), done(value))
    assert race.value(runner, 1) == pytest.approx((0.1 + 0.2 + 2 * 0.4) / 4)
    assert race.value(runner, 0) == 0.1


def test_what_takes_too_long_waits(monkeypatch):
    use(monkeypatch, numbered(3), here=False)
    race = Race(RUNGS, [1, 1, 1], seed=0)
    first = race.next()
    race.tell(first, done(0.5, seconds=20))
    assert race.expected_seconds(first[0], 1) == 20
    assert race.next(lambda seconds: seconds < 10) is None
    assert race.next(lambda seconds: seconds < 10) is None
    assert len(race.runners) == 2  # nothing new is begun while something waits
    assert race.next()[0] is first[0]


def test_who_failed_is_out(monkeypatch):
    use(monkeypatch, numbered(2), here=False)
    race = Race(RUNGS, [1, 1, 1], seed=0)
    first = race.next()
    race.tell(first, None, "it failed")
    second = race.next()
    race.tell(second, done(0.1))
    assert race.ranking(0) == [second[0]]
    assert first[0].reason == "it failed"


def test_after_the_menu_come_changes_of_the_best():
    race = Race(RUNGS, [1, 1, 1], seed=0)
    random = np.random.default_rng(0)
    for _ in range(120):
        job = race.next()
        race.tell(job, done(random.random() + (job[0].recipe.ranker == "mart")))
    menu = {str(recipe) for recipe in MENU}
    new = [one for one in race.runners if str(one.recipe) not in menu]
    assert new
    assert len({str(one.recipe) for one in race.runners}) == len(race.runners)
    assert np.mean([one.origin.startswith("after MART") for one in new]) > 0.5


def test_an_earlier_race_is_taken_up(monkeypatch):
    menu = numbered(3)
    use(monkeypatch, menu, here=False)
    race = Race(RUNGS, [1, 1, 1], seed=0)
    race.restore(menu[0], "menu", 0, 0, done(0.5), "")
    race.restore(menu[1], "menu", 0, 0, None, "it failed")
    jobs = []
    while (job := race.next()) is not None:
        jobs.append((str(job[0].recipe), *job[1:]))
        race.tell(job, done(0.1))
    assert jobs == [(str(menu[0]), 1, 1), (str(menu[0]), 1, 2), (str(menu[2]), 0, 0)]


def test_rungs():
    assert [rung.name for rung in rungs_of(5, 10_000)] == ["fold", "all"]
    part, *_ = rungs_of(5, 600_000)
    assert (part.share, part.folds, part.is_short) == (0.05, (0,), True)


def test_a_race_that_is_taken_up_finds_something_new():
    def changes(race):
        menu = {str(recipe) for recipe in MENU}
        return [one for one in race.runners if str(one.recipe) not in menu]

    first = Race(RUNGS, [1, 1, 1], seed=0)
    while len(changes(first)) < 60:
        first.tell(first.next(), done(0.5))
    second = Race(RUNGS, [1, 1, 1], seed=0)
    for runner in first.runners:
        second.restore(runner.recipe, runner.origin, 0, 0, done(0.5), "")
    for _ in range(300):
        second.tell(second.next(), done(0.5))
    assert len(changes(second)) > 60
