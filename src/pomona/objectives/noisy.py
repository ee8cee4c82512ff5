"""An objective averaged over random perturbations of the scores.   g(s) = mean over draws of g(s + scale · ε)

ε is Gumbel noise, as if every ranking were drawn with chances ∝ exp(score / scale) (Plackett & Luce). What a
ranking measure says of a swap depends on the ranking of the moment; averaged over rankings near it, gradients
tell more of what a small step will do. The idea is that of YetiRank (Gulin, Kuralenok & Pavlov 2011), whose
pairs are weighted by such draws; here all of the objective is asked at the perturbed scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._splitmix import word_of
from pomona._team import by_team
from pomona._types import Values
from pomona.errors import InputError
from pomona.objectives.base import Objective, Whole, draws_seed, scores_of

_BITS = 12
_GUMBEL = -np.log(-np.log((np.arange(1 << _BITS) + 0.5) / (1 << _BITS)))
"""Quantiles: looking one up takes a tenth of the time of two logarithms, and adds next to nothing."""
_PER_WORD = 64 // _BITS


@kernel
def _perturb(first, last, scores, quantiles, scale, seed, n_draws, numbers, out):
    """out (n_draws, n_docs): scores with noise; a random word has that of several draws.

    numbers : of the documents among all, or empty, if these are all.
    """
    mask = np.uint64(quantiles.size - 1)
    for i in range(first, last):
        word = np.uint64(0)
        for draw in range(n_draws):
            if draw % _PER_WORD == 0:
                word = word_of(seed + np.uint64(draw), np.uint64(numbers[i] if numbers.size else i))
            out[draw, i] = scores[i] + scale * quantiles[word & mask]
            word >>= np.uint64(_BITS)


class NoisyObjective(Objective):
    """Gradients of another objective, averaged over draws of noisy scores.

    Parameters
    ----------
    objective : of which gradients are asked; with one score a document.
    scale : of the noise, in units of the scores.
    n_draws : how often noise is drawn at every call.
    seed : of the noise.

    >>> from pomona.objectives.lambdas import LambdaObjective
    >>> objective = NoisyObjective(LambdaObjective("ndcg", [2, 1, 0], [0, 3]), scale=0.5, n_draws=4, seed=0)
    >>> gradient, hessian = np.empty(3, np.float32), np.empty(3, np.float32)
    >>> objective.gradients(np.zeros(3), gradient, hessian)
    >>> bool(gradient[0] < 0 < gradient[2])
    True
    """

    def __init__(self, objective: Objective, *, scale: float, n_draws: int = 4, seed: int = 0) -> None:
        if not 0 < scale < np.inf:
            raise InputError(f"the scale of noise must be above 0, found {scale:g}")
        if n_draws < 1:
            raise InputError(f"n_draws must be at least 1, found {n_draws}")
        self._objective, self._scale, self._n_draws, self._seed = objective, float(scale), n_draws, seed
        self.tie_order = objective.tie_order
        self._whole: Whole | None = None

    def start(self) -> float:
        """Where the other objective starts."""
        return self._objective.start()

    def join(self, whole: Whole) -> None:
        """Every document meets the noise that it meets where all stand together."""
        self._objective.join(whole)
        self.tie_order, self._whole = self._objective.tie_order, whole

    def gradients(
        self, scores: Values, out_gradient: NDArray[np.float32], out_hessian: NDArray[np.float32]
    ) -> None:
        """The mean gradients and hessians over the draws; the same scores always meet the same noise."""
        scores = scores_of(scores, len(out_gradient))
        seed, noisy = draws_seed(self._seed, scores, self._whole), np.empty((self._n_draws, len(scores)))
        numbers = np.empty(0, np.int64) if self._whole is None else self._whole.doc_numbers
        noise = (_GUMBEL, self._scale, seed, self._n_draws, numbers, noisy)
        by_team(_perturb, len(scores), scores, *noise, smallest=1 << 14)
        gradient, hessian = np.empty_like(out_gradient), np.empty_like(out_hessian)
        out_gradient[:], out_hessian[:] = 0.0, 0.0
        for drawn in noisy:
            self._objective.gradients(drawn, gradient, hessian)
            out_gradient += gradient
            out_hessian += hessian
        out_gradient /= self._n_draws
        out_hessian /= self._n_draws
