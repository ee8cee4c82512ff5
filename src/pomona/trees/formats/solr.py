"""Apache Solr's learning to rank: trees, weighted sums and networks for `/schema/model-store`.

Solr computes in float32, and adds 1e-6 to every threshold before it compares: what is written is the number
that becomes the threshold by that. Numbers of trees are quoted, as Solr wants them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pomona._types import Values
from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import (
    FLOAT32_NOTE,
    Format,
    Model,
    Split,
    as_float32,
    check_names,
    folded,
    java_float,
    single_precision,
    without_base,
)
from pomona.trees.formats.layers import InputScale, Layers
from pomona.trees.formats.weighted_sum import WeightedSum

_NEWEST, _KNOWS_UNDEFINED = (9, 10), (9, 2)
_SLACK = np.float32(1e-6)
_PACKAGE = "org.apache.solr.ltr.model"


class Solr(Format):
    """Solr's model (JSON): trees, weighted sums and networks; features go by their names."""

    name: ClassVar[str] = "solr"

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """A MultipleAdditiveTreesModel."""
        names = [json.dumps(name) for name in feature_names]
        knows_undefined = self._knows_undefined

        def inner(number: int, split: Split, left: str, right: str) -> str:
            asked = f'"feature":{names[split.feature]},"threshold":"{java_float(split.threshold)}"'
            missing = f',"missing":"{"left" if split.nan_left else "right"}"' if knows_undefined else ""
            return f'{{{asked},"left":{left},"right":{right}{missing}}}'

        forest = single_precision(without_base(forest))
        written = replace(
            forest,
            threshold=before_slack(forest.threshold)[0],
            value=np.array(as_float32(forest.value)),
        )
        trees = ",\n".join(f'{{"weight":"1","root":{root}}}' for root in folded(written, _leaf, inner))
        asked = '"isNullSameAsZero":false,' if knows_undefined else ""
        return self._model("MultipleAdditiveTreesModel", feature_names, f'{{{asked}"trees":[\n{trees}\n]}}')

    def write_sum(self, model: WeightedSum, feature_names: Sequence[str]) -> str:
        """A LinearModel of the features that have a weight, which Solr scales if they are scaled."""
        scaled = model.scaled
        single = as_float32(model.coef if scaled is None else scaled.weight)
        weights = {feature_names[j]: one for j, one in enumerate(single) if one}
        features = None
        if scaled is not None:
            used = [j for j, one in enumerate(single) if one]
            features = _standardized(list(weights), scaled.center[used], scaled.width[used])
        return self._model("LinearModel", list(weights), json.dumps({"weights": weights}), features)

    def write_layers(self, model: Layers, feature_names: Sequence[str]) -> str:
        """A NeuralNetworkModel."""
        features = [{"name": name} for name in feature_names]
        first = model.weights[0]
        if model.scale is not None:
            features, first = _normalized(model.scale, first, feature_names)
        parts = zip((first, *model.weights[1:]), model.biases, model.activations, strict=True)
        layers = [
            {"matrix": list(map(as_float32, weight.T)), "bias": as_float32(bias), "activation": activation}
            for weight, bias, activation in parts
        ]
        return self._model("NeuralNetworkModel", feature_names, json.dumps({"layers": layers}), features)

    @property
    def _knows_undefined(self) -> bool:
        return self.options.version(_NEWEST) >= _KNOWS_UNDEFINED

    def _model(
        self, kind: str, names: Sequence[str], parameters: str, features: list[dict[str, Any]] | None = None
    ) -> str:
        check_names(names)
        head: dict[str, Any] = {"class": f"{_PACKAGE}.{kind}", "name": self.options.model_name}
        if self.options.store is not None:
            head["store"] = self.options.store
        head["features"] = [{"name": name} for name in names] if features is None else features
        return f'{json.dumps(head)[:-1]},\n"params":{parameters}}}\n'

    def notes(self, model: Model) -> list[str]:
        """Precision, undefined values, and thresholds that no number becomes."""
        notes = [FLOAT32_NOTE]
        if isinstance(model, Layers) and model.scale is not None and model.scale.limit < 1e300:
            notes.append(
                f"values beyond {model.scale.limit:g} deviations are cut here, not in Solr; undefined is 0"
            )
        if isinstance(model, WeightedSum) and model.start:
            notes.append("LinearModel has no constant: scores lack it, and rank the same")
        if isinstance(model, Forest):
            _, error = before_slack(single_precision(model).threshold)
            if error.any():
                moved = f"{np.count_nonzero(error)} thresholds move by up to {error.max():.0e}"
                notes.append(f"{moved}: no float32 becomes them when Solr adds its 1e-6")
            if self._knows_undefined:
                notes.append(
                    'a feature is undefined only with the parameter "defaultValue":"NaN" in its store'
                )
            else:
                notes.append("Solr before 9.2 knows no undefined values; what a document lacks is 0 there")
        return notes


def _normalized(
    scale: InputScale, weight: Values, names: Sequence[str]
) -> tuple[list[dict[str, Any]], Values]:
    """Features that Solr itself puts on the scale, and weights that leave out those of no scale."""
    if scale.log:
        raise InputError(
            "Solr takes no logarithm of features: use log_features=False or normalize='global-standard'"
        )
    is_constant = scale.inverse == 0
    deviation = 1.0 / np.where(is_constant, 1.0, scale.inverse)
    return _standardized(names, scale.mean, deviation), np.where(is_constant[:, None], 0.0, weight)


def _standardized(names: Sequence[str], center: Values, width: Values) -> list[dict[str, Any]]:
    """Features, each with the center and width by which Solr is to scale it."""
    kind = "org.apache.solr.ltr.norm.StandardNormalizer"
    return [
        {"name": name, "norm": {"class": kind, "params": {"avg": repr(mean), "std": repr(one)}}}
        for name, mean, one in zip(names, center.tolist(), width.tolist(), strict=True)
    ]


def before_slack(thresholds: NDArray[np.float32]) -> tuple[NDArray[np.float32], Values]:
    """What becomes each threshold, or the nearest to it, once Solr has added 1e-6; and how far off that is.

    >>> before_slack(np.array([0.0, 0.5, 40.0], np.float32))[0].tolist()
    [-9.999999974752427e-07, 0.4999989867210388, 40.0]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        best = thresholds - _SLACK
        error = np.abs((best + _SLACK).astype(np.float64) - thresholds)
        for way in (-np.inf, np.inf):
            near = np.nextafter(thresholds - _SLACK, np.float32(way))
            off = np.abs((near + _SLACK).astype(np.float64) - thresholds)
            best, error = np.where(off < error, near, best), np.minimum(off, error)
    is_finite = np.isfinite(thresholds)
    return np.where(is_finite, best, thresholds), np.where(is_finite, error, 0.0)


def _leaf(number: int, value: float) -> str:
    return f'{{"value":"{value!r}"}}'
