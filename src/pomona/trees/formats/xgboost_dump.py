"""XGBoost's JSON dump, as its `dump_model` writes it; search engines take trees so."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.format import (
    Format,
    Split,
    check_names,
    folded,
    single_precision,
    without_base,
    without_infinite_limits,
)
from pomona.trees.formats.xgboost import below


class XGBoostDump(Format):
    """XGBoost's JSON dump; features go by their names."""

    name: ClassVar[str] = "xgboost-dump"

    def name_notes(self, feature_names: Sequence[str]) -> list[str]:
        """Names that readers of dumps take for other features."""
        for place, name in enumerate(feature_names):
            if re.fullmatch(r"f[0-9]+", name) and name != f"f{place}":
                return [
                    f"XGBoost calls the features of a dump f0, f1 … by their places, so that {name!r} may be "
                    f"taken for another than the one at place {place}: give --feature-map"
                ]
        return []

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """A list of nested trees."""
        check_names(feature_names)
        return nested_trees(forest, feature_names) + "\n"


def nested_trees(forest: Forest, feature_names: Sequence[str]) -> str:
    """The trees as JSON: with all that engines ask for, and nothing that they refuse (`gain`, `cover`)."""
    names = [json.dumps(name) for name in feature_names]

    def inner(number: int, split: Split, left: str, right: str) -> str:
        yes, no = _id(split.left), _id(split.right)
        missing = yes if split.nan_left else no
        asked = f'"depth":{split.depth},"split":{names[split.feature]},"split_condition":{split.threshold!r}'
        ways = f'"yes":{yes},"no":{no},"missing":{missing},"children":[{left},{right}]'
        return f'{{"nodeid":{_id(number)},{asked},{ways}}}'

    split_below = below(without_infinite_limits(single_precision(without_base(forest))))
    refuse_infinite_limits(split_below)
    return "[" + ",\n".join(folded(split_below, _leaf, inner)) + "]"


def refuse_infinite_limits(split_below: Forest) -> None:
    """Refuse what would have to be written as infinity, which is no number of JSON."""
    if np.isinf(split_below.threshold).any():
        raise InputError(
            "a split parts infinity from 3.4e38, the largest float32, which takes an infinite threshold that "
            "the format cannot hold: train on smaller values"
        )


def _leaf(number: int, value: float) -> str:
    return f'{{"nodeid":{_id(~number)},"leaf":{value!r}}}'


def _id(child: int) -> int:
    """Inner nodes have even numbers, leaves odd ones."""
    return 2 * child if child >= 0 else 2 * ~child + 1
