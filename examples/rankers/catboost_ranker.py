"""CatBoost's YetiRank as a Pomona ranker (`lightgbm_ranker.py` says how such a file is made and used)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import catboost
import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.rankers.base import Ranker
from pomona.rankers.inputs import query_weights


class CatBoostRanker(Ranker):
    """CatBoost, oblivious trees towards `YetiRank`.

    Parameters
    ----------
    measure : what `score` reports; its cut-off is the one that CatBoost's own NDCG stops by.
    n_trees, learning_rate : as for LambdaMART.
    max_depth : levels of a tree.
    l2 : draws the values of leaves towards 0.
    early_stopping : stop after so many trees without a better NDCG on the validation data.
    seed : of YetiRank's permutations and CatBoost's bootstrap.
    """

    name = "catboost"
    family = "list-wise"
    paper = "Prokhorenkova et al., NeurIPS 2018; Gulin, Kuralenok & Pavlov, JMLR 2011"
    search_space = {
        "learning_rate": (0.02, 0.3, "log"),
        "max_depth": (4, 8, "int"),
        "l2": (1.0, 30.0, "log"),
    }

    measure: str = "ndcg@10"
    n_trees: int = 500
    learning_rate: float = 0.1
    max_depth: int = 6
    l2: float = 3.0
    early_stopping: int = 50
    seed: int = 0

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        self.model_ = catboost.CatBoost(
            {
                "loss_function": "YetiRank",
                "eval_metric": f"NDCG:top={self.parsed_measure.k or 10};type=Exp",
                "iterations": self.n_trees,
                "learning_rate": self.learning_rate,
                "depth": self.max_depth,
                "l2_leaf_reg": self.l2,
                "early_stopping_rounds": None if valid is None else self.early_stopping,
                "thread_count": self.n_threads,
                "random_seed": self.seed,
                "allow_writing_files": False,
                "logging_level": "Silent",
            }
        )
        self.model_.fit(_pool(train, weights), eval_set=None if valid is None else _pool(valid))
        self.best_iteration_ = self.model_.tree_count_

    def predict_rows(self, X: Features) -> Scores:
        return self.model_.predict(X, thread_count=self.n_threads)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.cbm")
            self.model_.save_model(str(path))  # as JSON it would not come back bit by bit
            content = path.read_bytes()
        return {}, {"model": np.frombuffer(content, np.uint8)}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.cbm")
            path.write_bytes(arrays["model"].tobytes())
            self.model_ = catboost.CatBoost().load_model(str(path))


def _pool(data: Dataset, weights: Values | None = None) -> catboost.Pool:
    queries = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
    of_query = None if weights is None else query_weights(weights, data)[queries]
    return catboost.Pool(data.X, data.y, group_id=queries, group_weight=of_query)
