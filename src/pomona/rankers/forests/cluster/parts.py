"""Data that come in parts: whole queries are brought together on one worker, whatever the parting.

A query goes to the worker whose range of hashes its id falls into. The ranges are chosen so that workers get
about equally many documents; nobody has to know where a query's documents lie.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._splitmix import mix
from pomona._types import Features, Values
from pomona.data.categories import refuse_categories
from pomona.data.concatenation import concatenated
from pomona.data.content_order import in_content_order, query_keys
from pomona.data.dataset import Dataset
from pomona.data.read import read
from pomona.errors import InputError
from pomona.rankers.forests.cluster.record import RecordedGrower, TreeRecord
from pomona.rankers.forests.training.portion import PeerPortion
from pomona.rankers.inputs import training_weights
from pomona.trees.grower import Grower
from pomona.trees.peers import Peers


@dataclass(frozen=True)
class PartFacts:
    """What the client must know of a part."""

    hashes: NDArray[np.uint64]
    """(n_queries,) of the ids, in the order of the part."""
    n_docs: NDArray[np.int64]
    """(n_queries,)"""
    feature_names: tuple[str, ...]
    is_weighted: bool
    n_heavy: int
    """Documents of a weight above 0."""
    n_judged: int
    """Documents with a label."""
    n_counting: int
    """Documents with both."""


@dataclass(frozen=True)
class WeightColumn:
    """The column of files and frames that has the weights of documents, and is no feature."""

    name: str
    is_needed: bool = True
    """Whether data without it are refused."""


def read_part(path: str | Path, columns: dict[str, Any], weight: WeightColumn | None) -> Dataset:
    """A file, LETOR text or a table, as a part; a table may have a column of weights."""
    return with_weights(read(path, **columns), weight, path)


def frame_part(frame: Any, columns: dict[str, Any], weight: WeightColumn | None) -> Dataset:
    """A data frame as a part."""
    return with_weights(Dataset.from_frame(frame, **columns), weight, None)


def memory_part(data: Dataset) -> Dataset:
    """Data in memory as a part, those of one query after the other."""
    refuse_categories(data, "a cluster")
    return data.gathered()


def with_weights(data: Dataset, weight: WeightColumn | None, path: object) -> Dataset:
    """The part whose column `weight` has the weights of documents, and is no feature."""
    if weight is None or not (weight.is_needed or weight.name in data.feature_names):
        return memory_part(data)
    if weight.name not in data.feature_names:
        raise InputError(f"found no column {weight.name!r} of weights among {len(data.feature_names)}", path)
    column = data.feature_names.index(weight.name)
    others = [j for j in range(data.n_features) if j != column]
    names = [data.feature_names[j] for j in others]
    weights = data.X[:, column].astype(np.float64)
    plain = data.replace(X=np.ascontiguousarray(data.X[:, others]), feature_names=names, weight=weights)
    return memory_part(plain)


def facts_of(data: Dataset) -> PartFacts:
    """What the client must know of a part."""
    is_heavy = np.ones(data.n_docs, bool) if data.weight is None else data.weight > 0
    is_judged = ~np.isnan(data.y)
    counts = (int(np.count_nonzero(each)) for each in (is_heavy, is_judged, is_heavy & is_judged))
    return PartFacts(
        hashes_of(data.qids), data.query_lengths, data.feature_names, data.weight is not None, *counts
    )


def hashes_of(qids: NDArray[Any]) -> NDArray[np.uint64]:
    """One a query id, of the text that it prints as: the same whatever its type is in another part."""
    texts = np.char.encode(qids.astype(np.str_), "utf-8")
    words = [zlib.crc32(text) | zlib.adler32(text) << 32 for text in texts.tolist()]
    hashes: NDArray[np.uint64] = mix(np.array(words, np.uint64))
    return hashes


def cut_points(facts: Sequence[PartFacts], n_workers: int) -> NDArray[np.uint64]:
    """Where the ranges of hashes of all workers but the first begin: about equally many documents in each.

    Fewer than asked for where there are fewer queries than workers.
    """
    distinct, which = np.unique(np.concatenate([part.hashes for part in facts]), return_inverse=True)
    docs = np.bincount(which, np.concatenate([part.n_docs for part in facts]))
    n = min(n_workers, len(distinct))
    before = np.cumsum(docs) - docs
    firsts = np.searchsorted(before, docs.sum() * np.arange(1, n) / n)
    # At least one query for everybody.
    for k in range(n - 1):
        firsts[k] = min(max(firsts[k], firsts[k - 1] + 1 if k else 1), len(distinct) - (n - 1 - k))
    cuts: NDArray[np.uint64] = distinct[firsts]
    return cuts


@dataclass(frozen=True)
class Piece:
    """The queries of one part that go to one worker, as many columns wide as the widest part."""

    data: Dataset
    order: NDArray[np.int64]
    """(n_queries,) where they stand in the part."""


def split_part(
    part: Dataset, cuts: NDArray[np.uint64], n_features: int, feature_names: Sequence[str]
) -> list[Piece]:
    """What of a part goes to each worker; features that only a wider part mentions are 0."""
    data = part.widened(n_features).with_features(feature_names)
    worker = np.searchsorted(cuts, hashes_of(data.qids), side="right")
    queries = [np.flatnonzero(worker == w) for w in range(len(cuts) + 1)]
    return [Piece(data.take(chosen), chosen) for chosen in queries]


@dataclass(frozen=True)
class Holding:
    """All queries that came to one worker, from parts in their order."""

    data: Dataset
    places: NDArray[np.int64]
    """(n_queries, 2) the part in which each first appears, and where in it."""


def assemble(pieces: Sequence[Piece]) -> Holding:
    """What came to a worker from each part: the documents of a query in the order of parts and rows."""
    held = [(number, piece) for number, piece in enumerate(pieces) if piece.data.n_queries]
    if not held:
        return Holding(pieces[0].data, np.empty((0, 2), np.int64))
    data = concatenated([piece.data for _, piece in held])
    texts = np.concatenate([piece.data.qids.astype(np.str_) for _, piece in held])
    _, first = np.unique(texts, return_index=True)
    places = np.concatenate(
        [np.stack([np.full(len(piece.order), number), piece.order], axis=1) for number, piece in held]
    )[np.sort(first)]
    return Holding(data.gathered(), places)


def portion_of(
    train: Holding, valid: Holding | None, peers: Peers, record: TreeRecord, *, unjudged: str | None = None
) -> tuple[Dataset, Values | None, Dataset | None, PeerPortion]:
    """Training data in the order of their content, what their documents count, validation data, and where
    they stand among all."""
    data = train.data.filled()
    weights = training_weights(data, unjudged=unjudged)
    if peers.gather(np.array([int(weights is not None)])).any() and weights is None:
        weights = np.ones(data.n_docs)  # others have documents without a label
    ordered = in_content_order(data, weights)
    weights = None if weights is None else ordered.from_input_order(weights)
    data = ordered.gathered()
    keys = query_keys(data, weights)
    places = {"train": _places(keys, peers)}
    if valid is not None:
        places["valid"] = _places(valid.places.T[::-1].astype(np.uint64), peers)
    numbers = {part: number for part, (number, _) in places.items()}
    counts = {part: count for part, (_, count) in places.items()}

    def watched(grower: Grower, X: Features) -> Grower:
        return RecordedGrower(grower, X, record, peers)

    portion = PeerPortion(peers, data.query_ptr, numbers, counts, watched)
    return data, weights, None if valid is None else valid.data, portion


def _places(keys: NDArray[np.uint64], peers: Peers) -> tuple[NDArray[np.int64], int]:
    """Where the queries of these keys (the last row first) stand among all, and how many these are."""
    of_all = peers.joined(np.ascontiguousarray(keys.T))
    owner = peers.joined(np.full(keys.shape[1], peers.rank, np.int64))
    order = np.lexsort(of_all.T)
    return np.flatnonzero(owner[order] == peers.rank), len(order)
