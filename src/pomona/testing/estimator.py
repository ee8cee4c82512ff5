"""scikit-learn's own checks of an estimator, run on a ranker.

They know nothing of queries and grades: all rows that they make are taken as the documents of one query, and
their labels are moved so that the lowest is 0, as graded labels are.
"""

from __future__ import annotations

import warnings
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from pomona.data.dataset import Dataset
from pomona.rankers import base
from pomona.rankers.base import Ranker
from pomona.rankers.inputs import as_dataset
from pomona.testing.contract import require

DOES_NOT_APPLY = {
    "check_array_api_input": "features are stored as float32 of NumPy",
    "check_dtype_object": "a table of anything but numbers is refused as a ValueError, not as a TypeError",
    "check_fit2d_1sample": "that one document has nothing to be ranked against is told in words of our own",
    "check_sample_weight_equivalence_on_dense_data": "a document of weight 0 still stands in its query",
    "check_sample_weight_equivalence_on_sparse_data": "a document of weight 0 still stands in its query",
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
    predict = Ranker.predict

    def as_one_query(X: Any, y: Any = None, qid: Any = None, group: Any = None) -> Dataset:
        is_without = y is not None and qid is None and group is None and not isinstance(X, Dataset)
        return as_dataset(X, _from_zero(y), _one_query(X)) if is_without else as_dataset(X, y, qid, group)

    def predict_one_query(self: Ranker, X: Any, qid: Any = None) -> Any:
        is_without = qid is None and not isinstance(X, Dataset)
        return predict(self, X, _one_query(X) if is_without else qid)

    with (
        mock.patch.object(base, "as_dataset", as_one_query),
        mock.patch.object(Ranker, "predict", predict_one_query),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # that a model learnt nothing, from data that teach nothing
        results: list[dict[str, Any]] = check_estimator(clone(ranker), on_skip=None, on_fail=None)
    return results


def _one_query(X: Any) -> NDArray[np.int64]:
    return np.zeros(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X)), np.int64)


def _from_zero(y: Any) -> Any:
    labels = np.asarray(y)
    return labels - labels.min() if labels.size and labels.dtype.kind in "iuf" else y
