"""Training on a Dask cluster, seen from the client: whole queries to workers, then one session of them all.

Every tree comes to the client as soon as it is grown. When a worker is lost, the data are dealt out anew to
those that are left, and the training goes on from the last tree: to the same bits, as ever.
"""

from __future__ import annotations

import copy
import operator
import os
import pickle
import secrets
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pomona.data.dataset import Dataset, numbered
from pomona.errors import InputError, PomonaError
from pomona.rankers.base import Ranker
from pomona.rankers.forests.cluster import session
from pomona.rankers.forests.cluster.parts import (
    PartFacts,
    WeightColumn,
    assemble,
    cut_points,
    facts_of,
    frame_part,
    memory_part,
    read_part,
    split_part,
)
from pomona.rankers.forests.cluster.record import RecordedTree
from pomona.rankers.forests.cluster.session import Outcome
from pomona.rankers.inputs import as_dataset, weighted
from pomona.rankers.parameter import check_parameters
from pomona.rankers.training_log import TrainingLog
from pomona.rankers.watched import check_options

Loader = Callable[[Any, int], list[Any]]
"""Of a client and a number of workers, futures of parts."""

_LOOK_SECONDS = 0.5  # between looks at whether all workers are there
_PATIENCE_SECONDS = 15.0  # for other workers to end, or new ones to come, after one is lost
_MOST_LOSSES = 3  # in a row, without a new tree


class ClusterError(PomonaError):
    """A training on a cluster that could not be brought to its end."""


class _WorkerLostError(Exception):
    """The training has to be begun anew, by the workers that are left."""


def fit_on_cluster(
    ranker: Any,
    X: Any,
    y: Any,
    qid: Any,
    *,
    valid: Any,
    sample_weight: ArrayLike | str | None,
    valid_weight: ArrayLike | str | None,
    unjudged: str | None,
    base_model: Ranker | None,
    client: Any,
    refused: Mapping[str, Any],
) -> None:
    """Fit a forest ranker by the workers of `client`; see `ForestRanker.fit`.

    refused : what else was given, of which a cluster can do nothing.
    """
    if not ranker.trains_on_clusters:
        raise InputError(f"{type(ranker).__name__} cannot be trained on a cluster: leave client out")
    for name, value in {**refused, "warm_start": getattr(ranker, "warm_start", None) or None}.items():
        if value is not None:
            remedy = "give qid, the name of a column" if name == "group" else f"leave {name} or client out"
            raise InputError(f"a cluster cannot train with {name}: {remedy}")
    ranker.__dict__.pop("n_features_in_", None)  # what a failed training leaves is no model
    check_parameters(ranker)
    check_options(type(ranker).__name__, {"unjudged": unjudged})
    train = loader_of(X, y, qid, sample_weight, "sample_weight")
    held_out = None
    if valid_weight is not None and valid is None:
        raise InputError("valid_weight goes with valid, the validation data: give both, or leave it out")
    if _is_arrays(valid):
        X_valid, y_valid, qid_valid = valid
        held_out = loader_of(X_valid, y_valid, qid_valid, valid_weight, "valid_weight")
    elif isinstance(valid, Dataset):
        held_out = loader_of(valid, None, None, valid_weight, "valid_weight")
    elif valid is not None:
        # Columns of files and frames are those of the training data.
        weight: Any = valid_weight
        if weight is None and isinstance(sample_weight, str):
            weight = WeightColumn(sample_weight, is_needed=False)
        held_out = loader_of(valid, y, qid, weight, "valid_weight")
    unfitted = copy.copy(ranker)
    unfitted.base_model_, unfitted.needs_base_, unfitted.verbose = base_model, False, False
    training = ClusterTraining(client, unfitted, train, held_out, unjudged)
    total = ranker.n_trees
    display = TrainingLog(type(ranker).__name__, total, unit="tree", verbose=ranker.verbose)
    with display.watch():
        outcome = training.run(display)
    _keep(ranker, outcome, training, base_model, has_columns=hasattr(X, "to_delayed"))


def _keep(
    ranker: Any, outcome: Outcome, training: ClusterTraining, base_model: Ranker | None, has_columns: bool
) -> None:
    """Make what the workers learnt the ranker's own."""
    names = training.feature_names
    ranker.n_features_in_, ranker.feature_names_ = len(names), names
    ranker._set_column_names(names if has_columns and names != numbered(len(names)) else None)
    assert outcome.state is not None
    ranker.set_state(*outcome.state)
    ranker.base_model_ = base_model
    for name, value in outcome.training.items():
        setattr(ranker, name, value)
    for message in outcome.warnings:
        warnings.warn(message, UserWarning, stacklevel=4)
    if ranker.interrupted_:
        warnings.warn(f"interrupted: keeping tree {ranker.best_iteration_}", UserWarning, stacklevel=4)


class ClusterTraining:
    """One training by the workers of a client, which outlives the loss of some of them."""

    def __init__(
        self, client: Any, ranker: Any, train: Loader, valid: Loader | None, unjudged: str | None = None
    ) -> None:
        self._client, self._ranker, self._train, self._valid = client, ranker, train, valid
        self._unjudged = unjudged
        self.trees: list[RecordedTree] = []
        self.feature_names: tuple[str, ...] = ()
        self.outcomes: list[Outcome] = []
        self._is_interrupted = False

    def run(self, display: TrainingLog) -> Outcome:
        """Train to the end; the outcome of rank 0."""
        n_losses, n_trees = 0, 0
        while True:
            addresses = self._workers()
            try:
                return self._attempt(addresses, display)
            except _WorkerLostError as loss:
                n_losses = n_losses + 1 if len(self.trees) == n_trees else 1
                n_trees = len(self.trees)
                if n_losses > _MOST_LOSSES:
                    raise ClusterError(
                        f"{loss}, for the {n_losses}th time after {n_trees} trees: look at the workers' logs"
                    ) from None
                note = f"{loss}: the others go on from tree {n_trees}"
                warnings.warn(note, UserWarning, stacklevel=6)

    def _workers(self) -> list[str]:
        """The addresses of all workers, of which there may be none for a while after a loss."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while not (addresses := sorted(self._client.nthreads())):
            if time.monotonic() > until:
                had = f" after {len(self.trees)} trees" if self.trees else ""
                raise ClusterError(f"the cluster has no worker{had}: start some, and fit again")
            time.sleep(_LOOK_SECONDS)
        if addresses[0].startswith("tls:"):
            raise InputError(
                f"the cluster is encrypted ({addresses[0]}), the sums that its workers swap would not be: "
                "give the client of a tcp:// cluster"
            )
        return addresses

    def _attempt(self, addresses: list[str], display: TrainingLog) -> Outcome:
        train, names, n_workers = self._dealt(self._train, addresses, len(addresses), None)
        addresses = addresses[:n_workers]
        self.feature_names = names
        valid: list[Any] = [None] * n_workers
        if self._valid is not None:
            valid, _, _ = self._dealt(self._valid, addresses, n_workers, names)
        run, key = uuid.uuid4().hex, secrets.token_bytes(16)
        ranks = {address: rank for rank, address in enumerate(addresses)}
        opened = self._on_workers(session.open_session, run, ranks, key)
        where = [opened[address] for address in addresses]
        with self._told(run, display):
            futures = [
                self._client.submit(
                    *(session.learn, run, rank, where, self._ranker, train[rank], valid[rank], self.trees),
                    self._unjudged,
                    workers=[address],
                    pure=False,
                    retries=0,
                )
                for address, rank in ranks.items()
            ]
            try:
                self.outcomes = self._finished(futures, addresses, run, ranks)
            except BaseException:
                self._close(futures, run, ranks)
                raise
        return self._judged(self.outcomes)

    def _close(self, futures: list[Any], run: str, ranks: dict[str, int]) -> None:
        """End what is left of a training, without waiting: of dead workers it would be for long."""

        def close() -> None:
            with suppress(Exception):
                self._client.cancel(futures)
                left = {address: ranks[address] for address in self._client.nthreads() if address in ranks}
                self._on_workers(session.close_sessions, run, left, on_error="ignore")

        threading.Thread(target=close, daemon=True).start()

    def _judged(self, outcomes: list[Outcome]) -> Outcome:
        for outcome in outcomes:
            if outcome.error is not None and not outcome.is_lost:
                raise outcome.error
        if any(outcome.is_interrupted for outcome in outcomes):
            raise KeyboardInterrupt
        lost = next((outcome.error for outcome in outcomes if outcome.is_lost), None)
        if lost is not None:
            raise _WorkerLostError(str(lost))
        return outcomes[0]

    def _dealt(
        self, load: Loader, addresses: list[str], most: int, names: tuple[str, ...] | None
    ) -> tuple[list[Any], tuple[str, ...], int]:
        """Futures of what each worker holds, the names of features, and how many workers hold something."""
        client = self._client
        parts = load(client, len(addresses))
        facts = self._results(client.map(facts_of, parts, pure=False), addresses)
        own_names = _checked(facts, self._unjudged, is_train=names is None)
        cuts = cut_points(facts, most)
        # Data that only decide when to stop may have fewer queries than there are workers.
        n_holding = most if names is not None else len(cuts) + 1
        cuts = np.append(cuts, np.full(n_holding - 1 - len(cuts), 2**64 - 1, np.uint64))
        width = len(own_names)
        split = client.map(
            split_part, parts, cuts=cuts, n_features=width, feature_names=names or own_names, pure=False
        )
        holdings = []
        for rank in range(n_holding):
            pieces = [client.submit(operator.getitem, each, rank, pure=False) for each in split]
            pinned = {"workers": [addresses[rank]], "pure": False}
            holdings.append(client.submit(assemble, pieces, **pinned))
        self._done(holdings, addresses)
        return holdings, own_names, n_holding

    def _done(self, futures: Sequence[Any], addresses: Sequence[str]) -> None:
        """Wait for futures; the error of one, or the loss of a worker, ends this."""
        looked = time.monotonic()
        while not all(future.done() for future in futures):
            time.sleep(0.01)
            if time.monotonic() - looked > _LOOK_SECONDS:
                self._look(addresses)
                looked = time.monotonic()
        for future in futures:
            if future.status == "cancelled":
                self._look(addresses)
                raise ClusterError("the cluster cancelled the training: is somebody restarting it?")
            if future.status != "finished":
                error = future.exception()
                if type(error).__name__ == "KilledWorker":
                    raise ClusterError(f"workers die of reading the data: {error}")
                raise error

    def _results(self, futures: Sequence[Any], addresses: Sequence[str]) -> list[Any]:
        self._done(futures, addresses)
        results: list[Any] = self._client.gather(list(futures))
        return results

    def _look(self, addresses: Sequence[str]) -> None:
        """Are all workers there?"""
        if self._client.status not in ("running", "connecting"):
            raise ClusterError("the connection to the scheduler is lost: fit again when it is back")
        try:
            present = self._client.nthreads()
        except Exception as error:
            raise ClusterError(f"the connection to the scheduler is lost ({error}): fit again") from None
        for address in addresses:
            if address not in present:
                raise _WorkerLostError(f"worker {address} was lost")

    def _finished(
        self, futures: list[Any], addresses: list[str], run: str, ranks: dict[str, int]
    ) -> list[Outcome]:
        """The outcomes of all workers; Ctrl-C lets them end with what they have."""
        while True:
            try:
                return self._results(futures, addresses)
            except KeyboardInterrupt:
                if self._is_interrupted:
                    raise
                self._is_interrupted = True
                self._on_workers(session.interrupt, run, ranks)

    def _on_workers(
        self, act: Callable[..., Any], run: str, ranks: dict[str, int], *more: Any, on_error: str = "raise"
    ) -> dict[str, Any]:
        """What a function gives in the event loop of every worker."""
        try:
            given: dict[str, Any] = self._client.run(
                act, run, ranks, *more, workers=list(ranks), on_error=on_error
            )
        except (OSError, ValueError, KeyError) as error:
            raise _WorkerLostError(f"a worker was lost: {error}") from None
        return given

    @contextmanager
    def _told(self, run: str, display: TrainingLog) -> Iterator[None]:
        """Keep the trees that rank 0 tells of, and show how far it is."""

        def hear(event: tuple[float, dict[str, Any]]) -> None:
            message = event[1]
            self.trees.append(pickle.loads(message["tree"]))
            while display.iteration < message["iteration"]:
                display.record(**message["values"])

        self._client.subscribe_topic(session.topic_of(run), hear)
        try:
            yield
        finally:
            with suppress(Exception):
                self._client.unsubscribe_topic(session.topic_of(run))


def _checked(facts: Sequence[PartFacts], unjudged: str | None, *, is_train: bool) -> tuple[str, ...]:
    """The names of the features; refuses parts that no dataset could be made of, or that teach nothing."""
    facts = [part for part in facts if len(part.n_docs)]
    if not facts:
        raise InputError("found 0 documents in all parts, a minimum of 1 is required to learn")
    names = max((part.feature_names for part in facts), key=len)
    if not names:
        raise InputError("found 0 features, a minimum of 1 is required to learn")
    if not any(part.n_heavy for part in facts):
        raise InputError("all weights are zero, so no document counts: give some a weight above 0")
    if is_train and not any(part.n_judged for part in facts):
        raise InputError("no document is judged (all labels are NaN): there is nothing to learn from")
    if is_train and unjudged != "irrelevant" and not any(part.n_counting for part in facts):
        raise InputError("all judged documents have weight 0: there is nothing to learn from")
    return facts[0].feature_names if len(facts[0].feature_names) == len(names) else names


def _is_arrays(valid: Any) -> bool:
    """Whether validation data are (X, y, qid)."""
    return isinstance(valid, tuple) and not all(isinstance(each, str | os.PathLike) for each in valid)


def loader_of(
    X: Any, y: Any, qid: Any, weights: ArrayLike | str | WeightColumn | None, name: str = "sample_weight"
) -> Loader:
    """What makes parts, on the workers, of files, a Dask data frame, or data in memory."""
    columns = {name: value for name, value in (("label", y), ("qid", qid)) if value is not None}
    paths = _paths(X)
    if paths is not None or hasattr(X, "to_delayed"):
        if not all(isinstance(name, str) for name in columns.values()):
            raise InputError("of files and Dask frames, y and qid are the names of columns")
        if not isinstance(weights, str | WeightColumn | None):
            raise InputError(f"of files and Dask frames, {name} is the name of a column")
        column = WeightColumn(weights) if isinstance(weights, str) else weights
    if paths is not None:
        return lambda client, n: client.map(read_part, paths, columns=columns, weight=column, pure=False)
    if hasattr(X, "to_delayed"):
        named = {"label": "label", "qid": "qid", **columns}

        def of_frame(client: Any, n: int) -> list[Any]:
            frames = client.compute(X.to_delayed())
            parts: list[Any] = client.map(frame_part, frames, columns=named, weight=column, pure=False)
            return parts

        return of_frame
    if isinstance(weights, str | WeightColumn):
        raise InputError(f"{name} is the name of a column of files or a Dask frame only: give the weights")
    whole = memory_part(weighted(as_dataset(X, y, qid), weights, X, name))

    def in_memory(client: Any, n: int) -> list[Any]:
        chosen = np.array_split(np.arange(whole.n_queries), min(n, max(whole.n_queries, 1)))
        parts: list[Any] = client.scatter([whole.take(queries) for queries in chosen], hash=False)
        return parts

    return in_memory


def _paths(X: Any) -> list[str] | None:
    """The files that are meant, in their order; None if X is no path, pattern, or list of such."""
    given = [X] if isinstance(X, str | os.PathLike) else X
    if not isinstance(given, list | tuple) or not given:
        return None
    if not all(isinstance(each, str | os.PathLike) for each in given):
        return None
    paths: list[str] = []
    for each in map(os.fspath, given):
        path = Path(each).absolute()
        matches = [path]
        if any(sign in path.name for sign in "*?["):
            matches = sorted(path.parent.glob(path.name))
        if not matches:
            raise InputError("found no file of this pattern", each)
        paths += map(str, matches)
    return paths
