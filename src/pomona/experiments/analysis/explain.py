"""Why is A above B? The scores of a query's documents, taken apart by feature, and the difference of two.

What carried the swap: the fewest features without whose difference A would not be above B, the largest
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona._types import Features, Values
from pomona.data.categories import Categories
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.rankers.base import Ranker
from pomona.rankers.explanation import counts_training


@dataclass(frozen=True)
class ExplainedQuery:
    """The list of a query, taken apart.

    Attributes
    ----------
    documents : rank, document, label, score, and what of it the features do not explain (`gap`).
    contributions : document, feature, its value, and what it adds to the score, by rank and size. Where a
        feature is of categories, values are texts: their names, and numbers as they are written.
    a, b : the two documents that are compared; by default the first two of the list.
    difference : feature, its value in both, what it adds to both, and the difference, the largest first.
    carriers : the features that carried the swap.
    expected : the score of which nothing is known.
    """

    query: str
    ranker: str
    method: str
    expected: float
    documents: pl.DataFrame
    contributions: pl.DataFrame
    a: str
    b: str
    difference: pl.DataFrame
    carriers: tuple[str, ...]

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name."""
        return {name: getattr(self, name) for name in ("documents", "difference", "contributions")}

    def row(self, document: str) -> dict[str, Any]:
        """The row of a document."""
        return self.documents.filter(document=document).row(0, named=True)

    @property
    def answer(self) -> str:
        """Why A is above B, in words."""
        a, b = self.row(self.a), self.row(self.b)
        apart = a["score"] - b["score"]
        if apart == 0:
            return f"{self.a} and {self.b} have the same score, {a['score']:.4f}."
        where = "above" if apart > 0 else "below"
        start = f"{self.a} (rank {a['rank']}) is {where} {self.b} (rank {b['rank']}) by {abs(apart):.4f}"
        if not self.carriers:
            return f"{start}, which no feature explains."
        names = ", ".join(self.carriers[:5]) + (", …" if len(self.carriers) > 5 else "")
        n = f"{len(self.carriers)} of {len(self.difference)} features"
        return f"{start}. {n} carried it ({names}): were they alike in both, it would not be {where}."


def explain(
    ranker: Ranker,
    data: Dataset,
    query: Any,
    docs: Sequence[Any] | None = None,
    *,
    background: Dataset | None = None,
    method: str | None = None,
) -> ExplainedQuery:
    """Take the scores of a query's documents apart, and compare two of them.

    Parameters
    ----------
    query : its id.
    docs : two documents, by their ids, or where the data have none by their numbers in the query, from 1.
    background : documents that tell what is expected where nothing is known; if left out those of the
        training, where the leaves of a forest count them (`path`), else `data`.
    method : of forests `path` or `interventional`; others have one only.

    >>> from pomona import Dataset, LinearRegression
    >>> data = Dataset([[3.0, 0.0], [2.0, 1.0], [1.0, 0.5]], [2, 1, 0], [7, 7, 7])
    >>> found = explain(LinearRegression(normalize=None).fit(data), data, 7)
    >>> found.a, found.b, found.carriers
    ('1', '2', ('f1',))
    """
    place = _place(data, query)
    own = data.take([place]).gathered()
    names = _names(own)
    if background is None and not counts_training(ranker, method):
        background = data
    found = ranker.explain(own, background=background, method=method)
    order = np.argsort(-found.scores, kind="stable")
    rank = shared_ranks(found.scores)
    first, second = _pair(names, docs, order)
    documents = pl.DataFrame(
        {
            "rank": rank,
            "document": names,
            "label": pl.Series(own.y.astype(float)).fill_nan(None),
            "score": found.scores,
            "gap": found.gap,
        }
    ).sort("rank", maintain_order=True)
    features = pl.Series("feature", found.feature_names)
    values = [_values(row, ranker.categories_) for row in found.features]
    parts = [
        pl.DataFrame({"feature": features, "value": values[i], "contribution": found.values[i]})
        .with_columns(pl.lit(names[i]).alias("document"))
        .filter(pl.col("contribution") != 0)
        .sort(pl.col("contribution").abs(), descending=True, maintain_order=True)
        for i in order
    ]
    columns = ("document", "feature", "value", "contribution")
    difference = pl.DataFrame(
        {
            "feature": features,
            "value_a": values[first],
            "value_b": values[second],
            "adds_to_a": found.values[first],
            "adds_to_b": found.values[second],
            "difference": found.values[first] - found.values[second],
        }
    ).sort(pl.col("difference").abs(), descending=True, maintain_order=True)
    return ExplainedQuery(
        str(query),
        type(ranker).__name__,
        found.method,
        found.expected,
        documents,
        pl.concat(parts).select(columns),
        names[first],
        names[second],
        difference,
        _carriers(found.values[first] - found.values[second], found.feature_names),
    )


def shared_ranks(scores: Values) -> NDArray[np.int64]:
    """1 for the highest; equals share the best of their ranks, so that the order of the rows tells nothing.

    >>> shared_ranks(np.array([0.5, 0.9, 0.5, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    return 1 + np.searchsorted(np.sort(-scores), -scores, side="left")


def _values(row: Features, categories: Categories) -> pl.Series:
    """What the features of a document are; with categories among them, in words."""
    if not categories:
        return pl.Series(row)
    names = {(j, code): name for j, known in categories.items() for code, name in enumerate(known)}
    words = [None if x != x else names.get((j, x), f"{x:.6g}") for j, x in enumerate(row.tolist())]
    return pl.Series(words, dtype=pl.String)


def _place(data: Dataset, query: Any) -> int:
    texts = [str(qid) for qid in data.qids.tolist()]
    if str(query) not in texts:
        first = ", ".join(texts[:5])
        raise InputError(f"no query {str(query)!r} in the data (the first are {first})")
    return texts.index(str(query))


def _names(own: Dataset) -> list[str]:
    """The documents' ids; where there are none, or two alike, their numbers."""
    ids = [] if own.doc_ids is None else list(own.doc_ids)
    is_known = len(set(ids)) == own.n_docs and all(ids)
    return ids if is_known else [str(i + 1) for i in range(own.n_docs)]


def _pair(names: list[str], docs: Sequence[Any] | None, order: Any) -> tuple[int, int]:
    if len(names) < 2:
        raise InputError("the query has one document: there is nothing to compare it with")
    if docs is None:
        return int(order[0]), int(order[1])
    texts = [str(doc) for doc in docs]
    for text in texts:
        if text not in names:
            shown = ", ".join(names[:5])
            raise InputError(f"no document {text!r} in the query (the first are {shown})")
    if len(set(texts)) != 2:
        raise InputError(f"found {len(texts)} documents, expected two different ones")
    return names.index(texts[0]), names.index(texts[1])


def _carriers(differences: Values, names: Sequence[str]) -> tuple[str, ...]:
    """The fewest features without which the difference would be gone, the largest first."""
    total = float(differences.sum())
    toward = differences * np.sign(total)
    order = np.argsort(-toward, kind="stable")
    so_far = np.cumsum(toward[order])
    n = int(np.searchsorted(so_far, abs(total) * (1 - 1e-9))) + 1 if total else 0
    return tuple(names[j] for j in order[:n])
