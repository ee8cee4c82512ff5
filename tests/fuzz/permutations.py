"""Rows, queries and columns in another order, and the same numbers in other types: the same model and values.

Labels come as floats, small integers, truth values and objects; features as arrays of any number type and
memory order, sparse matrices and frames. Rankers, transformers and `evaluate` are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

import pomona as pm
from fuzz.model import KINDS
from fuzz.target import in_one_line
from pomona._registry import entries
from pomona.errors import PomonaError
from pomona.experiments.execute import shortened
from pomona.transformers.balanced_draw import BalancedDraw
from pomona.transformers.category_mean import CategoryMean
from pomona.transformers.quartile_fill import QuartileFill
from pomona.transformers.query_difference import QueryDifference
from pomona.transformers.query_rank import QueryRank

N_SMALL = 30
_LEARNING = [kind for kind in KINDS if kind not in ("ideal", "worst")]  # which read the labels to score
_MEASURES = ("ndcg@5", "ap", "err@3", "p@2", "rr", "rbp(p=0.7)", "wta", "pfound")


class Rows(NamedTuple):
    """Documents, as numbers that every type here can hold."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    weights: np.ndarray

    def ordered(self, order: np.ndarray) -> Rows:
        return Rows(*(column[order] for column in self))


class Target:
    def __init__(self, folder: Path) -> None: ...

    def case(self, random: np.random.Generator) -> str:
        kind = random.choice(["ranker", "ranker", "transformer", "evaluate"])
        found: str = getattr(self, f"_{kind}")(random)
        return found

    def _ranker(self, random: np.random.Generator) -> str:
        name = str(random.choice(_LEARNING))
        train, valid, test = (_rows(random, 4) for _ in range(3))
        has_valid, has_weights = random.random(2) < 0.5
        # Ties of documents are not what is tried here: their mean does not look at the order of rows.
        measure = f"{random.choice(['ndcg', 'ap', 'err', 'p'])}(ties=expected)@5"

        def scores(some: Rows, held_out: Rows, new: Rows, draw: np.random.Generator | None) -> np.ndarray:
            ranker = entries("rankers")[name].load()()
            ranker.set_params(**shortened(ranker.get_params(deep=False)), measure=measure)
            as_given = _Given(draw)
            weights = as_given.weights(some.weights) if has_weights else None
            held = (as_given.table(held_out.X), as_given.labels(held_out.y), as_given.ids(held_out.qid))
            ranker.fit(
                *(as_given.table(some.X), as_given.labels(some.y), as_given.ids(some.qid)),
                sample_weight=weights,
                valid=held if has_valid else None,
            )
            predicted: np.ndarray = ranker.predict(as_given.table(new.X), qid=as_given.ids(new.qid))
            return predicted

        return _compared(name, random, (train, valid, test), scores)

    def _transformer(self, random: np.random.Generator) -> str:
        kind = int(random.integers(5))
        rows = _rows(random, 3)
        name = ("QuartileFill", "QueryDifference", "QueryRank", "CategoryMean", "BalancedDraw")[kind]

        def transformed(some: Rows, draw: np.random.Generator | None) -> np.ndarray:
            as_given = _Given(draw, has_columns=False)
            X, y, qid = as_given.table(some.X), as_given.labels(some.y), as_given.ids(some.qid)
            if kind == 0:
                out = QuartileFill(0.3).fit(X).transform(X)
            elif kind in (1, 2):
                out = (QueryDifference, QueryRank)[kind - 1]().fit_transform(X, qid=qid)
            elif kind == 3:
                out = CategoryMean(n_folds=2, smoothing=1.0).fit(X, y, qid=qid).transform(X)
            else:
                ranker = BalancedDraw(pm.LinearRegression(), ratio=1.5, seed=3).fit(X, y, qid=qid)
                out = ranker.predict(X, qid=qid)
            return np.asarray(out, np.float64)

        return _compared(name, random, (rows,), transformed)

    def _evaluate(self, random: np.random.Generator) -> str:
        rows = _rows(random, 1)
        scores = rows.X[:, 0].copy()
        scores[np.isnan(scores)] = -1.0
        measures = [replace(pm.measure(one), ties="expected") for one in _MEASURES]
        given = rows._replace(X=scores[:, None])

        def values(some: Rows, draw: np.random.Generator | None) -> np.ndarray:
            as_given = _Given(draw)
            kinds = (np.float32, np.float64, object, ">f8")
            dtype: Any = np.float64 if draw is None else kinds[draw.integers(len(kinds))]
            data = pm.Dataset(np.ones((len(some.y), 1)), as_given.labels(some.y), as_given.ids(some.qid))
            found = pm.evaluate(data, some.X[:, 0].astype(dtype), measures)
            of_query = {qid: place for place, qid in enumerate(data.qids.tolist())}
            # One value a row, which is that of its query, so that rows can be compared.
            places = [of_query[one] for one in data.qid.tolist()]
            return np.stack([judgement.values[places] for judgement in found.judgements], axis=1)

        return _compared("evaluate", random, (given,), values)


def _compared(
    name: str, random: np.random.Generator, tables: tuple[Rows, ...], run: Callable[..., np.ndarray]
) -> str:
    """What comes of the rows as they are, and in other orders and types; rows of the last are compared."""
    outcomes: list[str | np.ndarray] = []
    for is_other in (False, True):
        orders = [random.permutation(len(rows.y)) if is_other else np.arange(len(rows.y)) for rows in tables]
        given = [rows.ordered(order) for rows, order in zip(tables, orders, strict=True)]
        try:
            out = run(*given, random if is_other else None)
        except PomonaError as error:
            outcomes.append(in_one_line(error))
            continue
        in_order = np.empty_like(out)
        in_order[orders[-1]] = out
        outcomes.append(in_order)
    one, other = outcomes
    if isinstance(one, str) or isinstance(other, str):
        assert type(one) is type(other), f"{name}: refused in one form only"
        return "refused"
    # Means over tied documents are added up in the order of the rows.
    largest = np.nanmax(np.abs(one - other), initial=0.0)
    same = np.array_equal(one, other, equal_nan=True) if name != "evaluate" else largest < 1e-14
    assert same, f"{name}: differs by {largest:.3g}"
    return "same"


class _Given:
    """The same numbers in types that are drawn; as plain arrays without a draw."""

    def __init__(self, draw: np.random.Generator | None, has_columns: bool = True) -> None:
        self._draw = draw
        self._kind = None if draw is None else int(draw.integers(9 if has_columns else 8))

    def table(self, X: np.ndarray) -> Any:
        if self._kind in (None, 0):
            return X
        if self._kind == 1:
            return X.astype(np.float64)
        if self._kind == 2:
            return np.asfortranarray(X)
        if self._kind == 3:
            return np.repeat(X, 2, axis=0)[::2]
        if self._kind == 4:
            return X.astype(">f8")
        if self._kind == 5:
            return X.astype(object)
        if self._kind == 6:
            return X.tolist()
        if self._kind == 7:
            whole = not np.isnan(X).any()
            return X.astype(np.int16) if whole and (np.round(X) == X).all() else X.astype(np.float64)
        frame = {f"x{j}": column for j, column in enumerate(X.T)}
        assert self._draw is not None
        return pl.DataFrame(frame) if self._draw.random() < 0.5 else pd.DataFrame(frame)

    def labels(self, y: np.ndarray) -> Any:
        if self._draw is None:
            return y
        kinds: list[Any] = [
            np.float32,
            np.float64,
            np.int8,
            np.uint8,
            np.int64,
            np.uint64,
            object,
            ">i4",
            np.float16,
        ]
        if y.max() <= 1:
            kinds += [bool, bool]
        labels = y.astype(kinds[self._draw.integers(len(kinds))])
        return labels.tolist() if self._draw.random() < 0.2 else labels

    def ids(self, qid: np.ndarray) -> Any:
        if self._draw is None:
            return qid
        kind = self._draw.integers(5)
        if kind == 0:
            return qid.astype(np.uint8)
        if kind == 1:
            return qid.tolist()
        if kind == 2:
            return qid.astype(object)
        return qid if kind == 3 else qid.astype(np.int16)

    def weights(self, weights: np.ndarray) -> Any:
        if self._draw is None:
            return weights
        kind = self._draw.integers(4)
        return (weights, weights.tolist(), weights.astype(np.float32), weights.astype(object))[kind]


def _rows(random: np.random.Generator, n_features: int) -> Rows:
    """Documents of a few queries; many are alike. Features are halves, which all types of floats hold."""
    n = int(random.integers(4, 60))
    X = random.integers(-3, 9, (n, n_features)).astype(np.float32) / random.choice([1, 2])
    if random.random() < 0.4:
        X[random.random(X.shape) < 0.08] = np.nan
    y = random.integers(0, int(random.choice([2, 4])), n).astype(np.float64)
    return Rows(X, y, random.integers(0, 7, n), random.integers(1, 4, n) / 2)
