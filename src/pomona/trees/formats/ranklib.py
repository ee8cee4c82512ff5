"""RankLib's ensemble of trees, which the learning to rank of Elasticsearch and OpenSearch takes too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pomona.trees.forest import Forest
from pomona.trees.formats.format import (
    FLOAT32_NOTE,
    Format,
    Model,
    Split,
    as_float32,
    folded,
    java_float,
    single_precision,
    without_base,
)


class RankLib(Format):
    """RankLib's LambdaMART model; features are numbered from 1, and what a document lacks is 0."""

    name: ClassVar[str] = "ranklib"
    reads_undefined: ClassVar[bool] = False

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """An `<ensemble>` under RankLib's own heading."""
        forest = single_precision(without_base(forest))
        as_float32(forest.value)  # refuses what would become infinite
        most = np.diff(forest.leaf_ptr).max()
        trees = "".join(
            f'<tree id="{number}" weight="1.0">\n<split>\n{text}</split>\n</tree>\n'
            for number, text in enumerate(folded(forest, _leaf, _inner), 1)
        )
        head = f"## LambdaMART\n## No. of trees = {forest.n_trees}\n## No. of leaves = {most}\n"
        return f"{head}\n<ensemble>\n{trees}</ensemble>\n"

    def notes(self, model: Model) -> list[str]:
        """Precision, and undefined values."""
        return ([] if getattr(model, "single", False) else [FLOAT32_NOTE]) + super().notes(model)


def _leaf(number: int, value: float) -> str:
    return f"<output> {value!r} </output>\n"


def _inner(number: int, split: Split, left: str, right: str) -> str:
    return (
        f"<feature> {split.feature + 1} </feature>\n<threshold> {java_float(split.threshold)} </threshold>\n"
        f'<split pos="left">\n{left}</split>\n<split pos="right">\n{right}</split>\n'
    )
