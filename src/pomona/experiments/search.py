"""Search for parameters on the validation queries (Optuna's TPE, Bergstra et al. 2011).

The first trial is the ranker as it was asked for, so that a search never ends below it, unless a value of its
own lies outside of what is searched. The model that is kept is the one with the best validation value, the
first among equals. Test queries play no part. Parameters that the user set stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pomona.data.dataset import Dataset
from pomona.errors import MissingExtraError, PomonaError
from pomona.rankers.base import Ranker, SearchRange
from pomona.rankers.forests.forest_ranker import ForestRanker
from pomona.rankers.parameter import check_parameters

if TYPE_CHECKING:
    import optuna


def require_optuna() -> Any:
    """Optuna, quiet; or a word on how to install it."""
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("optuna", "search") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def timed_fit(ranker: Ranker, train: Dataset, valid: Dataset | None) -> dict[str, float]:
    """Fit, and say how long it took: on the wall, and in all threads together."""
    wall, cpu = time.perf_counter(), time.process_time()
    ranker.fit(train, valid=valid)
    return {
        "train_seconds": time.perf_counter() - wall,
        "train_cpu_seconds": time.process_time() - cpu,
    }


def search(
    make: Callable[..., Ranker],
    space: Mapping[str, SearchRange],
    train: Dataset,
    valid: Dataset,
    *,
    n_trials: int,
    seed: tuple[int, ...],
) -> tuple[Ranker, dict[str, Any]]:
    """The best ranker of `n_trials`, fitted, and the record of the search.

    make : makes a ranker with some parameters set.
    space : what to search, as `Ranker.search_space` has it.
    seed : same numbers, same search.
    """
    optuna = require_optuna()
    sampler = optuna.samplers.TPESampler(seed=int(np.random.SeedSequence(seed).generate_state(1)[0]))
    study = optuna.create_study(sampler=sampler, direction="maximize")
    plain = make()
    check_parameters(plain)
    left_open = plain.choose(train) if isinstance(plain, ForestRanker) else {}
    parameters = {**plain.get_params(deep=False), **left_open}
    as_asked = {name: parameters[name] for name in space if name in parameters}
    places = {_is_inside(value, space[name]) for name, value in as_asked.items()}
    if places <= {True}:
        study.enqueue_trial(as_asked)
    trials: list[dict[str, Any]] = []
    best: Ranker | None = None
    best_trial: dict[str, Any] = {"value": -np.inf}
    started = time.perf_counter()
    for number in range(n_trials):
        # A value such as "choose it yourself" can be tried, but Optuna cannot learn from it.
        asked = None if number == 0 and None in places and False not in places else study.ask()
        suggested = {name: suggest(asked, name, space[name]) for name in space} if asked else as_asked
        trial: dict[str, Any] = {"parameters": suggested, "value": None}
        trials.append(trial)
        ranker = make(**suggested)
        try:
            trial |= timed_fit(ranker, train, valid)
            trial["value"] = ranker.score(valid)
        except PomonaError as error:  # parameters that do not go together, say
            trial["reason"] = str(error)
            if asked is not None:
                study.tell(asked, state=optuna.trial.TrialState.FAIL)
            continue
        if asked is not None:
            study.tell(asked, trial["value"])
        if trial["value"] > best_trial["value"]:
            best, best_trial = ranker, trial
    if best is None:
        raise PomonaError(f"every trial of the search failed: {trials[-1]['reason']}")
    return best, {
        "train_seconds": best_trial["train_seconds"],
        "train_cpu_seconds": best_trial["train_cpu_seconds"],
        "search_seconds": time.perf_counter() - started,
        "n_trials": n_trials,
        "trials": trials,
    }


def suggest(trial: optuna.Trial, name: str, choices: SearchRange) -> Any:
    """What Optuna would try next of a parameter."""
    if isinstance(choices, list):
        return trial.suggest_categorical(name, choices)
    least, most, scale = choices
    if "int" in scale:
        return trial.suggest_int(name, int(least), int(most), log="log" in scale)
    return trial.suggest_float(name, least, most, log="log" in scale)


def _is_inside(value: Any, choices: SearchRange) -> bool | None:
    """Whether the search could come upon the value itself; None of a value that is no number, in a range."""
    if isinstance(choices, list):
        return value in choices
    return choices[0] <= value <= choices[1] if isinstance(value, int | float) else None
