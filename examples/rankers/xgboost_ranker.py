"""XGBoost's LambdaMART as a Pomona ranker (`lightgbm_ranker.py` says how such a file is made and used)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.rankers.base import Ranker
from pomona.rankers.inputs import query_weights


class XGBoostRanker(Ranker):
    """XGBoost, objective `rank:ndcg`, trees grown leaf by leaf on histograms.

    Parameters
    ----------
    measure : what `score` reports; its cut-off is the one that XGBoost's own NDCG stops by.
    n_trees, learning_rate, n_leaves, feature_fraction : as for LambdaMART.
    min_hessian : the least sum of second derivatives of a leaf; XGBoost counts no documents.
    early_stopping : stop after so many trees without a better NDCG on the validation data.
    seed : of the features that a tree may use.
    """

    name = "xgboost"
    family = "list-wise"
    paper = "Chen & Guestrin, KDD 2016"
    search_space = {
        "learning_rate": (0.02, 0.3, "log"),
        "n_leaves": (7, 127, "log int"),
        "min_hessian": (0.01, 10.0, "log"),
        "feature_fraction": (0.3, 1.0, "linear"),
    }

    measure: str = "ndcg@10"
    n_trees: int = 500
    learning_rate: float = 0.1
    n_leaves: int = 31
    min_hessian: float = 1.0
    feature_fraction: float = 1.0
    early_stopping: int = 50
    seed: int = 0

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        parameters = {
            "objective": "rank:ndcg",
            "eval_metric": f"ndcg@{self.parsed_measure.k or 10}",
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": self.n_leaves,
            "learning_rate": self.learning_rate,
            "min_child_weight": self.min_hessian,
            "colsample_bytree": self.feature_fraction,
            "nthread": self.n_threads,
            "seed": self.seed,
        }
        held_out = [] if valid is None else [(self._matrix(valid), "valid")]
        self.booster_ = xgboost.train(
            parameters,
            self._matrix(train, weights),
            self.n_trees,
            evals=held_out,
            early_stopping_rounds=self.early_stopping if held_out else None,
            verbose_eval=False,
        )
        if held_out:
            self.booster_ = self.booster_[: self.booster_.best_iteration + 1]
        self.best_iteration_ = self.booster_.num_boosted_rounds()

    def _matrix(self, data: Dataset, weights: Values | None = None) -> xgboost.DMatrix:
        weight = None if weights is None else query_weights(weights, data)
        sizes = np.diff(data.query_ptr)
        return xgboost.DMatrix(data.X, data.y, group=sizes, weight=weight, nthread=self.n_threads)

    def predict_rows(self, X: Features) -> Scores:
        self.booster_.set_param({"nthread": self.n_threads})
        return self.booster_.inplace_predict(X).astype(np.float64)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        text = bytes(self.booster_.save_raw("json"))
        return {}, {"model": np.frombuffer(text, np.uint8)}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.booster_ = xgboost.Booster(model_file=bytearray(arrays["model"].tobytes()))
