"""What an engine makes of an exported model: trees by its own rules, and what it does about undefined values.

An engine's file is read as its parser reads it, refusing what that refuses, into a forest that decides as its
evaluator does; so real data are scored in seconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pomona import _registry
from pomona._types import Features, Scores
from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import ExportOptions


class Scoring(Protocol):
    """What gives one score a row."""

    def score(self, X: Any) -> Scores:
        """The scores."""


@dataclass(frozen=True)
class FeatureScale:
    """(x − center) / width of every feature, in float32; undefined values stay so."""

    center: NDArray[np.float32]
    width: NDArray[np.float32]

    def __call__(self, X: Features) -> Features:
        """The scaled features."""
        scaled: Features = (X.astype(np.float32) - self.center) / self.width
        return scaled

    @classmethod
    def of(cls, scales: Mapping[int, tuple[Any, Any]], n_features: int) -> FeatureScale | None:
        """Of the features that have a center and a width, by their places; None if none has."""
        center, width = np.zeros(n_features, np.float32), np.ones(n_features, np.float32)
        for place, (one, other) in scales.items():
            center[place], width[place] = np.float32(one), np.float32(other)
        return cls(center, width) if scales else None


@dataclass(frozen=True)
class Served:
    """An engine's own reading of a model.

    Attributes
    ----------
    model : decides and adds as the engine does.
    absent : what a feature that a document lacks is for it: undefined, or zero.
    scale : what features pass before the model.
    compensated : whether infinite values count as undefined, sums are compensated float64 to which `shift` is
        added, and scores are given as float32 (Elasticsearch's own).
    logistic : whether the score is 1 / (1 + exp(−sum)), and in which precision it is given.
    """

    model: Scoring
    absent: Literal["undefined", "zero"]
    scale: FeatureScale | None = None
    compensated: bool = False
    shift: float = 0.0
    logistic: Literal["float32", "float64"] | None = None

    def score(self, X: Features) -> Scores:
        """The engine's score of every row."""
        rows = np.nan_to_num(X, posinf=np.inf, neginf=-np.inf) if self.absent == "zero" else X
        rows = rows if self.scale is None else self.scale(rows)
        if self.compensated and isinstance(self.model, Forest):
            return _compensated(self.model, np.where(np.isfinite(rows), rows, np.nan), self.shift)
        scores = self.model.score(rows)
        if self.logistic is None:
            return scores
        probability: Scores = (1 / (1 + np.exp(-scores))).astype(self.logistic).astype(np.float64)
        return probability


class Engine(ABC):
    """An engine of one version."""

    name: ClassVar[str]
    newest: ClassVar[tuple[int, ...]]

    def __init__(self, options: ExportOptions) -> None:
        self.options = options
        self.version = options.version(self.newest)

    @abstractmethod
    def read(self, text: str | bytes, names: Sequence[str]) -> Served:
        """The model of an upload, whose features have these names, in our order."""


def engine_named(text: str) -> Engine:
    """An engine by its name and version, as `opensearch-3.5` or `solr`.

    >>> engine = engine_named("opensearch-3.5")
    >>> engine.name, engine.version
    ('opensearch', (3, 5))
    """
    name, dash, version = text.partition("-")
    entry = _registry.find("tools/engines", name, "engine")
    engine: Engine = entry.load()(ExportOptions(engine_version=version if dash else None))
    return engine


def place_of(names: Sequence[str], name: str) -> int:
    """The place of a feature; one that the engine does not know is refused there."""
    if name not in names:
        raise InputError(f"the engine has no feature {name!r}")
    return list(names).index(name)


def _compensated(forest: Forest, rows: Features, shift: float) -> Scores:
    """As Java's DoubleStream sums: what rounding takes is carried along; the result is a float32."""
    leaves = forest.leaf_of(rows) + forest.leaf_ptr[:-1]
    total, lost = np.zeros(len(rows)), np.zeros(len(rows))
    for tree in range(forest.n_trees):
        term = forest.value[leaves[:, tree]] - lost
        after = total + term
        lost, total = (after - total) - term, after
    return (total - lost + shift).astype(np.float32).astype(np.float64)
