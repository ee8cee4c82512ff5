"""Dropout of trees: DART (Rashmi & Gilad-Bachrach, AISTATS 2015).

The first trees of boosting do most of the work, later ones correct a few documents each. So every tree is
fitted to the gradients at the scores *without* a random part D of the trees before it, and shares their work:

    D: each tree with probability p · new tree: η / (k + 1) of its step · trees of D: k / (k + 1) of theirs

with k = |D| and η the learning rate. The paper's normalization, and LightGBM's (XGBoost's is η / (k + η) and
k / (k + η)): new and dropped trees together go as far as the dropped ones went.

Other than in the paper, but as in LightGBM and XGBoost, a round whose draw is empty is one of plain boosting,
and so is a part of all rounds.
"""

from __future__ import annotations

import numpy as np

from pomona._types import Values


class Dropout:
    """Which of the rounds so far are left out while the next is learnt, and what each of them weighs.

    Parameters
    ----------
    rate : the probability of a round to be dropped; 0 drops none, and draws nothing.
    skip : the probability that nothing is dropped.
    most : the most rounds there may be.
    """

    def __init__(self, rate: float, skip: float, most: int, seed: int) -> None:
        self._rate, self._skip = rate, skip
        self._rng = np.random.default_rng([seed, 1])  # the draws of trees do not depend on it
        self.weight: Values = np.zeros(most)
        """What the steps of each round are multiplied by; 0 of those to come."""

    def draw(self, n_rounds: int) -> list[int]:
        """The rounds, of so many, that are dropped."""
        if self._rate == 0 or self._rng.random() < self._skip:
            return []
        return np.flatnonzero(self._rng.random(n_rounds) < self._rate).tolist()

    def share(self, dropped: list[int], new: int) -> list[int]:
        """Have a new round share the work of those dropped; returns all rounds that do.

        >>> dropout = Dropout(0.5, 0.0, 3, seed=0)
        >>> dropout.share([], 0), dropout.share([], 1), dropout.share([0, 1], 2)
        ([0], [1], [0, 1, 2])
        >>> dropout.weight.round(2).tolist()
        [0.67, 0.67, 0.33]
        """
        k = len(dropped)
        self.weight[dropped] *= k / (k + 1)
        self.weight[new] = 1 / (k + 1)
        return [*dropped, new]
