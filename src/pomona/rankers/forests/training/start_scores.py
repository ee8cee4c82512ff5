"""The scores that boosting starts from (the base model F_0 of Wu, Burges, Svore & Gao 2010)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pomona._types import Scores
from pomona.data.columns import numbers_of_rows
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.rankers.base import Ranker


def check_start(ranker: Any, base: ArrayLike | None, base_model: Ranker | None) -> None:
    """Refuse start scores that a forest ranker, or the model it goes on from, can do nothing with."""
    if base is not None and base_model is not None:
        raise InputError("found base and base_model: give the scores, or the ranker that makes them")
    if not ranker.starts_from_scores and (base is not None or base_model is not None):
        raise InputError(f"{type(ranker).__name__} cannot start from given scores: leave them out")
    if ranker._goes_on:
        if ranker.needs_base_ != (base is not None):
            had = "started from given scores" if ranker.needs_base_ else "did not start from given scores"
            raise InputError(f"the model to go on from {had}: start as it did")
        if base_model is not None:
            raise InputError("the model to go on from has its base model, if any: leave base_model out")


def start_scores(
    data: Dataset, given: ArrayLike | None, model: Ranker | None, name: str, rows: Any = None
) -> Scores:
    """One score a row, in the order in which rows came: those given with them, or those of a model."""
    if model is None:
        if given is None:
            raise InputError(f"start scores of the other data were given: give {name}=…, one a document, too")
        return one_a_row(given, data.n_docs, name, rows)
    if given is not None:
        raise InputError(f"the base model makes the start scores: leave {name} out")
    if not isinstance(model, Ranker):
        raise InputError(f"base_model must be a fitted ranker, found {type(model).__name__}")
    if model.is_bound:
        raise InputError(f"{type(model).__name__} reads the labels of what it scores: it is no base model")
    return model.predict(data)


def one_a_row(scores: ArrayLike, n_rows: int, name: str, rows: Any = None) -> Scores:
    """Finite scores, as many as there are rows, and of these rows."""
    array = numbers_of_rows(scores, name, rows)
    if array.shape != (n_rows,):
        raise InputError(f"found {name} of shape {array.shape}, expected {n_rows} scores, one a row")
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds a score that is not finite")
    return array
