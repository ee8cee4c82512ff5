"""Fits of a search in the process of the tests, and a menu so short that a search comes to its end."""

from concurrent.futures import Future

from pomona.experiments.best.menu import Recipe

FOREST = {"n_trees": 6, "n_leaves": 4, "min_docs": 3}
SHORT_MENU = (
    Recipe("lambdamart", FOREST),
    Recipe("linearregression"),
    Recipe("mart", FOREST),
    Recipe("linearregression", {"normalize": None}),
)


class NoMemory:
    """Measures nothing: collecting garbage before every fit takes longer than the fits of tests."""

    process = added = 0

    def __enter__(self):
        return self

    def __exit__(self, *_): ...


class HereWorker:
    def call(self, function, *arguments, time_limit=None):
        return function(*arguments)


class HerePool:
    """Does what it is given at once."""

    n_calls = 0

    def __init__(self, *_): ...
    def __exit__(self, *_): ...
    def submit(self, function, *arguments):
        type(self).n_calls += 1
        future = Future()
        future.set_result(function(HereWorker(), *arguments))
        return future


def use(monkeypatch, menu=SHORT_MENU, *, here=True):
    """Let searches try this menu and nothing else."""
    monkeypatch.setattr("pomona.experiments.best.race.recipes", lambda: list(menu))
    monkeypatch.setattr("pomona.experiments.best.race.changed", lambda recipe, random: None)
    if here:
        monkeypatch.setattr("pomona.experiments.best.search.Pool", HerePool)
        monkeypatch.setattr("pomona.experiments.execute.PeakMemory", NoMemory)
        HerePool.n_calls = 0
