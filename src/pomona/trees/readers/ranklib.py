"""RankLib's models: trees, weighted features, thresholds and networks, under a first line `## NAME`.

Features are numbered from 1 and what a document lacks is 0. Sums of trees are rounded to float32 after every
tree, all others are float64 in the order in which the terms are written.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from pomona.errors import InputError
from pomona.trees.formats.layers import Layers
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.reader import Nodes, Reader, ReadModel, checked_width

_TAG = re.compile(r"<\s*(/?)\s*(\w+)([^<>]*)>([^<>]*)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?Infinity")


class RankLibModel(Reader):
    """Any model of RankLib."""

    name: ClassVar[str] = "ranklib"

    def recognizes(self, content: Any) -> bool:
        """The first line names a method after two hashes."""
        return isinstance(content, str) and _method(content) in _METHODS

    def read(self, content: Any) -> ReadModel:
        """As the first line says."""
        lines = [line.strip() for line in content.splitlines()]
        return _METHODS[_method(content)]([line for line in lines if line and not line.startswith("##")])


def _method(content: str) -> str:
    first = content.lstrip("\ufeff").partition("\n")[0].strip()
    return first.removeprefix("##").strip().lower() if first.startswith("##") else ""


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text.strip()):
        raise InputError(f"found {text.strip()[:40]!r}, expected a number")
    return float(text)


def _trees(lines: list[str]) -> ReadModel:
    ensembles = _ensembles("\n".join(lines))
    if len(ensembles) > 1:
        raise InputError("found several ensembles, expected one")
    nodes = Nodes()
    for weight, root in ensembles[0]:
        nodes.add_tree(root, partial(_read_node, weight))
    return ReadModel(nodes.forest(checked_width(nodes.feature), single=True), is_open=True)


def _random_forest(lines: list[str]) -> ReadModel:
    """The mean of the ensembles; those of one tree are rounded to float32 once, so in their leaves."""
    ensembles = _ensembles("\n".join(lines))
    note = ""
    if any(len(trees) > 1 for trees in ensembles):
        note = "RankLib rounds the sum of each bag to float32: scores agree to some seven digits"
    nodes = Nodes()
    for trees in ensembles:
        for weight, root in trees:
            nodes.add_tree(root, partial(_rounded, weight))
    forest = nodes.forest(checked_width(nodes.feature))
    return ReadModel(forest, is_open=True, divisor=float(len(ensembles)), note=note)


def _rounded(weight: float, node: Any) -> float | tuple[Any, ...]:
    answer = _read_node(weight, node)
    return float(np.float32(answer)) if isinstance(answer, float) else answer


def _read_node(weight: float, node: Any) -> float | tuple[Any, ...]:
    if len(node) == 1:
        return float(np.float32(node[0])) * weight
    feature, threshold, left, right = node
    limit = float(np.float32(threshold))
    return feature - 1, limit, bool(limit >= 0), 0.0, left, right


def _ensembles(text: str) -> list[list[tuple[float, Any]]]:
    """(weight, root) of the trees of each ensemble: [output], or [feature, threshold, left, right]."""
    ensembles: list[list[tuple[float, Any]]] = []
    open_tags: list[str] = []
    splits: list[list[Any]] = []
    weight = 1.0
    for closing, tag, attributes, body in _TAG.findall(text):
        if closing:
            if not open_tags or open_tags.pop() != tag:
                raise InputError(f"found </{tag}> where nothing of this name is open")
            if tag == "split":
                done = splits.pop()
                if len(done) not in (1, 4):
                    raise InputError("a split needs a feature, a threshold and two splits, or an output")
                if splits:
                    splits[-1].append(done)
                else:
                    ensembles[-1].append((weight, done))
            continue
        open_tags.append(tag)
        if tag == "ensemble":
            ensembles.append([])
        elif tag == "tree":
            stated = re.search(r"weight\s*=\s*[\"']([^\"']*)[\"']", attributes)
            weight = float(np.float32(_number(stated[1]))) if stated else 1.0
        elif tag == "split":
            splits.append([])
        elif tag in ("feature", "threshold", "output") and splits:
            splits[-1].append(_feature(body) if tag == "feature" else _number(body))
        else:
            raise InputError(f"found <{tag}>, expected a tree of RankLib")
    if open_tags or not ensembles or not all(ensembles):
        raise InputError("the file is cut short, or holds no tree")
    return ensembles


def _feature(text: str) -> int:
    if not re.fullmatch(r"\s*\d{1,9}\s*", text) or int(text) < 1:
        raise InputError(f"found feature {text.strip()[:20]!r}, expected a number from 1 on")
    return int(text)


def _terms(lines: list[str], n_numbers: int, least: int = 1) -> list[tuple[int, list[float]]]:
    """`id:number:…` tokens, in their order."""
    terms = []
    for token in " ".join(line.partition("#")[0] for line in lines).split():
        number, *values = token.split(":")
        if len(values) != n_numbers or not re.fullmatch(r"\d{1,9}", number) or int(number) < least:
            raise InputError(f"found {token[:40]!r}, expected id{':number' * n_numbers}")
        terms.append((int(number), [_number(value) for value in values]))
    if not terms:
        raise InputError("the model holds no weight")
    return terms


def _weighted(lines: list[str]) -> ReadModel:
    return _sum(_terms(lines, 1), 0.0)


def _regression(lines: list[str]) -> ReadModel:
    terms = _terms(lines, 1, least=0)
    constants = [values[0] for number, values in terms if number == 0]
    if len(constants) != 1:
        raise InputError(f"found {len(constants)} constants (0:…), expected one")
    return _sum([term for term in terms if term[0]], constants[0])


def _sum(terms: list[tuple[int, list[float]]], start: float) -> ReadModel:
    feature = np.array([number - 1 for number, _ in terms], np.int64)
    weight = np.array([values[0] for _, values in terms], np.float64)
    return ReadModel(WeightedSum(feature, weight, checked_width(feature), start), is_open=True)


def _stumps(lines: list[str]) -> ReadModel:
    nodes = Nodes()
    for number, (threshold, weight) in _terms(lines, 2):
        stump = number - 1, threshold, bool(threshold >= 0), 0.0, 0.0, weight
        nodes.add_tree(stump, lambda node: node)
    return ReadModel(nodes.forest(checked_width(nodes.feature)), is_open=True)


def _network(lines: list[str]) -> ReadModel:
    inputs = [_feature(word) for word in lines[0].split()]
    n_hidden = int(lines[1])
    sizes = [len(inputs), *(int(line) for line in lines[2 : 2 + n_hidden]), 1]
    if not 0 <= n_hidden <= 100 or min(sizes) < 1 or sum(sizes) > sum(map(len, lines)):
        raise InputError(f"found layers of {sizes} neurons, more than the file holds")
    given = {}
    for line in lines[2 + n_hidden :]:
        at, neuron, *values = line.split()
        given[int(at), int(neuron)] = np.array([_number(value) for value in values])
    bias_line = given.pop((0, sizes[0]))
    if len(bias_line) != sum(sizes[1:]):
        raise InputError(f"the bias has {len(bias_line)} weights, expected {sum(sizes[1:])}")
    weights = []
    for layer, (n_in, n_out) in enumerate(itertools.pairwise(sizes)):
        rows = [given.pop((layer, neuron)) for neuron in range(n_in)]
        if any(len(row) != n_out for row in rows):
            raise InputError(f"a neuron of layer {layer} needs {n_out} weights")
        weights.append(np.array(rows))
    first = np.zeros((checked_width([number - 1 for number in inputs]), sizes[1]))
    first[np.array(inputs) - 1] = weights[0]
    if len(set(inputs)) < len(inputs):
        raise InputError("a feature stands twice")
    biases = tuple(np.split(bias_line, np.cumsum(sizes[1:])[:-1]))
    layers = Layers((first, *weights[1:]), biases, ("sigmoid",) * len(biases))
    return ReadModel(layers, is_open=True)


_METHODS: dict[str, Callable[[list[str]], ReadModel]] = {
    "mart": _trees,
    "lambdamart": _trees,
    "random forests": _random_forest,
    "coordinate ascent": _weighted,
    "adarank": _weighted,
    "linear regression": _regression,
    "rankboost": _stumps,
    "ranknet": _network,
    "lambdarank": _network,
    "listnet": _network,
}
