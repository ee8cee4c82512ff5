"""scikit-learn's own checks of an estimator, run on a ranker.

They know nothing of queries and grades: all rows that they make are taken as the documents of one query, and
their labels are moved so that the lowest is 0, as graded labels are.
"""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from pomona.data.dataset import Dataset
from pomona.rankers.base import Ranker
from pomona.testing.contract import require
from pomona.testing.sample import subclass_of

_STANDS = "a document of weight 0 still stands in its query, where features are scaled and measures are taken"

DOES_NOT_APPLY = {
    "check_array_api_input": "features are stored as float32 of NumPy",
    "check_dtype_object": "a table of anything but numbers is refused as a ValueError, not as a TypeError",
    "check_fit2d_1sample": "that one document has nothing to be ranked against is told in words of our own",
    "check_sample_weight_equivalence_on_dense_data": _STANDS,
    "check_sample_weight_equivalence_on_sparse_data": _STANDS,
}
"""The checks of scikit-learn that no ranker need pass, each with the reason."""

_OF_WHOLE_QUERIES = {
    "check_methods_subset_invariance": "a document's score depends on the other documents of its query"
}


def check_scikit_learn(ranker: Ranker) -> None:
    """Passes scikit-learn's `check_estimator`, but for what `DOES_NOT_APPLY` lists."""
    exempt = DOES_NOT_APPLY | (_OF_WHOLE_QUERIES if ranker.scores_whole_queries else {})
    for result in estimator_results(ranker):
        require(
            result["status"] != "failed" or result["check_name"] in exempt,
            f"{type(ranker).__name__} must pass scikit-learn's {result['check_name']}, "
            f"found {type(result['exception']).__name__}: {result['exception']}",
        )


def estimator_results(ranker: Ranker) -> list[dict[str, Any]]:
    """What came of every check of scikit-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a model learnt nothing, from data that teach nothing
        results: list[dict[str, Any]] = check_estimator(of_one_query(ranker), on_skip=None, on_fail=None)
    return results


def of_one_query(ranker: Ranker) -> Ranker:
    """A copy of the ranker that takes rows without query ids as those of one query.

    It is of a subclass, so whatever the class does in its methods, it does here.
    """
    twin: Ranker = clone(ranker)
    twin.__class__ = _one_query_class(type(ranker))
    return twin


def _one_query_class(cls: type[Ranker]) -> type[Ranker]:
    @wraps(cls.fit)
    def fit(self: Ranker, X: Any, y: Any = None, qid: Any = None, **more: Any) -> Any:
        if y is not None and qid is None and more.get("group") is None and not isinstance(X, Dataset):
            y, qid = _from_zero(y), _one_query(X)
        return cls.fit(self, X, y, qid, **more)

    @wraps(cls.predict)
    def predict(self: Ranker, X: Any, qid: Any = None) -> Any:
        is_without = qid is None and not isinstance(X, Dataset)
        return cls.predict(self, X, _one_query(X) if is_without else qid)

    @wraps(cls.score)
    def score(self: Ranker, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> Any:
        if y is not None and qid is None and not isinstance(X, Dataset):
            y, qid = _from_zero(y), _one_query(X)
        return cls.score(self, X, y, qid, sample_weight)

    def reduce(self: Ranker, protocol: object) -> tuple[Any, ...]:
        return _new_of_one_query, (cls,), self.__getstate__()

    return subclass_of(cls, fit=fit, predict=predict, score=score, __reduce_ex__=reduce)


def _new_of_one_query(cls: type[Ranker]) -> Ranker:
    """What pickle makes, which knows classes by their names: here that of the ranker's own."""
    made = _one_query_class(cls)
    return made.__new__(made)


def _one_query(X: Any) -> NDArray[np.int64]:
    return np.zeros(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X)), np.int64)


def _from_zero(y: Any) -> Any:
    labels = np.asarray(y)
    return labels - labels.min() if labels.size and labels.dtype.kind in "iuf" else y
