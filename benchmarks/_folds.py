"""Real collections in folds, and judgements of the same queries set side by side."""

import functools
import warnings
from dataclasses import dataclass, field

import numpy as np

import pomona as pm
from pomona.data.catalog import load_folds
from pomona.data.concatenation import concatenated
from pomona.data.k_fold import QueryKFold
from pomona.errors import PomonaError

COLLECTIONS = ("mq2007", "mq2008", "ohsumed", "mslr-subset", "lightgbm-example")
MEASURES = ("ndcg@10", "ndcg@5", "ap")


@functools.cache
def whole(name):
    """All queries of a collection; None where its files are not here."""
    try:
        parts = [part for part in load_folds(name)[0] if part is not None]
    except PomonaError as error:
        warnings.warn(f"{name} is left out: {error}", stacklevel=2)
        return None
    X, y = (np.concatenate([getattr(part, one) for part in parts]) for one in ("X", "y"))
    # Parts may number their queries alike.
    qid = np.concatenate(
        [np.unique(part.qid, return_inverse=True)[1] + 10**6 * k for k, part in enumerate(parts)]
    )
    return pm.Dataset(X, y, qid=qid)


def crossed(data, seeds):
    """Random folds of all queries; a quarter of what is left to train on chooses the number of trees."""
    for seed in seeds:
        for inside, outside in QueryKFold(5, seed=seed).split_queries(data):
            yield *data.take(inside).split([0.75, 0.25], seed=seed), data.take(outside)


def repeated(name, seeds):
    """The folds of a collection, of a small one twice as often."""
    data = whole(name)
    times = 1 if data is None or data.n_queries > 500 else 2
    return [] if data is None else crossed(data, [times * seed + k for seed in seeds for k in range(times)])


def parted(name, seed):
    """Training, validation and test queries, about 2 : 1 : 2, others with every seed.

    Of collections in five parts two are the test part; the others keep their own.
    """
    if name == "simulated":
        return [drawn(size, 10 * seed + 71 + part) for part, size in enumerate((1000, 300, 1000))]
    folds = load_folds(name)
    if len(folds) == 5:
        parts = [folds[(1 + seed + part) % 5].test for part in range(5)]
        learnt, test = concatenated(parts[:3]), concatenated(parts[3:])
    else:
        train, valid, test = folds[0]
        learnt = train if valid is None else concatenated([train, valid])
    return *learnt.split([2 / 3, 1 / 3], seed=seed), test


def drawn(n_queries, seed):
    """Simulated queries under numbers that no other seed's have: those of one number would be joined."""
    data = pm.simulate(n_queries, docs_per_query=30, seed=seed)
    return pm.Dataset(data.X, data.y, qid=data.qid + 10**6 * seed, feature_names=data.feature_names)


@dataclass
class Judged:
    """What a ranker is worth to every query, the mean over all times that the query was tested."""

    seconds: float = 0.0
    _values: dict = field(default_factory=lambda: {name: [] for name in MEASURES})
    _qids: list = field(default_factory=list)

    def add(self, test, scores, seconds):
        judged = pm.evaluate(test, scores, list(MEASURES), per_query=True)
        self.take(judged, test.qids, seconds)

    def take(self, values, qids, seconds):
        """Values by measure of these queries."""
        self.seconds += float(seconds)
        self._qids.append(qids)
        for name, parts in self._values.items():
            parts.append(values[name])

    def kept(self):
        """What `take` takes, as arrays to save."""
        values = {name: np.concatenate(parts) for name, parts in self._values.items()}
        return {**values, "qids": np.concatenate(self._qids), "seconds": self.seconds}

    def of_queries(self, measure="ndcg@10"):
        _, place = np.unique(np.concatenate(self._qids), return_inverse=True)
        return np.bincount(place, np.concatenate(self._values[measure])) / np.bincount(place)


def with_interval(differences):
    """Their mean, and half a 95 % interval."""
    half = 1.96 * np.std(differences, ddof=1) / np.sqrt(len(differences))
    return f"{np.mean(differences):+.4f} ± {half:.4f}"
