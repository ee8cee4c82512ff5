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


_OBLIVIOUS, _LEAFWISE = {"growth": "oblivious"}, {"growth": "leafwise"}
_RANDOM = {"learning_rate": 0.05, "query_fraction": 0.5, "feature_fraction": 0.5}
_QUANTILES = {"quantile_features": True}

MENU: tuple[Recipe, ...] = (
    _recipe("lambdamart", **_OBLIVIOUS, max_depth=4),
    _recipe("linearregression"),
    _recipe("lambdarank", **_QUANTILES),
    _recipe("lambdamart", **_LEAFWISE, n_leaves=7, **_RANDOM),
    _recipe("mart", **_LEAFWISE, n_leaves=15, **_RANDOM),
    _recipe("xendcg", **_OBLIVIOUS, max_depth=4),
    _recipe("logisticregression"),
    _recipe("lambdamart", **_OBLIVIOUS, max_depth=6, **_RANDOM),
    _recipe("lambdarank", **_QUANTILES, hidden=(256, 128)),
    _recipe("lambdamart", **_LEAFWISE, n_leaves=7, splits="gradient", **_RANDOM),
    _recipe("randomforest", n_trees=100, trees_per_bag=10, objective="lambda", n_leaves=15),
    _recipe("lambdamart", **_LEAFWISE, n_leaves=31, min_docs=50, **_RANDOM),
    _recipe("xendcg", **_LEAFWISE, n_leaves=7, **_RANDOM),
    _recipe("listnet", **_QUANTILES),
    _recipe("coordinateascent", n_restarts=2),
    _recipe("mart", **_OBLIVIOUS, max_depth=4),
    _recipe("lambdamart", **_OBLIVIOUS, max_depth=4, weighting="lambdaloss"),
    _recipe("lambdamart", **_LEAFWISE, n_leaves=15, noise=0.0, **_RANDOM),
    _recipe("lambdarank"),
    _recipe("rcrank"),
    _recipe("ensemble", member="lambdarank(quantile_features=true)", n_models=3),
    _recipe("ranksvm"),
    _recipe("smoothrank"),
    _recipe("contextrank", **_QUANTILES),
    _recipe("lambdamart", **_LEAFWISE, n_leaves=63, min_docs=50, **_RANDOM),
    _recipe("randomforest", n_trees=150),
    _recipe("linearregression", normalize=None),
    _recipe("coordinateascent", n_restarts=2, normalize=None),
)

_OF_FORESTS: dict[str, SearchRange] = {"query_fraction": (0.3, 1.0, "linear"), "l2": (0.1, 30.0, "log")}
_WIDER: dict[str, dict[str, SearchRange]] = {
    "lambdamart": {**_OF_FORESTS, "noise": (0.0, 1.0, "linear"), "splits": ["newton", "gradient"]},
    "xendcg": _OF_FORESTS,
    "mart": _OF_FORESTS,
}
"""What is searched of a ranker beyond its own `search_space`."""

SHORTENED: Mapping[str, int] = {"n_trees": 150, "n_epochs": 20, "n_restarts": 1}
"""The most steps of a first trial on a part of large data."""

_UNCHANGED = ("n_restarts", "n_models")  # more are slower, and no other model
_STEP = 0.35  # of the range, the deviation of a change


def recipes() -> list[Recipe]:
    """The menu, without networks where PyTorch is not installed."""
    has_torch = find_spec("torch") is not None
    return [recipe for recipe in MENU if has_torch or not _is_neural(recipe)]


def _is_neural(recipe: Recipe) -> bool:
    name = str(recipe.parameters.get("member", recipe.ranker)).partition("(")[0]
    return ".neural." in _registry.find("rankers", name, "ranker").module


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
