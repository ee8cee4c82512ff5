"""What a search for the best ranker tries: first these rankers, in this order, then changes of the best ones.

The order is to pay early: what is strong and quick on most collections comes first, then what is of another
kind (and so helps a combination), then what takes long. A new option is one more line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from pomona import _registry
from pomona._parameters import show_value
from pomona.experiments.spec import ranker_class
from pomona.rankers.base import SearchRange


@dataclass(frozen=True)
class Recipe:
    """A ranker by its name, and the parameters that are not at their defaults."""

    ranker: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        name = _registry.find("rankers", self.ranker, "ranker").class_name
        values = ", ".join(f"{key}={show_value(value)}" for key, value in self.parameters.items())
        return f"{name}({values})" if values else name


def _recipe(ranker: str, **parameters: Any) -> Recipe:
    return Recipe(ranker, parameters)


_OBLIVIOUS = {"growth": "oblivious", "max_depth": 4}
_RANDOM = {"query_fraction": 0.5, "feature_fraction": 0.5}

MENU: tuple[Recipe, ...] = (
    _recipe("lambdamart", **_OBLIVIOUS),
    _recipe("linearregression"),
    _recipe("lambdamart", n_leaves=7, learning_rate=0.05),
    _recipe("coordinateascent", n_restarts=2),
    _recipe("lambdamart", **_OBLIVIOUS, learning_rate=0.05, **_RANDOM),
    _recipe("randomforest", n_trees=150),
    _recipe("mart", **_OBLIVIOUS),
    _recipe("lambdamart", n_leaves=15, learning_rate=0.05, **_RANDOM),
    _recipe("randomforest", n_trees=100, trees_per_bag=10, objective="lambda", n_leaves=15),
    _recipe("lambdamart", n_leaves=31, learning_rate=0.05),
    _recipe("mart", n_leaves=15, learning_rate=0.05, **_RANDOM),
    _recipe("lambdarank", hidden=(64,)),
    _recipe("smoothrank"),
    _recipe("lambdamart", n_leaves=31, learning_rate=0.03, min_docs=50, **_RANDOM),
    _recipe("listnet", hidden=(64,)),
    _recipe("lambdamart", growth="oblivious", max_depth=6, learning_rate=0.05, **_RANDOM),
    _recipe("rcrank"),
    _recipe("lambdarank", hidden=(256, 128), dropout=0.3),
    _recipe("ranksvm"),
    _recipe("lambdamart", n_leaves=63, learning_rate=0.05, min_docs=50, **_RANDOM),
    _recipe("linearregression", normalize=None),
    _recipe("coordinateascent", n_restarts=2, normalize=None),
)

_WIDER: dict[str, dict[str, SearchRange]] = {
    "lambdamart": {"query_fraction": (0.3, 1.0, "linear"), "l2": (0.1, 30.0, "log")},
    "mart": {"query_fraction": (0.3, 1.0, "linear"), "l2": (0.1, 30.0, "log")},
}
"""What is searched of a ranker beyond its own `search_space`."""

SHORTENED: Mapping[str, int] = {"n_trees": 150, "n_epochs": 20, "n_restarts": 1}
"""The most steps of a first trial on a part of large data."""

_UNCHANGED = ("n_restarts",)  # more restarts are slower, and no other model
_STEP = 0.35  # of the range, the deviation of a change


def recipes() -> list[Recipe]:
    """The menu, without networks where PyTorch is not installed."""
    has_torch = find_spec("torch") is not None
    kinds = {recipe.ranker: _registry.find("rankers", recipe.ranker, "ranker").module for recipe in MENU}
    return [recipe for recipe in MENU if has_torch or ".neural." not in kinds[recipe.ranker]]


def changed(recipe: Recipe, random: np.random.Generator) -> Recipe | None:
    """The recipe with one or two parameters changed at random; None where nothing is worth changing."""
    cls = ranker_class(recipe.ranker)
    space = {**cls.space_for(recipe.parameters), **_WIDER.get(recipe.ranker, {})}
    names = sorted(name for name in space if name not in _UNCHANGED)
    if not names:
        return None
    values = {**cls().get_params(deep=False), **recipe.parameters}
    chosen = random.permutation(names)[: random.integers(1, 3)].tolist()
    new = {name: _near(values[name], space[name], random) for name in chosen}
    return Recipe(recipe.ranker, {**recipe.parameters, **new})


def _near(value: Any, choices: SearchRange, random: np.random.Generator) -> Any:
    """A value of the range near this one; of a list, any."""
    if isinstance(choices, list):
        return choices[int(random.integers(len(choices)))]
    least, most, scale = choices
    is_log = "log" in scale
    low, high = (math.log(least), math.log(most)) if is_log else (least, most)
    is_number = isinstance(value, int | float) and value > (0 if is_log else -math.inf)
    if is_number:
        place = (math.log(value) if is_log else value) + _STEP * (high - low) * random.standard_normal()
    else:
        place = random.uniform(low, high)
    place = min(max(place, low), high)
    number = math.exp(place) if is_log else place
    return round(number) if "int" in scale else float(f"{min(max(number, least), most):.3g}")
