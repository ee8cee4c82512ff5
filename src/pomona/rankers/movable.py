"""A trained model as a point in space: all of its parameters as one vector, which can be moved.

Some questions are about the neighbourhood of a model rather than the model itself: is any direction better?
Rankers whose parameters are plain numbers answer `Ranker.movable(data)` with this record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pomona._types import Scores, Values


@dataclass(frozen=True)
class Movable:
    """The parameters of a model, and what scores given documents by others in their place.

    Attributes
    ----------
    parameters : (n_parameters,) as they were trained.
    what : what they are, in the plural.
    score : the scores of the documents by a vector of parameters; what all documents share may be left out.
    is_affine : whether scores move along a line as parameters do: score(w + ηv) is score(w) + η·s for some s.
    is_free_of_scale : whether twice the parameters give the same ranking.
    """

    parameters: Values
    what: str
    score: Callable[[Values], Scores]
    is_affine: bool = False
    is_free_of_scale: bool = False
