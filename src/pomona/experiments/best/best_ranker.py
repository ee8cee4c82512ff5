"""The best ranker that can be found in a given time, as one estimator."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from pomona import _registry
from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.experiments.best.conclusion import Conclusion, conclude, reserve
from pomona.experiments.best.duration import in_words, seconds_of
from pomona.experiments.best.plan import Plan
from pomona.experiments.best.race import Runner
from pomona.experiments.best.search import Limits, Progress, Search
from pomona.experiments.best.stack import Estimate
from pomona.experiments.source import teaches
from pomona.experiments.store import Store
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker
from pomona.rankers.parameter import Interval, NonNegativeInt, PositiveFloat

if TYPE_CHECKING:
    import polars as pl


class BestRanker(Ranker):
    """The best ranker that can be found in a given time.

    It tries the rankers of a menu, the quick ones first, and then changes of the best ones (successive
    halving over queries, steps and folds), in as many processes as there are cores; weighs what helps into a
    combination; and estimates, on queries that chose nothing, how good the result is. `fit` learns `model_`,
    an ordinary ranker, which is what is saved and exported.

    Parameters
    ----------
    time : how long `fit` may take: `90s`, `10m`, `1h30m`, or a number of seconds.
    measure : what is to be best, and what `score` reports.
    latency : the most that scoring a document may take: `20us`, or a number of microseconds; None for no
        limit.
    formats : formats of `pomona list formats`, with commas between, that the model can be exported to; empty
        for no such demand.
    n_folds : without validation data: into how many parts the queries are cut, each of which judges once.
    directory : where everything that is tried is kept, so that another `fit` of the same data goes on from
        it; None keeps nothing.
    seed : of folds and of changes.
    verbose : tell on standard error how it stands.

    Attributes
    ----------
    model_ : the fitted ranker that was found.
    estimate_ : the mean of the measure over held-out queries that chose nothing, with its interval.
    conclusion_ : what the model consists of, and what it costs.
    trials_ : a table of everything that was tried.
    seconds_ : how long it took, and `spent_` with all earlier calls for the same directory.
    interrupted_ : whether Ctrl-C ended the search.
    """

    name = "best"
    family = "ensemble"
    optimizes = "direct"
    paper = "Li et al., MLSys 2020 (successive halving); Caruana et al., ICML 2004 (ensemble selection)"

    time: str | PositiveFloat = "10m"
    measure: str | Measure = "ndcg@10"
    latency: str | PositiveFloat | None = None
    formats: str = ""
    n_folds: Annotated[int, Interval(3)] = 5
    directory: str | Path | None = None
    seed: NonNegativeInt = 0
    verbose: bool = False

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        """Search, and keep the model that is made of what was found."""
        started = time.monotonic()
        total = seconds_of(self.time)
        limits = self._limits()
        if train.weight is not None:
            raise InputError("a search judges all queries alike: leave sample_weight out")
        if weights is not None:
            raise InputError(
                "a search does not take documents that are not judged (label NaN): leave them out, or fit "
                "with unjudged='irrelevant'"
            )
        if not self.parsed_measure.is_registered:
            raise InputError(
                f"a search tries its rankers in other processes, which do not have the class "
                f"{type(self.parsed_measure).__name__}: choose a measure of `pomona list measures`"
            )
        _refuse_unteachable(train)
        plan = Plan.of(train, valid, self.n_folds, self.seed)
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(self._store())
            measure = str(self.parsed_measure)
            search = stack.enter_context(Search(plan, store, measure, limits, self.seed))
            hear = stack.enter_context(_watch(self.verbose))
            left = total - (time.monotonic() - started)
            search.run(left, reserve=lambda: reserve(search, total), hear=hear)
            hear(None)
            left = total - (time.monotonic() - started)
            self.conclusion_: Conclusion = conclude(search, total, max(left, 0.02 * total))
            self.trials_: pl.DataFrame = trials_table(search, self.conclusion_)
            self.spent_, self.interrupted_ = search.spent, search.interrupted
        self.model_: Ranker = self.conclusion_.model
        self.estimate_: Estimate = self.conclusion_.estimate
        if self.interrupted_:
            warnings.warn("interrupted: keeping the best so far", stacklevel=4)
        for note in self.conclusion_.notes:
            warnings.warn(note, stacklevel=4)
        self.seconds_ = time.monotonic() - started

    def _limits(self) -> Limits:
        given = self.latency
        if isinstance(given, str):
            given = 1e6 * seconds_of(
                given if given.strip()[-1:].isalpha() else f"{given}us", "latency", "20us"
            )
        names = [name.strip() for name in self.formats.split(",") if name.strip()]
        formats = [_registry.find("trees/formats", name, "format of models").name for name in names]
        return Limits(given, tuple(formats))

    @contextlib.contextmanager
    def _store(self) -> Iterator[Store]:
        with contextlib.ExitStack() as stack:
            folder = self.directory
            if folder is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pomona-best-"))
            yield stack.enter_context(Store(folder))

    @property
    def scores_whole_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return not hasattr(self, "model_") or self.model_.scores_whole_queries

    def predict_rows(self, X: Features) -> Scores:
        """One score a row, by the model."""
        return self.model_.predict_rows(X)

    def predict_queries(self, data: Dataset) -> Scores:
        """One score a document, by the model."""
        return self.model_.predict(data)

    def portable(self) -> Any:
        """The model as engines hold one."""
        self.check_fitted()
        return self.model_.portable()

    def save(self, path: str | Path) -> None:
        """Write the model that was found; how it was found is not part of it."""
        self.check_fitted()
        self.model_.save(path)


def trials_table(search: Search, conclusion: Conclusion) -> pl.DataFrame:
    """Everything that was tried, the furthest and best first.

    recipe, ranker, origin : what, of which method, and whether it is of the menu or a change of another.
    rung, n_folds, value : how far it came, and the mean of the measure over the queries judged there.
    seconds, microseconds : of all its fits together, and to score a document.
    at : seconds of search when it had come so far.
    is_on_front : whether none that came as far is both better and faster to score.
    weight : in the model.
    reason : why it is out, if it is.
    """
    import polars as pl

    weights = {id(runner): weight for runner, weight in conclusion.members}
    rows = [_trial(search, runner, weights.get(id(runner), 0.0)) for runner in search.race.runners]
    schema: dict[str, Any] = dict.fromkeys(("recipe", "ranker", "origin", "rung"), pl.String)
    schema |= {"n_folds": pl.Int64, **dict.fromkeys(("value", "seconds", "microseconds", "at"), pl.Float64)}
    schema |= {"weight": pl.Float64, "reason": pl.String, "height": pl.Int64}
    table = pl.DataFrame(rows, schema=schema).sort("height", "value", descending=True, nulls_last=True)
    front, fastest, top = [], np.inf, max(row["height"] for row in rows)
    for row in table.iter_rows(named=True):
        is_on = row["height"] == top and not row["reason"] and row["microseconds"] < fastest
        fastest = row["microseconds"] if is_on else fastest
        front.append(is_on)
    return table.drop("height").insert_column(9, pl.Series("is_on_front", front, dtype=pl.Boolean))


def _trial(search: Search, runner: Runner, weight: float) -> dict[str, Any]:
    """A row of the table."""
    values = [search.race.value(runner, rung) for rung in range(len(search.rungs))]
    height = max((rung for rung, value in enumerate(values) if value is not None), default=-1)
    rung = None if height < 0 else search.rungs[height]
    folds = [] if rung is None else [runner.outcomes[height, fold] for fold in rung.folds]
    return {
        "recipe": str(runner.recipe),
        "ranker": _registry.find("rankers", runner.recipe.ranker, "ranker").class_name,
        "origin": runner.origin,
        "rung": None if rung is None else rung.name,
        "n_folds": len(folds),
        "value": None if rung is None else values[height],
        "seconds": sum(one.seconds for one in set(runner.outcomes.values())),
        "microseconds": float(np.median([one.microseconds for one in folds])) if folds else None,
        "at": max((one.at for one in folds), default=None),
        "weight": weight,
        "reason": runner.reason,
        "height": height,
    }


def _refuse_unteachable(train: Dataset) -> None:
    if not teaches(train).any():
        raise InputError(
            "there is nothing to learn: the labels of each query are all equal; check the label column"
        )


@contextlib.contextmanager
def _watch(is_on: bool) -> Iterator[Any]:
    """What hears how a search stands, and tells it on standard error; None: the search is over."""
    if not is_on:
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = TextColumn("best"), BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn()
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def hear(progress: Progress | None) -> None:
            if progress is None:
                bar.update(task, completed=1.0, description="weighing what was found")
            else:
                share = progress.seconds / progress.total
                bar.update(task, completed=share, description=f"{_told(progress)}")

        yield hear


class _Lines:
    """A line when something better is found, for what is no terminal."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, progress: Progress | None) -> None:
        if progress is not None and progress.best and progress.best != self._last:
            self._last = progress.best
            sys.stderr.write(f"{in_words(progress.seconds)}: {_told(progress)}\n")
            sys.stderr.flush()


def _told(progress: Progress) -> str:
    best = "" if progress.value is None else f", {progress.value:.4f} by {progress.best}"
    return f"{progress.n_fits} fits of {progress.n_recipes} recipes{best}"
