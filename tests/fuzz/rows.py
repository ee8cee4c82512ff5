"""Rows, queries, ids and named columns in any order: the same model, and the same scores, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from fuzz.model import KINDS
from fuzz.target import in_one_line
from pomona._registry import entries
from pomona.errors import InputError
from pomona.experiments.execute import shortened
from pomona.rankers.base import Ranker

N_SMALL = 20
_LEARNING = [kind for kind in KINDS if kind not in ("ideal", "worst")]  # which read the labels to score


class Rows(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    weights: np.ndarray

    def ordered(self, order: np.ndarray) -> Rows:
        return Rows(*(column[order] for column in self))

    @property
    def frame(self) -> pl.DataFrame:
        return pl.DataFrame({f"x{j}": column for j, column in enumerate(self.X.T)})


class Target:
    def __init__(self, folder: Path) -> None: ...

    def case(self, random: np.random.Generator) -> str:
        name, n_features = str(random.choice(_LEARNING)), int(random.integers(1, 6))
        train, valid, test = (_rows(random, n_features, decimals) for decimals in (1, 1, 7))
        has_valid, has_weights = random.random(2) < 0.5
        outcomes: list[str | np.ndarray] = []
        for is_shuffled in (False, True):
            orders = [
                random.permutation(len(rows.y)) if is_shuffled else np.arange(len(rows.y))
                for rows in (train, valid, test)
            ]
            some, held_out, new = (
                rows.ordered(o) for rows, o in zip((train, valid, test), orders, strict=True)
            )
            ids = random.permutation(1000).astype(str) if is_shuffled else np.arange(1000)
            columns = random.permutation(n_features) if is_shuffled else np.arange(n_features)
            try:
                scores = (
                    _ranker(name)
                    .fit(
                        some.frame,
                        some.y,
                        ids[some.qid],
                        valid=(held_out.frame, held_out.y, held_out.qid) if has_valid else None,
                        sample_weight=some.weights if has_weights else None,
                    )
                    .predict(new.frame[[f"x{j}" for j in columns]], qid=new.qid)
                )
            except InputError as error:
                outcomes.append(in_one_line(error))
                continue
            in_order = np.empty_like(scores)
            in_order[orders[2]] = scores
            outcomes.append(in_order)
        one, other = outcomes
        if isinstance(one, str) or isinstance(other, str):
            assert type(one) is type(other), f"{name}: refused in one order only"
            return "refused"
        assert one.tobytes() == other.tobytes(), f"{name}: scores differ by {np.abs(one - other).max()}"
        return "same"


def _ranker(name: str) -> Ranker:
    ranker: Ranker = entries("rankers")[name].load()()
    # Ties of validation documents are the measure's affair: this one does not look at their order.
    return ranker.set_params(**shortened(ranker.get_params(deep=False)), measure="ndcg(ties=expected)@10")


def _rows(random: np.random.Generator, n_features: int, decimals: int) -> Rows:
    """Documents of a few queries; with few decimals many are alike."""
    n = int(random.integers(4, 80))
    X = random.random((n, n_features)).round(decimals).astype(np.float32)
    if decimals == 1:
        X[random.random(X.shape) < 0.05] = np.nan
    return Rows(X, random.integers(0, 4, n), random.integers(0, 8, n), random.integers(1, 4, n) / 2)
