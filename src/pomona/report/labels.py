"""Where direct labels go so that they do not cover each other: beside a curve's end, or around a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pomona._types import Values

LINE_HEIGHT = 13.0
CHARACTER_WIDTH = 6.3
GAP = 7.0


def spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions as little as needed (least squares) to stand `gap` apart, in [low, high] if they fit.

    With the gaps taken off, each may be no less than the one before it: isotonic regression.

    >>> spread([0.0, 10.0, 11.0], 4.0, 0.0, 100.0)
    [0.0, 8.5, 12.5]
    """
    n, order = len(positions), np.argsort(positions, kind="stable")
    gaps = min(gap, (high - low) / max(1, n - 1)) * np.arange(n)
    moved = rising(np.asarray(positions, float)[order] - gaps)
    out = np.empty(n)
    out[order] = np.clip(moved, low, high - gaps.max(initial=0.0)) + gaps
    return [float(place) for place in out]


def rising(values: Values) -> Values:
    """The nearest numbers (least squares) that never fall: neighbors that do are given their mean.

    As `scipy.optimize.isotonic_regression`, which takes a tenth of a second to load.

    >>> rising(np.array([1.0, 4.0, 2.0, 5.0]))
    array([1., 3., 3., 5.])
    """
    blocks: list[tuple[float, int]] = []  # mean, size
    for value in values:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] >= mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    return np.array([mean for mean, size in blocks for _ in range(size)])


class Place(NamedTuple):
    """How a label hangs on its point, in Vega's words; empty when there is no room for it."""

    align: str = ""
    dx: float = 0.0
    dy: float = 0.0


# Above first: there, a Pareto front leaves room.
_AROUND = (
    Place("center", 0.0, -GAP - LINE_HEIGHT / 2),
    Place("right", -GAP, 0.0),
    Place("left", GAP, 0.0),
    Place("center", 0.0, GAP + LINE_HEIGHT / 2),
    Place("left", GAP, -LINE_HEIGHT * 0.8),
    Place("left", GAP, LINE_HEIGHT * 0.8),
    Place("right", -GAP, -LINE_HEIGHT * 0.8),
    Place("right", -GAP, LINE_HEIGHT * 0.8),
)
Box = tuple[float, float, float, float]


def around(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    width: float,
    height: float,
    *,
    n_needed: int = 0,
) -> list[Place]:
    """For each point (in pixels, the most important first) the first free place, or none.

    An empty text needs no place. The first `n_needed` have one in any case, where they cover the least.

    >>> around([(50, 50), (51, 51)], ["one", "two"], 200, 100)
    [Place(align='center', dx=0.0, dy=-13.5), Place(align='right', dx=-7.0, dy=0.0)]
    """
    taken: list[Box] = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    places = []
    for i, ((x, y), text) in enumerate(zip(points, texts, strict=True)):
        covered = []
        for place in _AROUND if text else ():
            box = _box(x + place.dx, y + place.dy, place.align, CHARACTER_WIDTH * len(text))
            inside = box[0] >= 0 and box[2] <= width and box[1] >= -LINE_HEIGHT and box[3] <= height
            # Leaving the plot is worse than covering all that is in it.
            met = sum(_meet(box, other) for j, other in enumerate(taken) if j != i)
            covered.append(met if inside else len(taken) + 1)
        least = min(covered, default=1)
        if least == 0 or (text and i < n_needed):
            places.append(_AROUND[covered.index(least)])
            taken.append(
                _box(x + places[-1].dx, y + places[-1].dy, places[-1].align, CHARACTER_WIDTH * len(text))
            )
        else:
            places.append(Place())
    return places


def _box(x: float, y: float, align: str, width: float) -> Box:
    left = x - {"left": 0.0, "center": width / 2, "right": width}[align]
    return left, y - LINE_HEIGHT / 2, left + width, y + LINE_HEIGHT / 2


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
