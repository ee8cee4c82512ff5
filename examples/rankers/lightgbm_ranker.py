"""LightGBM's LambdaMART as a Pomona ranker: how to add a ranker of your own without touching Pomona.

    pomona compare mq2008 --rankers "lambdamart, examples/rankers/lightgbm_ranker.py:LightGBMRanker"

A ranker is one class: parameters with defaults, `learn` and `predict_rows`, and `get_state` and `set_state`,
by which its model is kept. Comparison, search, statistics and report come by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.rankers.base import Ranker


class LightGBMRanker(Ranker):
    """LightGBM, objective `lambdarank`.

    Parameters
    ----------
    measure : what `score` reports; its cut-off is the one that LightGBM's own NDCG stops by.
    n_trees, learning_rate, n_leaves, min_docs, feature_fraction : as for LambdaMART.
    early_stopping : stop after so many trees without a better NDCG on the validation data.
    seed : of the features that a tree may use.
    """

    name = "lightgbm"
    family = "list-wise"
    paper = "Ke et al., NIPS 2017"
    search_space = {
        "learning_rate": (0.02, 0.3, "log"),
        "n_leaves": (7, 127, "log int"),
        "min_docs": (5, 200, "log int"),
        "feature_fraction": (0.3, 1.0, "linear"),
    }

    measure: str = "ndcg@10"
    n_trees: int = 500
    learning_rate: float = 0.1
    n_leaves: int = 31
    min_docs: int = 20
    feature_fraction: float = 1.0
    early_stopping: int = 50
    seed: int = 0

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        parameters = {
            "objective": "lambdarank",
            "metric": "ndcg",
            "eval_at": [self.parsed_measure.k or 10],
            "learning_rate": self.learning_rate,
            "num_leaves": self.n_leaves,
            "min_data_in_leaf": self.min_docs,
            "feature_fraction": self.feature_fraction,
            "num_threads": self.n_threads,
            "seed": self.seed,
            "verbose": -1,
        }
        data = lightgbm.Dataset(train.X, train.y, group=np.diff(train.query_ptr), weight=weights)
        held_out, stop = [], []
        if valid is not None:
            held_out = [lightgbm.Dataset(valid.X, valid.y, group=np.diff(valid.query_ptr), reference=data)]
            stop = [lightgbm.early_stopping(self.early_stopping, verbose=False)]
        booster = lightgbm.train(parameters, data, self.n_trees, valid_sets=held_out, callbacks=stop)
        self.best_iteration_ = booster.best_iteration or booster.num_trees()
        # The text has the trees up to the best one only.
        self.booster_ = lightgbm.Booster(
            model_str=booster.model_to_string(num_iteration=self.best_iteration_)
        )

    def predict_rows(self, X: Features) -> Scores:
        return self.booster_.predict(X, num_threads=self.n_threads)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        text = self.booster_.model_to_string().encode()
        return {}, {"model": np.frombuffer(text, np.uint8)}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.booster_ = lightgbm.Booster(model_str=arrays["model"].tobytes().decode())
