"""What an engine makes of an exported model: trees by its own rules, and what it does about undefined values.

An engine's file is read as its parser reads it, refusing what that refuses, into a forest that decides as its
evaluator does; so real data are scored in seconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pomona import _registry
from pomona._types import Features, Scores
from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import ExportOptions
from pomona.trees.formats.layers import Layers
from pomona.trees.formats.weighted_sum import WeightedSum


@dataclass(frozen=True)
class Served:
    """An engine's own reading of a model.

    Attributes
    ----------
    model : decides and adds as the engine does.
    absent : what a feature that a document lacks is for it: undefined, or zero.
    compensated : whether sums are compensated float64, given as float32 (Elasticsearch's own).
    logistic : whether the score is 1 / (1 + exp(−sum)), as float32.
    """

    model: Forest | WeightedSum | Layers
    absent: Literal["undefined", "zero"]
    compensated: bool = False
    logistic: bool = False

    def score(self, X: Features) -> Scores:
        """The engine's score of every row."""
        rows = np.nan_to_num(X, posinf=np.inf, neginf=-np.inf) if self.absent == "zero" else X
        if self.compensated and isinstance(self.model, Forest):
            return _compensated(self.model, rows)
        scores: Scores = self.model.score(rows)
        return (1 / (1 + np.exp(-scores))).astype(np.float32).astype(np.float64) if self.logistic else scores


class Engine(ABC):
    """An engine of one version."""

    name: ClassVar[str]
    newest: ClassVar[tuple[int, ...]]

    def __init__(self, options: ExportOptions) -> None:
        self.options = options
        self.version = options.version(self.newest)

    @abstractmethod
    def read(self, text: str, names: Sequence[str]) -> Served:
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


def _compensated(forest: Forest, rows: Features) -> Scores:
    """As Java's DoubleStream sums: what rounding takes is carried along; the result is a float32."""
    leaves = forest.leaf_of(rows) + forest.leaf_ptr[:-1]
    total, lost = np.zeros(len(rows)), np.zeros(len(rows))
    for tree in range(forest.n_trees):
        term = forest.value[leaves[:, tree]] - lost
        after = total + term
        lost, total = (after - total) - term, after
    return (total - lost).astype(np.float32).astype(np.float64)
