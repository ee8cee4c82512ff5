"""LRUF (Akbari Torkestani 2012): automata find the relevant documents of queries, a line learns from them.

Every training query has a learning automaton whose actions are its documents. Over and over, a few of them
are drawn by their probabilities and shown, none twice: each that is drawn leaves the set of actions. If the
shown satisfy at least as well as those of earlier rounds on average, the relevant among them are rewarded.

*Reconstructed*, as `LRUF` tells. Queries are independent, each with its own random stream: any number of
threads gives the same bits.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.data.rows import read_only
from pomona.rankers.inputs import weights_in_queries
from pomona.rankers.linear.linear_ranker import LinearRanker
from pomona.rankers.linear.solvers.automaton import choose, random_number, relative_gains, reward
from pomona.rankers.linear.solvers.least_squares import least_squares
from pomona.rankers.parameter import NonNegativeFloat, NonNegativeInt, PositiveInt, Probability

PENALTIES = (1.0, 0.1, 0.01, 1e-3, 1e-4)
LEAST_PROBABILITY = 1e-12
"""A document that was never rewarded need not be told apart from one that was rewarded even less."""


@kernel
def _learn_queries(first, last, gain, query_ptr, seeds, n_shown, rate, n_rounds, certainty, out):
    """gain (n_docs,) of [0, 1] · seeds (n_queries,) uint64 · out (n_docs,) probabilities."""
    for q in range(first, last):
        begin, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        probability = out[begin : begin + n]
        probability[:] = 1.0 / n
        gains = gain[begin : begin + n]
        if gains.max() <= 0.0:
            continue
        size = min(n_shown, n)
        shown, available = np.empty(size, np.int64), np.ones(n, np.bool_)
        earlier = 0.0
        for k in range(n_rounds):
            feedback = 0.0
            for slot in range(size):
                i = choose(probability, available, random_number(seeds[q], k * size + slot))
                available[i] = False
                shown[slot] = i
                feedback += gains[i] / size
            available[:] = True
            satisfied = k == 0 or feedback >= earlier / k
            earlier += feedback
            for slot in range(size):
                if satisfied and gains[shown[slot]] > 0.0:
                    reward(probability, available, shown[slot], rate)
                available[shown[slot]] = False
            available[:] = True
            if size < n and np.sort(probability)[n - size :].sum() >= certainty:
                break


class LRUF(LinearRanker):
    """LRUF (reconstructed): a line through what a learning automaton finds for each query.

    Parameters
    ----------
    n_shown : documents shown in a round.
    learning_rate : the share of the others' probability that a rewarded document gains.
    n_rounds : the most rounds for a query.
    certainty : a query is done when the `n_shown` likeliest documents have this much of the probability.
    l2 : penalty on the squared weights of the line. None lets the validation queries choose among 1, 0.1, …,
        1e-4; without any it is 0.01.
    seed : same seed, same model, whatever the number of threads.
    verbose : show a progress bar.

    `measure` and `normalize` are those of every `LinearRanker`. After `fit`, `probability_` is what the
    automata made of each training document, and `l2_` the penalty used; an iteration of `evals_` is a penalty
    that was tried.

    Departures
    ----------
    *Reconstructed*: of the paper we know a secondary account (reward-inaction automata with a variable action
    set, one for each query). How many documents are shown, the feedback, the threshold, when to stop, and how
    unseen queries are ranked are our choices, so published numbers are not comparable:

    - The feedback of a round is the mean gain 2^label − 1 of the shown, as a share of the highest; the
      threshold is the mean feedback of the rounds before.
    - A query is done when the most likely documents, as many as are shown, have `certainty` of the
      probability, or after 50 rounds: a query with no more documents than are shown never gets there, and
      given time its automaton locks onto a single relevant one (1000 rounds on MQ2008, where the median query
      has 8 documents: a MAP of 0.468 on validation folds instead of 0.474, below the best single feature).
    - A line is fitted to log p by ridge regression inside queries, which ranks the unseen ones. Queries
      without a relevant document teach nothing.
    """

    name = "lruf"
    family = "list-wise"
    optimizes = "surrogate"
    paper = "Akbari Torkestani, Decision Support Systems 2012 (reconstructed)"

    learnt_attributes = {"l2_": float}
    row_attributes = ("probability_",)
    search_space = {
        "learning_rate": (0.01, 0.2, "log"),
        "n_shown": (3, 30, "log int"),
    }

    n_shown: PositiveInt = 10
    learning_rate: Probability = 0.05
    n_rounds: PositiveInt = 50
    certainty: Probability = 0.95
    l2: NonNegativeFloat | None = None
    seed: NonNegativeInt = 0
    verbose: bool = False

    def learn_weights(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        by_query, relative = weights_in_queries(weights, train)
        counts = None if relative is None else relative > 0
        gain, counted = relative_gains(train.y, train.query_ptr, by_query, counts)
        seeds = np.random.default_rng(self.seed).integers(0, 2**64, train.n_queries, np.uint64)
        self.probability_ = np.empty(train.n_docs)
        lists = gain, read_only(train.query_ptr), seeds
        rules = self.n_shown, self.learning_rate, self.n_rounds, self.certainty
        over_chunks(_learn_queries, train.n_queries, *lists, *rules, self.probability_, smallest=4)
        evidence = np.log(np.maximum(self.probability_, LEAST_PROBABILITY))
        penalties = (self.l2,) if self.l2 is not None else (0.01,) if valid is None else PENALTIES
        log, judge = self.start_training(len(penalties), unit="penalty"), self.curve_judge(valid, train)
        with log.watch():
            for l2 in penalties:
                coef = least_squares(train.X, evidence, train.query_ptr, counted, l2, relative)
                self.keep_if_best(log, coef, judge(coef), l2=l2)
