"""Fitted rankers from files: what `save` wrote, and the models of other trainers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pomona import _registry
from pomona.data.categories import Categories
from pomona.errors import InputError, PomonaError
from pomona.rankers.base import TRAINING, Ranker
from pomona.rankers.learnt import check_learnt
from pomona.rankers.model_file import class_at, is_foreign, parameters_from_json, read_model
from pomona.rankers.parameter import NonNegativeInt, check_parameters


def load_model(path: str | Path, ranker: type[Ranker] | None = None) -> Ranker:
    """Read a fitted ranker from the file that `save` wrote, or from the model file of another trainer.

    Models of LightGBM (text, JSON), XGBoost (JSON, UBJSON, dumps), CatBoost (JSON) and RankLib are known by
    their content. `ranker` is the class of a ranker of your own: loading a file runs no code, so it cannot
    find the class. (A subclass of a shipped ranker is found if this program has it, and the file is refused
    if not.)
    """
    if ranker is None and is_foreign(Path(path)):
        imported: Ranker = _registry.find("rankers", "imported", "ranker").load().of_file(path)
        return imported
    kind, written, arrays = read_model(Path(path))
    try:
        if ranker is not None and ranker.name == kind:
            return _restored(ranker, written, arrays)
        return restored(kind, written, arrays)
    except PomonaError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = " ".join(f"{error}".split())[:200] or type(error).__name__
        raise InputError(f"not a model of this version of Pomona ({reason}): train it again", path) from None


def restored(kind: str, written: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Ranker:
    """The fitted ranker of this kind that was `written`, with its arrays."""
    place = written.get("class")  # of a subclass that somebody wrote, which has the name of its base
    cls = _registry.find("rankers", kind, "ranker").load() if place is None else class_at(str(place), Ranker)
    return _restored(cls, written, arrays)


def _restored(cls: type[Ranker], written: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Ranker:
    ranker = cls(**cls.parameters_of_file(parameters_from_json(written["parameters"])))
    check_parameters(ranker)
    learnt, training = written["learnt"], written["training"]
    declared = {"n_features": int, "feature_names": tuple[str, ...], "has_column_names": bool}
    check_learnt(declared, learnt)
    ranker.n_features_in_, ranker.feature_names_ = learnt["n_features"], tuple(learnt["feature_names"])
    # The names are in the file, so a small file cannot ask for a large matrix.
    if len(ranker.feature_names_) != ranker.n_features_in_:
        raise ValueError(f"{len(ranker.feature_names_)} names for {ranker.n_features_in_} features")
    ranker._set_column_names(ranker.feature_names_ if learnt["has_column_names"] else None)
    check_learnt({"longest_query": NonNegativeInt}, {"longest_query": 0, **learnt})
    ranker.longest_query_ = learnt.get("longest_query", 0)  # earlier versions did not keep it
    ranker.categories_ = _checked_categories(learnt.get("categories", {}), ranker.n_features_in_)
    ranker.set_state(learnt, arrays)
    recorded = {name: kind for name, kind in TRAINING.items() if name in training}
    check_learnt(recorded, training)
    check_learnt(dict.fromkeys(training.get("evals_", ()), tuple[float, ...]), training.get("evals_", {}))
    for name in recorded:
        setattr(ranker, name, training[name])
    return ranker


def _checked_categories(written: Any, n_features: int) -> Categories:
    """The names of categories that a file holds, by feature."""
    check_learnt({"categories": dict}, {"categories": written})
    check_learnt(dict.fromkeys(written, tuple[str, ...]), written)
    if not all(0 <= int(place) < n_features for place in written):
        raise ValueError("categories of a feature that there is not")
    return {int(place): tuple(names) for place, names in written.items()}
