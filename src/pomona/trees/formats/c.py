"""C: a function that needs no library, for whatever can call C."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pomona.trees.category_split import bits_of, nodes_on_categories
from pomona.trees.forest import Forest
from pomona.trees.formats.format import Format, Split, folded
from pomona.trees.walk import ZERO


class C(Format):
    """C99 source of `double pomona_score(const float *features)`; scores are the same bits."""

    name: ClassVar[str] = "c"
    holds_zero_missing: ClassVar[bool] = True
    holds_categories: ClassVar[bool] = True

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """One function a tree, and one that adds them up in their order."""
        total = "float" if forest.single else "double"
        trees = "".join(
            f"static double tree_{number}(const float *x) {{\n{body}}}\n\n"
            for number, body in enumerate(folded(forest, _leaf, _inner))
        )
        sums = "".join(
            f"    score = ({total})(score + tree_{number}(features));\n" for number in range(forest.n_trees)
        )
        in_set = _IN_SET if len(nodes_on_categories(forest)) else ""
        return (
            f"/* {forest.n_trees} trees over {forest.n_features} features; NAN is undefined. */\n"
            f"{self._codes()}#include <math.h>\n\n{in_set}{trees}"
            "double pomona_score(const float *features) {\n"
            f"    {total} score = {float(forest.base).hex()};\n{sums}    return score;\n}}\n"
        )

    def _codes(self) -> str:
        """A comment that tells the numbers of categories that have names."""
        lines = []
        for place, names in sorted(self.categories.items()):
            codes = ", ".join(f"{code} {json.dumps(name)}" for code, name in enumerate(names))
            lines.append(f"   features[{place}]: {codes}".replace("*/", "* /"))
        said = "/* Categories are numbers, and NAN where they are not known:\n"
        return said + "\n".join(lines) + " */\n" if lines else ""


_IN_SET = """static int in_set(float x, const unsigned *words, int n_words) {
    return x > -1 && x < 32.0f * n_words && words[(int)x >> 5] >> ((int)x & 31) & 1;
}

"""


def _leaf(number: int, value: float) -> str:
    return f"return {value.hex()};\n"


def _inner(number: int, split: Split, left: str, right: str) -> str:
    if split.members:
        words = bits_of(np.array(split.members)).tolist()
        literal = ", ".join(f"{word}u" for word in words)
        test = f"in_set(x[{split.feature}], (const unsigned[]){{{literal}}}, {len(words)})"
        return f"if ({test}) {{\n{left}}} else {{\n{right}}}\n"
    threshold = split.threshold
    limit = f"{threshold.hex()}f" if math.isfinite(threshold) else "-INFINITY"[threshold > 0 :]
    x = f"x[{split.feature}]"
    goes_left = f"!({x} > {limit})" if split.nan_left else f"{x} <= {limit}"
    if split.zero_missing:
        is_zero = f"fabsf({x}) <= {ZERO.hex()}f"
        goes_left = f"{is_zero} || {goes_left}" if split.nan_left else f"!({is_zero}) && {goes_left}"
    return f"if ({goes_left}) {{\n{left}}} else {{\n{right}}}\n"
