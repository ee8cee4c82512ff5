"""Elasticsearch's own learning to rank (8.12 and later): a trained model, as eland uploads it.

Features arrive as float32 and are compared as float64, −0 below 0; sums are float64 and compensated, scores
float32. An infinite feature goes where an undefined one does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import (
    Format,
    Model,
    check_names,
    ranges_of,
    single_precision,
    without_base,
)

_NEWEST, _WITHOUT_INPUT, _FIRST = (9, 1), (8, 15), (8, 12)


class Elastic(Format):
    """Elasticsearch's trained model (8.12+): the body of `PUT _ml/trained_models/NAME`."""

    name: ClassVar[str] = "elastic"

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """Trees with an extractor for every feature: the value of the field of its name."""
        version = self.options.version(_NEWEST)
        if version < _FIRST:
            raise InputError("Elasticsearch has its own learning to rank from 8.12 on: take -f elasticsearch")
        check_names(feature_names)
        names, forest = list(feature_names), single_precision(without_base(forest))
        trees = [{"tree": _tree(forest, number, names)} for number in range(forest.n_trees)]
        ensemble = {
            "feature_names": names,
            "target_type": "regression",
            "trained_models": trees,
            "aggregate_output": {"weighted_sum": {"weights": [1.0] * len(trees)}},
        }
        body: dict[str, Any] = {
            "inference_config": {
                "learning_to_rank": {"feature_extractors": [_extractor(name) for name in names]}
            },
            "definition": {"trained_model": {"ensemble": ensemble}},
        }
        if version < _WITHOUT_INPUT:
            body["input"] = {"field_names": names}
        return json.dumps(body) + "\n"

    def notes(self, model: Model) -> list[str]:
        """Precision, and the extractors."""
        return [
            "scores are float32 there, and shifted so that none is negative (8.19, 9.0.1 and later)",
            "an infinite value goes where an undefined one goes there",
            "every feature is read from the field of its name: put your queries in the feature extractors",
        ]


def _extractor(name: str) -> dict[str, Any]:
    script = {"source": f"return doc[{json.dumps(name)}].value;"}
    query = {"script_score": {"query": {"exists": {"field": name}}, "script": script}}
    return {"query_extractor": {"feature_name": name, "query": query}}


def _tree(forest: Forest, tree: int, names: list[str]) -> dict[str, Any]:
    nodes, leaves = ranges_of(forest, tree)
    n_inner = int(nodes.stop - nodes.start)
    # Inner nodes, then leaves: children go by their places in the list.
    left, right = (
        np.where(child < 0, n_inner + ~child, child).tolist()
        for child in (forest.left[nodes], forest.right[nodes])
    )
    # 0, never −0; and no value that is asked for is infinite.
    largest = np.finfo(np.float64).max
    threshold = (forest.threshold[nodes].astype(np.float64) + 0.0).clip(-largest, largest).tolist()
    splits = zip(
        forest.feature[nodes].tolist(), threshold, forest.nan_left[nodes].tolist(), left, right, strict=True
    )
    inner = [
        {
            "node_index": number,
            "split_feature": feature,
            "threshold": limit,
            "decision_type": "lte",
            "default_left": nan_left,
            "left_child": a,
            "right_child": b,
        }
        for number, (feature, limit, nan_left, a, b) in enumerate(splits)
    ]
    values = enumerate(forest.value[leaves].tolist(), n_inner)
    ends = [{"node_index": number, "leaf_value": value} for number, value in values]
    return {"feature_names": names, "target_type": "regression", "tree_structure": inner + ends}
