"""What the learning to rank plugins of Elasticsearch and OpenSearch take: the body of `_createmodel`.

Trees are `model/xgboost+json`: float32 throughout, x < threshold goes left, no base score (which becomes a
first tree). Where `raw` is asked for they are `model/xgboost+json+raw`, XGBoost's own JSON, of which the
plugins read less: they want all names and types, an objective of theirs, and take leaves from `base_weights`.
Weighted sums are `model/linear`, which has no constant; `feature_normalizers` scale what training scaled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import (
    FLOAT32_NOTE,
    Format,
    Model,
    as_float32,
    check_names,
    single_precision,
    without_base,
    without_infinite_limits,
)
from pomona.trees.formats.weighted_sum import ScaledSum, WeightedSum
from pomona.trees.formats.xgboost import XGBoost, below
from pomona.trees.formats.xgboost_dump import nested_trees, refuse_infinite_limits

_MOST_FEATURES = 10_000
_MOST = np.nextafter(np.finfo(np.float32).max, np.float32(0))  # that a threshold can lie above


class PluginModel(Format):
    """What both plugins share."""

    newest: ClassVar[tuple[int, ...]]

    def reads_raw(self, version: tuple[int, ...]) -> bool:
        """Whether this version has a parser of XGBoost's own JSON."""
        raise NotImplementedError

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """A request body that uploads trees."""
        _check_names(feature_names)
        single = single_precision(replace(forest, value=np.array(as_float32(forest.value))))
        if self.sends_undefined_right(self.options.version(self.newest)):
            single = replace(single, threshold=np.minimum(single.threshold, _MOST))
        if not self.options.raw:
            return self._body("model/xgboost+json", nested_trees(single, feature_names))
        if not self.reads_raw(self.options.version(self.newest)):
            raise InputError("this version of the plugin has no model/xgboost+json+raw: leave raw out")
        return self._body("model/xgboost+json+raw", _raw(single, feature_names))

    def sends_undefined_right(self, version: tuple[int, ...]) -> bool:
        """Whether undefined values go right at every split, as infinite ones do: there they are one."""
        return False

    def write_sum(self, model: WeightedSum, feature_names: Sequence[str]) -> str:
        """A request body that uploads weights, and what scales their features if they are scaled."""
        _check_names(feature_names)
        weight = model.coef if model.scaled is None else model.scaled.weight
        given = {name: one for name, one in zip(feature_names, as_float32(weight), strict=True) if one}
        normalizers = {} if model.scaled is None else _normalizers(model.scaled, feature_names, given)
        return self._body("model/linear", json.dumps(given), json.dumps(normalizers) if normalizers else "")

    def _body(self, kind: str, definition: str, normalizers: str = "") -> str:
        name = json.dumps(self.options.model_name)
        beside = f',"feature_normalizers":{normalizers}' if normalizers else ""
        model = f'{{"type":"{kind}","definition":{definition}{beside}}}'
        return f'{{"model":{{"name":{name},"model":{model}}}}}\n'

    def _undefined(self, forest: Forest) -> list[str]:
        """What the version makes of features that a document lacks."""
        raise NotImplementedError

    def notes(self, model: Model) -> list[str]:
        """Precision, the constant, and undefined values."""
        rounded = [] if getattr(model, "single", False) else [FLOAT32_NOTE]
        if not isinstance(model, Forest):
            lost = ["model/linear has no constant: scores lack it, and rank the same"]
            return rounded + (lost if getattr(model, "start", 0.0) else [])
        return rounded + self._undefined(model) + self._infinite(model)

    def _infinite(self, forest: Forest) -> list[str]:
        """Splits that send infinity left, which this version cannot."""
        n = int((forest.threshold == np.inf).sum())
        if not n or not self.sends_undefined_right(self.options.version(self.newest)):
            return []
        return [f"infinity goes where undefined values go there: {n} splits here tell them apart"]


def _normalizers(scaled: ScaledSum, names: Sequence[str], given: Mapping[str, float]) -> dict[str, Any]:
    """`standard` scales by any two numbers; `min_max` would do the same, and refuses those below 0."""
    scales = zip(names, as_float32(scaled.center), as_float32(scaled.width), strict=True)
    return {
        name: {"standard": {"mean": center, "standard_deviation": width}}
        for name, center, width in scales
        if name in given
    }


def _raw(forest: Forest, names: Sequence[str]) -> str:
    """XGBoost's JSON as the plugins read it; they pass over the base score, so that becomes a tree."""
    whole = without_infinite_limits(without_base(forest))
    refuse_infinite_limits(below(whole))
    model = json.loads(XGBoost().write(replace(whole, value=np.array(as_float32(whole.value))), names))
    model["learner"] |= {
        "feature_names": list(names),
        "feature_types": ["float"] * len(names),
        "objective": {"name": "rank:pairwise"},
    }
    return json.dumps(model)


def goes_left(forest: Forest) -> int:
    """How many splits send what is undefined to the left."""
    return int(forest.nan_left.sum())


def absent_is_zero(forest: Forest, engine: str) -> list[str]:
    """The note on an engine that takes what a document lacks for 0, where that matters."""
    differs = forest.nan_left != (forest.threshold >= 0)
    if not differs.any():
        return []
    return [
        f"{engine} takes what a document lacks for 0: {int(differs.sum())} splits send 0 elsewhere than NaN"
    ]


def _check_names(names: Sequence[str]) -> None:
    if len(names) > _MOST_FEATURES:
        raise InputError(f"found {len(names)} features, a feature set has at most {_MOST_FEATURES}")
    check_names(names)
