"""The end of a search: what is chosen, the one model that is made of it, what it costs, how good it is.

A ranker's model is the mean of those of all folds, each of which learnt from other queries; where that would
take too long to score, it is fitted once more on all queries but one fold, by which it stops.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pomona._types import Values
from pomona.errors import InputError, PomonaError
from pomona.experiments.best.plan import Plan
from pomona.experiments.best.race import Runner
from pomona.experiments.best.search import Search, why_not
from pomona.experiments.best.stack import Choice, Estimate, Rules, Tried, choose, estimate
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import Ranker
from pomona.rankers.combine.linear_combination import LinearCombination

_MOST_RANKERS = 60
_CHOOSING_SHARE, _CHOICES = 0.08, 7
_LEAST_DOCS, _MOST_DOCS = 3_000, 60_000
_LOADING_SECONDS = 2.0  # of models and of the kernels that score them, on a machine that is not busy
_CHOICE_SHARE, _ESTIMATE_SHARE = 0.4, 0.8
"""Of what is left at the end, after which the choice, and then the estimate, learn no more weights."""
_TIMED_DOCS, _N_TIMINGS = 20_000, 3


@dataclass(frozen=True, eq=False)
class Conclusion:
    """The model, and what is known of it.

    members : the rankers in it with their weights, the heaviest first.
    way, scale : how they were weighed and put on a scale, see `Choice`.
    form : `mean of folds`, `fitted again`, or, where there was no time for that, `one fold`.
    estimate : of the choice, by queries that chose nothing; of models of one fold each.
    is_partial : whether no ranker was judged by all folds in the time, so that few queries chose.
    microseconds : to score a document, measured here on `n_timed` documents.
    notes : what is not as asked for.
    """

    model: Ranker
    members: list[tuple[Runner, float]]
    way: str
    scale: str
    form: str
    estimate: Estimate
    is_partial: bool
    microseconds: float
    n_timed: int
    notes: tuple[str, ...]


def docs_to_choose_by(search: Search, seconds: float) -> int:
    """Of how many judged documents the choice is made, so that it takes a small part of the time.

    `search.choosing_seconds`, of a document, were measured here with four rankers; there may be eight, and
    the estimate chooses five times more.
    """
    plan = search.plan
    n_judged = int(np.diff(plan.data.query_ptr)[plan.judged(list(range(plan.n_folds)))].sum())
    affordable = _CHOOSING_SHARE * seconds / (_CHOICES * search.choosing_seconds)
    return min(n_judged, int(np.clip(affordable, _LEAST_DOCS, _MOST_DOCS)))


def reserve(search: Search, seconds: float) -> float:
    """The seconds that the end will take, by what is known so far."""
    choosing = _CHOICES * search.choosing_seconds * docs_to_choose_by(search, seconds)
    kept = min(0.3 * seconds, search.slowness * _LOADING_SECONDS + choosing)
    if search.limits.microseconds is not None:  # then models may have to be fitted again
        rung = len(search.rungs) - 1
        best = search.race.ranking(rung)[:3]
        again = sum(search.race.expected_seconds(runner, rung) for runner in best)
        kept += min(0.4 * seconds, 1.0 + 1.5 * again)
    return kept


def conclude(search: Search, seconds: float, left: float) -> Conclusion:
    """The model that is best by the queries that were judged; of so many seconds in all, so many are left."""
    started = time.monotonic()
    rung, folds, runners = _finished(search)
    tried = _tried(search, rung, folds, runners, docs_to_choose_by(search, seconds))
    most = np.inf if search.limits.microseconds is None else search.limits.microseconds
    # With formats, sums must be of models of one kind; scaling inside queries no engine does.
    stacked = Rules(("none",) if search.limits.formats else ("standard", "none"), most)
    made = _made(search, tried, (stacked, Rules((), most)), (rung, folds, runners), started, left)
    notes = list(made.refusals)
    if made.microseconds > most:
        notes.append(f"scoring takes {made.microseconds:.2g} µs a document, above the {most:g} µs asked for")
    choice = made.choice
    members = [(runners[one], weight) for one, weight in zip(choice.members, choice.weights, strict=True)]
    return Conclusion(
        made.model,
        sorted(members, key=lambda pair: -pair[1]),
        choice.way,
        choice.scale,
        made.form,
        estimate(tried, made.rules, seed=search.seed, deadline=started + _ESTIMATE_SHARE * left),
        rung < len(search.rungs) - 1,
        made.microseconds,
        made.n_timed,
        tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _Made:
    """A model that was made of a choice."""

    rules: Rules
    choice: Choice
    form: str
    model: Ranker
    microseconds: float
    n_timed: int
    refusals: list[str]


def _made(
    search: Search,
    tried: Tried,
    rules_to_try: Sequence[Rules],
    found: tuple[int, list[int], list[Runner]],
    started: float,
    left: float,
) -> _Made:
    """The first model within the limits, of forms each of which costs less; or else the last."""
    rung, folds, runners = found
    deadline = started + left
    made: _Made | None = None
    for rules in rules_to_try:
        choice = choose(tried, rules, started + _CHOICE_SHARE * left)
        cost = sum(tried.costs[one] for one in choice.members)
        for form in ("mean of folds", "fitted again", "one fold"):
            if form == "mean of folds" and cost * len(folds) > rules.most:
                continue
            seconds = max(deadline - time.monotonic(), 0.0)
            chosen = [runners[one] for one in choice.members]
            model = _model(search, rung, folds, chosen, choice, form, seconds)
            if model is None:
                continue
            refusals = [why for one in search.limits.formats if (why := why_not(model, one))]
            made = _Made(rules, choice, form, model, *_timed(model, search.plan), refusals)
            if made.microseconds <= rules.most and not refusals:
                return made
            if refusals:  # whatever its form
                break
    assert made is not None  # models of one fold are always there
    return made


def _finished(search: Search) -> tuple[int, list[int], list[Runner]]:
    """The highest rung that some recipe has finished, its folds, and those recipes."""
    for rung in reversed(range(len(search.rungs))):
        if runners := search.race.ranking(rung)[:_MOST_RANKERS]:
            if search.limits.formats:
                runners = _of_one_kind(search, rung, runners)
            return rung, list(search.rungs[rung].folds), runners
    reasons = [one.reason for one in search.race.runners if one.reason]
    if reasons:
        raise InputError(f"no ranker could be fitted within the limits; the first: {reasons[0]}")
    raise PomonaError("no ranker was fitted in the time: give more of it")


def _of_one_kind(search: Search, rung: int, runners: list[Runner]) -> list[Runner]:
    """Those whose models are of the kind of the best one's, forests or sums, so that they can be added."""
    kinds: dict[tuple[str, str], str] = {}

    def kind(runner: Runner) -> str:
        key = runner.recipe.ranker, str(runner.recipe.parameters.get("normalize", ""))
        if key not in kinds:
            model = search.models(runner, rung, list(search.rungs[rung].folds[:1]))[0]
            kinds[key] = type(model.portable()).__name__
        return kinds[key]

    return [runner for runner in runners if kind(runner) == kind(runners[0])]


def _tried(search: Search, rung: int, folds: list[int], runners: list[Runner], n_docs: int) -> Tried:
    """The scores of all recipes, of as many judged queries, at random, as have so many documents."""
    data = search.plan.data.take(search.plan.judged(folds))
    lengths = np.diff(data.query_ptr)
    order = np.random.default_rng(search.seed).permutation(data.n_queries)
    chosen = np.zeros(data.n_queries, bool)
    chosen[order[np.cumsum(lengths[order]) <= max(n_docs, lengths[order[0]])]] = True
    rows = np.repeat(chosen, lengths)
    outputs = np.stack([search.scores(runner, rung, folds)[rows] for runner in runners], axis=1)
    costs = [_microseconds(runner, rung, folds) for runner in runners]
    kinds = [runner.recipe.ranker for runner in runners]
    return Tried.of(data.take(chosen), outputs, kinds, costs, parse_measure(search.measure))


def _microseconds(runner: Runner, rung: int, folds: Sequence[int]) -> float:
    return float(np.median([runner.outcomes[rung, fold].microseconds for fold in folds]))


def _model(
    search: Search,
    rung: int,
    folds: list[int],
    runners: list[Runner],
    choice: Choice,
    form: str,
    seconds: float,
) -> Ranker | None:
    """The one model; None where it cannot be had in this form."""
    if form == "fitted again":
        found = search.refit([runner.recipe for runner in runners], seconds)
        if None in found:
            return None
        models = [model for model in found if model is not None]
    else:
        taken = folds if form == "mean of folds" else folds[:1]
        models = [_mean(search, search.models(runner, rung, taken)) for runner in runners]
    if len(models) == 1:
        return models[0]
    weights = np.array(choice.weights) / np.array(choice.spreads)
    named = [(f"{number} {_short(runner)}", model)
             for number, (runner, model) in enumerate(zip(runners, models, strict=True), 1)]  # fmt: skip
    return _combined(search, named, weights, choice.scale)


def _mean(search: Search, models: list[Ranker]) -> Ranker:
    if len(models) == 1:
        return models[0]
    named = [(f"fold {number}", model) for number, model in enumerate(models, 1)]
    return _combined(search, named, np.full(len(models), 1 / len(models)), "none")


def _combined(search: Search, named: list[tuple[str, Ranker]], weights: Values, scale: str) -> Ranker:
    combined = LinearCombination(
        rankers=named, weights=tuple(weights.tolist()), normalize=scale, prefit=True, measure=search.measure
    )
    return combined.fit(search.plan.data.take([0]))


def _short(runner: Runner) -> str:
    return str(runner.recipe).partition("(")[0]


def _timed(model: Ranker, plan: Plan) -> tuple[float, int]:
    """Microseconds to score a document, the shortest of several timings, and of how many documents."""
    ends = np.searchsorted(plan.data.query_ptr, _TIMED_DOCS, side="right")
    data = plan.data.take(np.arange(max(1, min(int(ends), plan.data.n_queries))))
    timings = []
    for _ in range(_N_TIMINGS):
        started = time.perf_counter()
        model.predict(data)
        timings.append(time.perf_counter() - started)
    return 1e6 * min(timings) / data.n_docs, data.n_docs
