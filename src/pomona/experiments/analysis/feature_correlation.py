"""Which features say the same: Spearman's correlation, and an order in which those that do stand together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from pomona._jit import over_chunks
from pomona._types import Values
from pomona.data.dataset import Dataset


def feature_correlation(data: Dataset, features: Sequence[int]) -> pl.DataFrame:
    """|Spearman| of every two of these features over all documents: `first`, `second`, `correlation`.

    Features stand in the order of average-linkage clustering by 1 − |Spearman|. An undefined value counts as
    the mean rank; a constant feature correlates with nothing but itself.
    """
    ranks = np.zeros((len(features), data.n_docs))

    def rank(first: int, last: int) -> None:
        for i in range(first, last):
            column = data.X[:, features[i]]
            defined = ~np.isnan(column)
            of_defined = rankdata(column[defined])
            ranks[i, defined] = of_defined - (of_defined.mean() if len(of_defined) else 0.0)

    over_chunks(rank, len(features))
    matrix = _correlations(ranks)
    order = _clustered(matrix)
    names = [data.feature_names[j] for j in features]
    return pl.DataFrame(
        [(names[i], names[j], float(matrix[i, j])) for i in order for j in order],
        schema={"first": pl.String, "second": pl.String, "correlation": pl.Float64},
        orient="row",
    )


def _correlations(centered: Values) -> Values:
    """(n, n) sizes of the correlations of rows whose mean is 0."""
    norms = np.sqrt((centered**2).sum(axis=1))
    unit = np.divide(centered, norms[:, None], out=np.zeros(centered.shape), where=norms[:, None] > 0)
    matrix: Values = np.minimum(np.abs(unit @ unit.T), 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _clustered(matrix: Values) -> list[int]:
    """The rows in the order of average-linkage clustering."""
    if len(matrix) < 3:
        return list(range(len(matrix)))
    apart = 1.0 - (matrix + matrix.T) / 2
    return [int(i) for i in leaves_list(linkage(squareform(apart, checks=False), "average"))]
