"""Measures as scikit-learn scores: for `cross_validate`, `GridSearchCV`, `permutation_importance`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pomona._sklearn import MetadataRequest, get_routing_for_object
from pomona._types import Values
from pomona.data.columns import refuse_other_index
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.judge import evaluate
from pomona.measures.parse import measure as parse_measure

_REMEDY = (
    "sklearn.set_config(enable_metadata_routing=True) has scikit-learn carry them: "
    "cross_validate(…, params={'qid': qid}), GridSearchCV(…).fit(X, y, qid=qid)"
)


@dataclass(frozen=True, eq=False)
class Scorer:
    """The mean of a measure over the queries that an estimator scores; `scorer` makes one."""

    measure: Measure
    qid: Any = None

    def __call__(self, estimator: Any, X: Any, y: Any = None, *, qid: ArrayLike | None = None) -> float:
        """The mean over the queries of X, with labels y."""
        ids: Any
        if isinstance(X, Dataset):
            data, ids = X, X.qid
        else:
            ids = self._ids_of(X, len(y)) if qid is None else qid
            refuse_other_index(X, y=y, qid=ids)
            data = Dataset(np.zeros((len(y), 0)), np.asarray(y), np.asarray(ids))
        wants_ids = "qid" in get_routing_for_object(estimator).consumes("predict", ["qid"])
        scores: Values = estimator.predict(X, qid=ids) if wants_ids else estimator.predict(X)
        return evaluate(data, scores, self.measure).judgements[0].mean

    def _ids_of(self, X: Any, n_rows: int) -> Any:
        """The query ids of rows that came without them."""
        if self.qid is None:
            raise InputError(
                f"the scorer was given no query ids: {_REMEDY}; elsewhere give them to it: scorer(…, qid=qid)"
            )
        index: Any = getattr(X, "index", None)
        if hasattr(index, "equals") and hasattr(self.qid, "loc"):
            if not (self.qid.index.is_unique and index.isin(self.qid.index).all()):
                raise InputError("rows of X are not found, or found twice, in the index of the scorer's qid")
            return self.qid.loc[index]
        if n_rows != len(self.qid):
            raise InputError(
                f"found {n_rows} rows, but the scorer has the query ids of {len(self.qid)}: an array does "
                f"not tell which: {_REMEDY}; or give X as a frame, and qid as a series with its index"
            )
        return self.qid

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn that scoring wants `qid`."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request

    def __repr__(self) -> str:
        return f"scorer('{self.measure}')"


def scorer(measure: str | Measure, *, qid: Any = None) -> Scorer:
    """A measure as scikit-learn wants it: the `scoring` of its functions, for any estimator that ranks.

    With metadata routing the query ids come to it by themselves. Without, they are given here: an array for
    functions that score all rows at once, as `permutation_importance` does; a pandas series for those that
    score parts of a frame, whose rows are then known by its index.

    >>> from pomona import LinearRegression, simulate
    >>> data = simulate(20, seed=1)
    >>> model = LinearRegression().fit(data)
    >>> scorer("ndcg@10")(model, data.X, data.y, qid=data.qid) == model.score(data)
    True
    """
    return Scorer(parse_measure(measure), qid)
