"""What a worker does in a training: it opens a session, learns with the others, and tells of every tree.

Outcomes are returned and never raised, so that the client can tell the error of one worker from those of the
others, who only see that it is gone.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pomona._jit import threads
from pomona.rankers.base import TRAINING, Ranker
from pomona.rankers.forests.cluster.linked_peers import Address, LinkedPeers, PeerLostError
from pomona.rankers.forests.cluster.parts import Holding, portion_of
from pomona.rankers.forests.cluster.record import RecordedTree, TreeRecord


@dataclass
class Session:
    """One worker's part in one training."""

    peers: LinkedPeers
    record: TreeRecord


@dataclass(frozen=True)
class Outcome:
    """How the training of one worker ended."""

    error: Exception | None = None
    is_lost: bool = False
    """Whether it ended since another worker was gone."""
    is_interrupted: bool = False
    """Whether it was interrupted before there was anything to keep."""
    state: tuple[dict[str, Any], dict[str, Any]] | None = None
    """What the ranker of rank 0 learnt."""
    training: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    exchanged: tuple[int, int, float] = (0, 0, 0.0)
    """Sums, bytes sent, and seconds that this took."""


_sessions: dict[tuple[str, int], Session] = {}
"""By the name of the training and the rank."""


def open_session(run: str, ranks: Mapping[str, int], key: bytes, dask_worker: Any) -> Address:
    """Be ready for a training of this name; where the others can reach this worker."""
    rank = ranks[dask_worker.address]
    peers = LinkedPeers(rank, urlsplit(dask_worker.address).hostname or "127.0.0.1", key)
    _sessions[run, rank] = Session(peers, TreeRecord())
    return peers.address


def close_sessions(run: str, ranks: Mapping[str, int], dask_worker: Any) -> None:
    """End a training here, whatever it is doing."""
    session = _sessions.pop((run, ranks[dask_worker.address]), None)
    if session is not None:
        session.peers.close()


def interrupt(run: str, ranks: Mapping[str, int], dask_worker: Any) -> None:
    """Let a training end before its next tree."""
    session = _sessions.get((run, ranks[dask_worker.address]))
    if session is not None:
        session.record.interrupted = True


def topic_of(run: str) -> str:
    """Where rank 0 tells of trees."""
    return f"pomona-{run}"


def learn(
    run: str,
    rank: int,
    addresses: Sequence[Address],
    ranker: Any,
    train: Holding,
    valid: Holding | None,
    trees: Sequence[RecordedTree],
    unjudged: str | None = None,
) -> Outcome:
    """On a worker: learn with the others from the queries here, after trees of an earlier training."""
    from distributed import get_worker

    worker, session = get_worker(), _sessions[run, rank]
    session.record.trees = list(trees)
    if rank == 0:
        session.record.tell = _teller(worker, run, ranker)
    try:
        session.peers.connect(addresses)
        messages: list[str] = []
        with _warnings(messages) if rank == 0 else nullcontext(), threads(worker.state.nthreads):
            data, weights, held_out, portion = portion_of(
                train, valid, session.peers, session.record, unjudged=unjudged
            )
            ranker.learn_portion(data, held_out, weights, portion)
        return _learnt(ranker, rank, messages, session.peers)
    except KeyboardInterrupt:
        return Outcome(is_interrupted=True)
    except PeerLostError as error:
        return Outcome(error, is_lost=True)
    except Exception as error:
        return Outcome(error)
    finally:
        session.peers.close()
        _sessions.pop((run, rank), None)


@contextmanager
def _warnings(out: list[str]) -> Iterator[None]:
    """Keep what is warned of, for the client to say."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    out += [str(each.message) for each in caught if issubclass(each.category, UserWarning)]


def _learnt(ranker: Ranker, rank: int, messages: list[str], peers: LinkedPeers) -> Outcome:
    exchanged = (peers.n_sums, peers.bytes_sent, peers.seconds)
    if rank > 0:
        return Outcome(exchanged=exchanged)
    training = {name: getattr(ranker, name) for name in TRAINING}
    return Outcome(state=ranker.get_state(), training=training, warnings=tuple(messages), exchanged=exchanged)


def _teller(worker: Any, run: str, ranker: Any) -> Callable[[RecordedTree], None]:
    """Send every tree, and the values of the iteration before it, to whoever listens at the client."""

    def tell(tree: RecordedTree) -> None:
        log = ranker._log
        values = {part: curve[-1] for part, curve in log.evals.items()} if log.evals else {}
        message = {"tree": pickle.dumps(tree), "iteration": log.iteration, "values": values}
        worker.log_event(topic_of(run), message)

    return tell
