"""Who runs next: asynchronous successive halving (Li et al., MLSys 2020) over queries, steps and folds.

Every recipe starts on the lowest rung. The best third of those that have finished a rung goes on to the next
(the first one at once), so that most of the time goes to the best:

    part     a part of large training data, few trees or epochs, one fold
    fold     all training data, one fold
    all      all training data, all folds

After the menu, recipes are changes of one of the best so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pomona.experiments.best.menu import Recipe, changed, recipes

_KEPT = 3  # one of so many goes on
_PARENTS = 6
_MOST_DRAWS = 50


@dataclass(frozen=True)
class Rung:
    """How much a recipe is given to show what it can."""

    name: str
    share: float
    folds: tuple[int, ...]
    is_short: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a fit left: the measure of the judged queries, and what it cost."""

    value: float
    seconds: float
    microseconds: float
    at: float = 0.0
    """Seconds of search when it was done."""


@dataclass
class Runner:
    """A recipe in the race."""

    recipe: Recipe
    origin: str
    rung: int = 0
    outcomes: dict[tuple[int, int], Outcome] = field(default_factory=dict)
    """By rung and fold."""
    reason: str = ""
    """Why it is out of the race, if it is."""

    def values(self, rung: int, rungs: list[Rung]) -> list[float] | None:
        """The values of all folds of a rung; None before all are there."""
        found = [self.outcomes.get((rung, fold)) for fold in rungs[rung].folds]
        return None if None in found else [one.value for one in found if one is not None]


Job = tuple[Runner, int, int]
"""A recipe, a rung and a fold."""


class Race:
    """The recipes, how far each has come, and which is to run next.

    weights : of each fold, by the number of queries that it judges.
    """

    def __init__(self, rungs: list[Rung], weights: list[float], seed: int) -> None:
        self.rungs, self._weights, self._seed = rungs, weights, seed
        self.runners: list[Runner] = []
        self._menu: Iterator[Recipe] = iter(recipes())
        self._running: set[tuple[int, int, int]] = set()

    def restore(
        self, recipe: Recipe, origin: str, rung: int, fold: int, outcome: Outcome | None, reason: str
    ) -> None:
        """Take up what an earlier search has found."""
        runner = next((one for one in self.runners if str(one.recipe) == str(recipe)), None)
        if runner is None:
            self.runners.append(runner := Runner(recipe, origin))
        runner.rung = max(runner.rung, rung)
        self.tell((runner, rung, fold), outcome, reason)

    def next(self, fits: Callable[[float], bool] = lambda seconds: True) -> Job | None:
        """What to run next, if there is anything that `fits`, by the seconds that it will take."""
        for runner, rung, fold in self._jobs():
            if fits(self.expected_seconds(runner, rung)):
                self._running.add((id(runner), rung, fold))
                return runner, rung, fold
        return None

    def tell(self, job: Job, outcome: Outcome | None, reason: str = "") -> None:
        """What came of a job; with a reason, the recipe is out."""
        runner, rung, fold = job
        self._running.discard((id(runner), rung, fold))
        runner.reason = runner.reason or reason
        if outcome is not None:
            self._note(runner, rung, fold, outcome)

    def _note(self, runner: Runner, rung: int, fold: int, outcome: Outcome) -> None:
        """Keep an outcome, also for other rungs of which it is a part."""
        done = self.rungs[rung]
        for number, other in enumerate(self.rungs):
            if (other.share, other.is_short) == (done.share, done.is_short) and fold in other.folds:
                runner.outcomes[number, fold] = outcome

    def value(self, runner: Runner, rung: int) -> float | None:
        """The mean over the judged queries of all folds of a rung; None before all are there."""
        values = runner.values(rung, self.rungs)
        weights = [self._weights[fold] for fold in self.rungs[rung].folds]
        return None if values is None else float(np.average(values, weights=weights))

    def ranking(self, rung: int) -> list[Runner]:
        """Those that have finished a rung, the best first."""
        done = [(self.value(one, rung), one) for one in self.runners if not one.reason]
        finished = [(value, one) for value, one in done if value is not None]
        return [one for _, one in sorted(finished, key=lambda pair: -pair[0])]

    def expected_seconds(self, runner: Runner, rung: int) -> float:
        """About how long a fit on a rung takes, by those of the recipe, else by those of its kind; else 0."""
        own = [one.seconds for (at, _), one in runner.outcomes.items() if at == rung]
        kind = [
            outcome.seconds
            for one in self.runners
            if one.recipe.ranker == runner.recipe.ranker
            for (at, _), outcome in one.outcomes.items()
            if at == rung
        ]
        return max(own) if own else float(np.median(kind)) if kind else 0.0

    def _jobs(self) -> Iterator[Job]:
        """Everything that could run now, the most promising first."""
        self._promote()
        for rung in range(len(self.rungs) - 1, -1, -1):
            at_rung = [one for one in self.runners if one.rung == rung and not one.reason]
            for runner in at_rung:
                for fold in self.rungs[rung].folds:
                    is_new = (rung, fold) not in runner.outcomes
                    if is_new and (id(runner), rung, fold) not in self._running:
                        yield runner, rung, fold
        if not any(self._is_waiting(runner) for runner in self.runners) and (new := self._new()) is not None:
            yield new, 0, self.rungs[0].folds[0]

    def _is_waiting(self, runner: Runner) -> bool:
        """Whether it could have begun, but did not fit."""
        return not (runner.outcomes or runner.reason or any(key[0] == id(runner) for key in self._running))

    def _promote(self) -> None:
        for rung in range(len(self.rungs) - 1):
            ranking = self.ranking(rung)
            for runner in ranking[: math.ceil(len(ranking) / _KEPT)]:
                runner.rung = max(runner.rung, rung + 1)

    def _new(self) -> Runner | None:
        """The next of the menu, then changes of the best; each recipe once."""
        known = {str(one.recipe) for one in self.runners}
        for recipe in self._menu:
            if str(recipe) not in known:
                self.runners.append(Runner(recipe, "menu"))
                return self.runners[-1]
        rankings = map(self.ranking, reversed(range(len(self.rungs))))
        top = next(filter(None, rankings), [])
        # Of how many there are: a race that is taken up must not draw again what it drew before.
        random = np.random.default_rng((self._seed, len(self.runners)))
        for _ in range(_MOST_DRAWS if top else 0):
            # The best most often: its share is twice that of the next.
            parent = top[min(int(random.geometric(0.5)) - 1, len(top) - 1, _PARENTS - 1)]
            new = changed(parent.recipe, random)
            if new is not None and str(new) not in known:
                self.runners.append(Runner(new, f"after {parent.recipe}"))
                return self.runners[-1]
        return None


def rungs_of(n_folds: int, n_learning_docs: int, few_docs: int = 30_000) -> list[Rung]:
    """The rungs for data of a size.

    >>> [(rung.name, rung.share, len(rung.folds)) for rung in rungs_of(5, 60_000)]
    [('part', 0.5, 1), ('fold', 1.0, 1), ('all', 1.0, 5)]
    """
    every = tuple(range(n_folds))
    rungs = [Rung("fold", 1.0, every[:1]), Rung("all", 1.0, every)]
    share = few_docs / max(n_learning_docs, 1)
    return [Rung("part", share, every[:1], is_short=True), *rungs] if share <= 0.5 else rungs
