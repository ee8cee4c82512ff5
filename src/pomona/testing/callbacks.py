"""What a ranker that learns step by step promises to callbacks, and of the sets that are watched beside."""

from __future__ import annotations

from typing import Any

from pomona.rankers.base import TRAINING, Ranker
from pomona.rankers.callback import TrainingStep
from pomona.testing.contract import is_same, require, require_equal
from pomona.testing.sample import fresh_data, keeping_the_best, new_ranker, saved_and_loaded, train_data


def check_callbacks(ranker: Ranker) -> None:
    """Callbacks see every step, change nothing, can stop the training, and can have the model so far."""
    plain = _fitted(ranker)
    if not hasattr(plain, "evals_"):
        return
    steps: list[TrainingStep] = []
    models: list[Ranker] = []

    def see(step: TrainingStep) -> None:
        steps.append(step)
        if len(steps) == 2:
            models.append(step.model())

    seen = _fitted(ranker, callbacks=[see])
    _require_same(plain, seen, "callbacks must change nothing")
    seen_values = [dict(step.values) for step in steps]
    recorded = [
        dict(zip(seen.evals_, values, strict=True)) for values in zip(*seen.evals_.values(), strict=True)
    ]
    require(
        all(any(is_same(one, other) for other in seen_values) for one in recorded),
        f"callbacks must be told of every step: found {seen_values}, recorded were {recorded}",
    )
    if len(steps) < 2:
        return
    stopped = _fitted(ranker, callbacks=lambda step: _is_same_step(step, steps[1]))
    require(
        stopped.best_iteration_ <= steps[1].iteration and not stopped.interrupted_,
        "a callback that returns True must end the training, which is then not interrupted: found "
        f"{stopped.best_iteration_} of {steps[1].iteration} steps, interrupted_ {stopped.interrupted_}",
    )
    _require_same(models[0], stopped, "the model of a step must be that of a training which is stopped there")


def check_watched_sets(ranker: Ranker) -> None:
    """Other validation sets and measures are recorded, and decide nothing."""
    ranker = keeping_the_best(ranker)
    plain = _fitted(ranker)
    if not hasattr(plain, "evals_"):
        return
    other = train_data().take(range(5))
    watching = _fitted(ranker, eval_set=[other], eval_names=["other"], eval_measures=["p@1"])
    for part in plain.evals_:
        require(
            is_same(plain.evals_[part], watching.evals_.get(part)),
            f"sets that are watched must not change what is recorded of {part}",
        )
    more = set(watching.evals_) - set(plain.evals_)
    require(
        more == {"other", "valid p@1", "other p@1"},
        f"every set must be judged by every measure that is watched, found {sorted(more)}",
    )
    promise = "sets that are watched must not change the model"
    require_equal(plain.predict(fresh_data()), watching.predict(fresh_data()), promise)
    best = watching.best_iteration_ - 1
    for part, data in (("other", other), ("valid", fresh_data())):
        expected = new_measure(watching, "p@1").score(data)
        recorded = watching.evals_[f"{part} p@1"][best]
        require(
            abs(recorded - expected) <= 1e-9,
            f"of the step that is kept, {part} p@1 must be that of the model: {recorded}, not {expected}",
        )
    require(
        abs(watching.evals_["other"][best] - watching.score(other)) <= 1e-9,
        "of the step that is kept, the measure of a set must be that of the model",
    )


def new_measure(fitted: Ranker, measure: str) -> Any:
    """The fitted ranker, to be judged by another measure."""
    return saved_and_loaded(fitted).set_params(measure=measure)


def _fitted(ranker: Ranker, **options: Any) -> Ranker:
    return new_ranker(ranker, seed=3).fit(train_data(), valid=fresh_data(), **options)


def _is_same_step(one: TrainingStep, other: TrainingStep) -> bool:
    return one.iteration == other.iteration and is_same(dict(one.values), dict(other.values))


def _require_same(one: Ranker, other: Ranker, promise: str) -> None:
    require_equal(one.predict(fresh_data()), other.predict(fresh_data()), promise)
    loaded = saved_and_loaded(one)
    require_equal(one.predict(fresh_data()), loaded.predict(fresh_data()), f"{promise}, also in a file")
    for name in TRAINING:
        require(is_same(getattr(one, name), getattr(other, name)), f"{promise}, also not {name}")
