"""YDF's LambdaMART as a Pomona ranker (`lightgbm_ranker.py` says how such a file is made and used)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import ydf
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.rankers.base import Ranker


class YDFRanker(Ranker):
    """Yggdrasil Decision Forests, gradient boosted trees towards `LAMBDA_MART_NDCG`.

    Parameters
    ----------
    measure : what `score` reports; its cut-off is the one that YDF trains and stops by.
    n_trees, learning_rate, min_docs, feature_fraction : as for LambdaMART.
    max_depth : levels of a tree.
    l2 : draws the values of leaves towards 0.
    early_stopping : stop after so many trees without a better loss on the validation data.
    seed : of the features that a split may use.
    """

    name = "ydf"
    family = "list-wise"
    paper = "Guillame-Bert et al., KDD 2023"
    search_space = {
        "learning_rate": (0.02, 0.3, "log"),
        "max_depth": (3, 8, "int"),
        "min_docs": (5, 200, "log int"),
        "feature_fraction": (0.3, 1.0, "linear"),
    }

    measure: str = "ndcg@10"
    n_trees: int = 500
    learning_rate: float = 0.1
    max_depth: int = 6
    min_docs: int = 5
    feature_fraction: float = 1.0
    l2: float = 0.0
    early_stopping: int = 50
    seed: int = 0

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        ydf.verbose(0)
        learner = ydf.GradientBoostedTreesLearner(
            label="label",
            task=ydf.Task.RANKING,
            ranking_group="query",
            weights=None if weights is None else "weight",
            loss="LAMBDA_MART_NDCG",
            ndcg_truncation=self.parsed_measure.k or 10,
            num_trees=self.n_trees,
            shrinkage=self.learning_rate,
            max_depth=self.max_depth,
            min_examples=self.min_docs,
            num_candidate_attributes_ratio=self.feature_fraction,
            l2_regularization=self.l2,
            early_stopping="NONE" if valid is None else "LOSS_INCREASE",
            early_stopping_num_trees_look_ahead=self.early_stopping,
            random_seed=self.seed,
            num_threads=self.n_threads,
            **({"validation_ratio": 0.0} if valid is None else {}),
        )
        held_out = (
            None if valid is None else _columns(valid, None if weights is None else np.ones(len(valid.y)))
        )
        self.model_ = learner.train(_columns(train, weights), valid=held_out)
        self.best_iteration_ = self.model_.num_trees()

    def predict_rows(self, X: Features) -> Scores:
        return self.model_.predict({"X": X}, num_threads=self.n_threads).astype(np.float64)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"model": np.frombuffer(self.model_.serialize(), np.uint8)}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.model_ = ydf.deserialize_model(arrays["model"].tobytes())


def _columns(data: Dataset, weights: Values | None = None) -> dict[str, NDArray[Any]]:
    queries = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
    columns: dict[str, NDArray[Any]] = {"X": data.X, "label": data.y.astype(np.float32), "query": queries}
    return columns if weights is None else {**columns, "weight": weights}
