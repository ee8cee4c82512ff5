"""LARF (Akbari Torkestani 2012): an automaton finds each feature's share in the ranking.

    score = Σ_j (p⁺_j − p⁻_j) x_j

The actions of one learning automaton are *sources* of documents: each feature, and its negative. For a
training query a list is made: each place draws a source by its probability, which supplies its best document
not yet listed. A source whose document the user reviews is rewarded, any other is penalized a little. In the
end, the probabilities are the shares of the sources in the ranking.

*Reconstructed*, as `LARF` tells. One list after the other, so this runs in one thread.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Codes, Offsets, Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.objectives.lambdas import shuffled_rows
from pomona.rankers.inputs import weights_in_queries
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.linear.solvers.automaton import choose, penalize, random_number, relative_gains, reward
from pomona.rankers.linear.sums.feature_sums import varying_features
from pomona.rankers.parameter import NonNegativeFloat, NonNegativeInt, PositiveInt, Probability


@kernel
def _rank_sources(first, last, X, query_ptr, shuffle, out):
    """The best documents of each source · shuffle (n_docs,) · out (n_queries, n_sources, n_listed)."""
    n_features, n_listed = X.shape[1], out.shape[2]
    for q in range(first, last):
        begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        rows = shuffle[begin : begin + n]
        values = np.empty(n)
        for j in range(n_features):
            for i in range(n):
                values[i] = X[begin + rows[i], j]
            order = np.argsort(values, kind="mergesort")
            for place in range(min(n, n_listed)):
                out[q, j, place] = rows[order[n - 1 - place]]
                out[q, n_features + j, place] = rows[order[place]]


@kernel
def _make_lists(queries, best, gain, query_ptr, rate, penalty, weight, seed, probability):
    """One list for each query, learning from every place; returns the mean of the probabilities.

    best (n_queries, n_sources, n_listed) · weight (n_docs,) of [0, 1] · probability (n_sources,), updated.
    """
    available = np.ones(probability.size, np.bool_)
    mean, drawn = np.zeros(probability.size), 0
    for q in queries:
        begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        listed = np.zeros(n, np.bool_)
        for _ in range(min(n, best.shape[2])):
            source = choose(probability, available, random_number(seed, drawn))
            place = 0
            while listed[best[q, source, place]]:
                place += 1
            document = best[q, source, place]
            listed[document] = True
            if random_number(seed, drawn + 1) < gain[begin + document]:
                reward(probability, available, source, rate * weight[begin + document])
            else:
                penalize(probability, available, source, penalty * weight[begin + document])
            drawn += 2
        mean += probability / queries.size
    return mean


class LARF(LinearRanker):
    """LARF (reconstructed): a learning automaton finds the share of each feature in the ranking.

    Parameters
    ----------
    n_listed : documents in a list.
    learning_rate : the share of the others' probability that a rewarded source gains; where documents have
        weights, less for those that weigh less.
    penalty : the share of its probability that a penalized source loses.
    n_epochs : the most times that a list is made for every query.
    tolerance : stop when an epoch changes no averaged share by as much.
    seed : same seed, same model.
    verbose : show a progress bar.

    `measure` and `normalize` are those of every `LinearRanker`.

    Departures
    ----------
    *Reconstructed*: of the paper we know the abstract (sources of evidence, equal shares at first, shares
    that rise when a supplied document is reviewed and fall otherwise), so published numbers are not
    comparable. Our choices:

    - A document is reviewed with probability (2^label − 1), as a share of the highest: a simulated click.
    - Negatives of features are sources too, as a feature may count against a document, but features that are
      constant inside every query are not.
    - Shares are averaged over the later half of the epochs: the automaton itself never comes to rest, and
      with too small a penalty it locks onto a single source.
    - Documents that a source cannot tell apart stand in a random order.
    - Validation queries, if any, choose the epoch. Queries without a relevant document teach nothing.
    """

    name = "larf"
    family = "list-wise"
    optimizes = "surrogate"
    paper = "Akbari Torkestani, Journal of Intelligent Information Systems 2012 (reconstructed)"

    search_space = {
        "learning_rate": (0.001, 0.1, "log"),
        "penalty": (0.0001, 0.01, "log"),
    }

    n_listed: PositiveInt = 10
    learning_rate: Probability = 0.01
    penalty: Probability = 0.001
    n_epochs: PositiveInt = 100
    tolerance: NonNegativeFloat = 1e-4
    seed: NonNegativeInt = 0
    verbose: bool = False

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        by_query, relative = weights_in_queries(weights, train)
        counts = None if relative is None else relative > 0
        gain, counted = relative_gains(train.y, train.query_ptr, by_query, counts)
        random = np.random.default_rng(self.seed)
        used = varying_features(train.X, train.query_ptr, counted)
        n_sources = 2 * len(used)
        best_documents = self._rank_sources(train, used, random)
        probability = np.full(n_sources, 1.0 / max(n_sources, 1))
        weight, teaching = np.repeat(counted / counted.max(), train.query_lengths), np.flatnonzero(counted)
        if relative is not None:
            weight *= relative
            weight /= weight.max()
        epochs: list[Values] = []
        share, coef = probability.copy(), np.zeros(train.n_features)
        self.coef_ = coef.copy()
        log, judge = self.start_training(self.n_epochs, unit="epoch"), self.curve_judge(valid, train)
        lists = best_documents, gain, read_only(train.query_ptr), self.learning_rate, self.penalty
        with log.watch():
            for _ in range(self.n_epochs if n_sources else 0):
                order, seed = random.permutation(teaching), random.integers(0, 2**64, dtype=np.uint64)
                epochs.append(_make_lists(order, *lists, weight, seed, probability))
                before, share = share, np.mean(epochs[len(epochs) // 2 :], axis=0)
                coef[used] = share[: len(used)] - share[len(used) :]
                self.keep_if_best(log, coef, judge(coef))
                if np.abs(share - before).max() < self.tolerance:
                    break

    def _rank_sources(self, train: Dataset, used: Offsets, random: np.random.Generator) -> Codes:
        """For each query and source (the used features, then their negatives), its best documents."""
        longest = min(self.n_listed, int(train.query_lengths.max()))
        best: Codes = np.empty((train.n_queries, 2 * len(used), longest), np.int32)
        X = read_only(np.ascontiguousarray(train.X[:, used]))
        shuffle, _ = shuffled_rows(train.query_ptr, random)
        over_chunks(_rank_sources, train.n_queries, X, read_only(train.query_ptr), shuffle, best, smallest=8)
        return best
