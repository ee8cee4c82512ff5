"""Growing trees the slow way: every split of every node is tried on plain floats.

Nodes and leaves are numbered as the fast growers number them: the left child of a divided leaf keeps its
number, and inner nodes are numbered in the order in which they are made.
"""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Rules:
    n_leaves: int = 31
    max_depth: float = math.inf
    l2: float = 0.0
    min_docs: int = 1
    min_hessian: float = 0.0
    min_gain: float = 0.0
    monotone: tuple = ()


@dataclass
class Cell:
    rows: np.ndarray
    low: float = -math.inf
    high: float = math.inf
    depth: int = 0
    parent: tuple = ()  # (node, side)


@dataclass
class Tree:
    nodes: list = field(default_factory=list)  # [feature, bin, nan_left, gain, left, right]
    is_close: bool = False  # whether rounding alone may have chosen a shared split
    cells: list = field(default_factory=list)
    value: list = field(default_factory=list)


def step(g, h, l2, low=-math.inf, high=math.inf):
    return min(max(-g / (h + l2) if h + l2 > 0 else 0.0, low), high)


def score(g, h, l2, low, high):
    w = step(g, h, l2, low, high)
    return -(2 * g * w + (h + l2) * w * w)


class Data:
    """codes (n, n_features), with NaN as code n_bins - 1 of the features in `has_nan`."""

    def __init__(self, codes, n_bins, has_nan, gradient, hessian, rules):
        self.codes, self.n_bins, self.has_nan, self.rules = codes, n_bins, has_nan, rules
        self.g, self.h = gradient.astype(float), hessian.astype(float)

    def goes_left(self, rows, feature, bin_, nan_left):
        codes = self.codes[rows, feature]
        return (codes <= bin_) | (nan_left & self.has_nan[feature] & (codes == self.n_bins[feature] - 1))

    def gain(self, cell, feature, bin_, nan_left):
        """The gain of dividing one cell, or None if a side is too small or the order is wrong."""
        rules, l2 = self.rules, self.rules.l2
        left = self.goes_left(cell.rows, feature, bin_, nan_left)
        sides = [cell.rows[left], cell.rows[~left]]
        if any(
            len(side) < max(1, rules.min_docs) or self.h[side].sum() < rules.min_hessian for side in sides
        ):
            return None
        bounds = (cell.low, cell.high)
        if rules.monotone and rules.monotone[feature]:
            left_value, right_value = (step(self.g[s].sum(), self.h[s].sum(), l2, *bounds) for s in sides)
            if rules.monotone[feature] * (right_value - left_value) < 0:
                return None
        after = sum(score(self.g[side].sum(), self.h[side].sum(), l2, *bounds) for side in sides)
        return after - score(self.g[cell.rows].sum(), self.h[cell.rows].sum(), l2, *bounds)

    def candidates(self):
        for feature in range(self.codes.shape[1]):
            known = self.n_bins[feature] - self.has_nan[feature]
            for nan_left in (False, True) if self.has_nan[feature] else (False,):
                for bin_ in range(known):
                    yield feature, bin_, nan_left

    def divide(self, tree, number, new, feature, bin_, nan_left, gain):
        cell = tree.cells[number]
        left = self.goes_left(cell.rows, feature, bin_, nan_left)
        node = len(tree.nodes)
        tree.nodes.append([feature, bin_, nan_left, gain, ~number, ~new])
        if cell.parent:
            tree.nodes[cell.parent[0]][4 + cell.parent[1]] = node
        lows, highs = [cell.low, cell.low], [cell.high, cell.high]
        monotone = self.rules.monotone[feature] if self.rules.monotone else 0
        if monotone:
            steps = [
                step(self.g[rows].sum(), self.h[rows].sum(), self.rules.l2, cell.low, cell.high)
                for rows in (cell.rows[left], cell.rows[~left])
            ]
            middle = sum(steps) / 2
            (highs if monotone > 0 else lows)[0] = middle
            (lows if monotone > 0 else highs)[1] = middle
        for side, at in ((0, number), (1, new)):
            while len(tree.cells) <= at:
                tree.cells.append(None)
            rows = cell.rows[left] if side == 0 else cell.rows[~left]
            tree.cells[at] = Cell(rows, lows[side], highs[side], cell.depth + 1, (node, side))

    def best_of_one(self, cell):
        """Documents without a value may be alone on the right, not on the left: that is the same split."""
        best = (self.rules.min_gain, None)
        if cell.depth < self.rules.max_depth:
            for split in self.candidates():
                if not (self.codes[cell.rows, split[0]] <= split[1]).any():
                    continue
                gain = self.gain(cell, *split)
                if gain is not None and gain > best[0] + 1e-9:
                    best = (gain, split)
        return best

    def leafwise(self, rows):
        tree = Tree(cells=[Cell(rows)])
        best = [self.best_of_one(tree.cells[0])]
        while len(tree.cells) < self.rules.n_leaves:
            number = max(range(len(best)), key=lambda k: best[k][0] if best[k][1] else -1)
            gain, split = best[number]
            if split is None:
                break
            new = len(tree.cells)
            self.divide(tree, number, new, *split, gain)
            best[number] = self.best_of_one(tree.cells[number])
            best.append(self.best_of_one(tree.cells[new]))
        for cell in tree.cells:
            g, h = self.g[cell.rows].sum(), self.h[cell.rows].sum()
            tree.value.append(step(g, h, self.rules.l2, cell.low, cell.high))
        return tree

    def oblivious(self, rows, depth):
        tree = Tree(cells=[Cell(rows)])
        values = [step(self.g[rows].sum(), self.h[rows].sum(), self.rules.l2)]
        for _ in range(depth):
            best = (self.rules.min_gain, None)
            for split in self.candidates():
                gain = sum(self.gain(cell, *split) or 0.0 for cell in tree.cells)
                tree.is_close |= 0 < abs(gain - best[0]) <= 1e-9 and best[1] is not None
                if gain > best[0] + 1e-9:
                    best = (gain, split)
            if best[1] is None:
                break
            n_cells = len(tree.cells)
            for c in range(n_cells):
                self.divide(tree, c, c + n_cells, *best[1], self.gain(tree.cells[c], *best[1]) or 0.0)
            values = [self.own_or(cell, values[c % n_cells]) for c, cell in enumerate(tree.cells)]
        for cell, value in zip(tree.cells, values, strict=True):
            tree.value.append(min(max(value if len(cell.rows) else 0.0, cell.low), cell.high))
        return tree

    def own_or(self, cell, enclosing):
        g, h = self.g[cell.rows].sum(), self.h[cell.rows].sum()
        enough = len(cell.rows) >= self.rules.min_docs and h >= self.rules.min_hessian
        return step(g, h, self.rules.l2) if enough else enclosing
