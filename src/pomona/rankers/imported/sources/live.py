"""A model of another library, as an object in memory: what the library would write is read."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pomona.errors import InputError
from pomona.rankers.imported.sources.file import read_content
from pomona.trees.readers.histogram_boosting import read_histogram_boosting
from pomona.trees.readers.reader import ReadModel

_EXPECTED = "a fitted model of LightGBM, XGBoost, CatBoost or scikit-learn's histogram boosting"


@dataclass(frozen=True)
class LiveModel:
    """The model, and the value that it takes for undefined beside NaN."""

    read: ReadModel
    missing: float = float("nan")


def read_live(model: Any) -> LiveModel:
    """The model of a fitted object, as its own `predict` uses it (the best iteration, say)."""
    library = type(model).__module__.partition(".")[0]
    readers = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost, "sklearn": _sklearn}
    if library not in readers:
        raise InputError(f"found {type(model).__name__}, expected {_EXPECTED}")
    try:
        return readers[library](model)
    except InputError:
        raise
    except Exception as error:
        if type(error).__name__ in ("NotFittedError", "CatBoostError", "XGBoostError", "LightGBMError"):
            raise InputError(f"{type(model).__name__} gives no model: {_first_line(error)}") from None
        raise


def _first_line(error: Exception) -> str:
    """What a library says before it shows its own stack."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def _lightgbm(model: Any) -> LiveModel:
    booster = model.booster_ if hasattr(type(model), "booster_") else model
    return LiveModel(read_content(booster.model_to_string().encode()))


def _xgboost(model: Any) -> LiveModel:
    missing = float("nan")
    if hasattr(model, "get_booster"):
        missing = float(model.missing)
        booster = model.get_booster()
        best = booster.attr("best_iteration")
        booster = booster if best is None else booster[: int(best) + 1]
    else:
        booster = model
    return LiveModel(read_content(bytes(booster.save_raw("ubj"))), missing)


def _catboost(model: Any) -> LiveModel:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content = path.read_bytes()
    names = [str(name) for name in model.feature_names_]
    read = read_content(content)
    is_default = names == [str(number) for number in range(len(names))]
    if read.feature_names is None and not is_default:
        read = ReadModel(**{**vars(read), "feature_names": tuple(names)})
    return LiveModel(read)


def _sklearn(model: Any) -> LiveModel:
    if not type(model).__name__.startswith("HistGradientBoosting"):
        raise InputError(f"found {type(model).__name__}, expected {_EXPECTED}")
    return LiveModel(read_histogram_boosting(model))
