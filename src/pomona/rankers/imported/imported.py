"""A model that somebody else trained, as an ordinary fitted ranker: scored, compared, explained, exported.

Scores are what the trainer calls raw: LightGBM's `raw_score`, XGBoost's `output_margin`, CatBoost's
`RawFormulaVal`; of LightGBM's and float64 features they are the same bits, of XGBoost's the same float32.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Scores, Values
from pomona.data.categories import Categories, recoded
from pomona.data.dataset import Dataset, numbered
from pomona.data.table import columns_of_frame
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.rankers.base import Ranker
from pomona.rankers.explanation import Explanation
from pomona.rankers.imported.sources.file import read_model_file
from pomona.rankers.imported.sources.live import read_live
from pomona.rankers.inputs import as_dataset, as_documents, rows_of_documents
from pomona.rankers.learnt import FINITE, check_learnt
from pomona.rankers.parameter import check_parameters
from pomona.rankers.trace import Trace
from pomona.rankers.watched import FitOptions, Validation, check_options
from pomona.trees.forest import Forest
from pomona.trees.formats.format import folded_in
from pomona.trees.formats.layers import Layers
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.readers.reader import ReadModel

_FACTS = {
    "kind": str,
    "start": FINITE,
    "single": bool,
    "activations": tuple[str, ...],
    "divisor": FINITE,
    "scale": FINITE,
    "shift": FINITE,
    "is_open": bool,
    "by_name": bool,
    "missing": float | None,
}


class Imported(Ranker):
    """A model of LightGBM, XGBoost, CatBoost, scikit-learn or RankLib, as it was trained there.

    Parameters
    ----------
    model : the model's file, which `fit` reads (and learns nothing); None for a model that came from memory.
    measure : what `score` reports; any measure, any convention.

    Attributes
    ----------
    model_ : the trees, weighted sum or layers, which score as the trainer does.

    Departures
    ----------
    None: it scores as the trainer's own library does.
    """

    name = "imported"
    family = "baseline"
    optimizes = "nothing"
    paper = "no method: as trained elsewhere"

    model: str | None = None
    measure: str | Measure = "ndcg@10"

    @classmethod
    def of_file(cls, path: str | Path) -> Imported:
        """The fitted ranker of a model file."""
        ranker = cls(model=str(path))
        ranker._hold(read_model_file(Path(path)))
        return ranker

    @classmethod
    def of_object(cls, model: Any) -> Imported:
        """The fitted ranker of a model in memory."""
        live, ranker = read_live(model), cls()
        ranker._hold(live.read, live.missing)
        return ranker

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: ArrayLike | None = None,
        valid: Validation | None = None,
        sample_weight: ArrayLike | None = None,
        trace: Trace | None = None,
        **options: Unpack[FitOptions],
    ) -> Self:
        """Read the model's file; the data only have to be of its features."""
        check_parameters(self)
        check_options(type(self).__name__, options)
        if given := "trace" if trace is not None else next(iter(options), None):
            raise InputError(f"a model that was trained elsewhere has no steps to show: leave {given} out")
        if self.model is None:
            raise InputError(
                "a model from memory cannot be fitted again: save it, or name its file as `model`"
            )
        self._hold(read_model_file(Path(self.model)))
        self.predict(as_dataset(X, y, qid, group).take([0]))
        return self

    def _hold(self, read: ReadModel, missing: float = math.nan) -> None:
        self.model_, self.is_open_, self._by_name = read.model, read.is_open, read.by_name
        self._after = read.divisor, read.scale, read.shift
        self._missing, self.categories_ = missing, read.categories
        self.n_features_in_ = read.model.n_features
        self.feature_names_ = read.feature_names or numbered(self.n_features_in_)
        self._set_column_names(read.feature_names)
        if read.note:
            warnings.warn(read.note, stacklevel=4)

    def predict(self, X: Any, qid: Any = None) -> Scores:
        """One score a document, in the order of the rows: higher ranks first.

        float64 arrays and frames are read as such by models that tell them apart (LightGBM's,
        scikit-learn's); all else is float32, as everywhere in Pomona.
        """
        self.check_fitted()
        X = self._own_features(X, qid)
        if isinstance(self.model_, Forest) and self.model_.double_threshold is not None:
            rows = _doubles(X, self.feature_names_, self.categories_)
            if rows is not None:
                return self.predict_rows(rows)
        return super().predict(X, None if isinstance(X, Dataset) else qid)

    def explain(
        self, X: Any, qid: Any = None, *, background: Dataset | None = None, method: str | None = None
    ) -> Explanation:
        self.check_fitted()
        others = None if background is None else self._own_features(background, None)
        rows = self._own_features(X, qid)
        return super().explain(
            rows, None if isinstance(rows, Dataset) else qid, background=others, method=method
        )

    def _own_features(self, X: Any, qid: Any) -> Any:
        """The features that the model knows, where X may have more of them, or in other places."""
        if (documents := as_documents(X)) is not None:
            X = rows_of_documents(documents, self.feature_names_)
        elif self._by_name:
            X = self._named(X, qid)
        if type(X) is np.ndarray and X.ndim == 2 and X.shape[1] > self.n_features_in_ and self.is_open_:
            return X[:, : self.n_features_in_]
        if isinstance(X, Dataset) and X.n_features > self.n_features_in_ and self.is_open_:
            names = numbered(self.n_features_in_)
            return X.replace(X=np.ascontiguousarray(X.X[:, : len(names)]), feature_names=names)
        return X

    def _named(self, X: Any, qid: Any) -> Dataset:
        """The model's features among those of X, for a file that does not tell their places."""
        data = X
        if not isinstance(X, Dataset):
            n = X.shape[0] if hasattr(X, "shape") else len(X)
            data = Dataset(X, np.zeros(n), np.zeros(n, int) if qid is None else qid)
        place = {name: j for j, name in enumerate(data.feature_names)}
        missing = [name for name in self.feature_names_ if name not in place]
        if missing:
            raise InputError(
                f"the model's file tells features by name only, and X has no {missing[0]!r}: name the columns"
            )
        chosen = data.X[:, [place[name] for name in self.feature_names_]]
        named: Dataset = data.replace(X=np.ascontiguousarray(chosen), feature_names=self.feature_names_)
        return named

    def predict_rows(self, X: NDArray[Any]) -> Scores:
        if not math.isnan(self._missing):
            X = np.where(self._missing == X, np.nan, X)
        scores, (divisor, scale, shift) = self.model_.score(X), self._after
        scores = scores if divisor == 1 else scores / divisor
        return scores if (scale, shift) == (1, 0) else scores * scale + shift

    @property
    def models_(self) -> list[Forest]:
        """The forest, where the model is one."""
        self.check_fitted()
        return [self.model_] if isinstance(self.model_, Forest) else []

    def portable(self) -> Forest | WeightedSum | Layers:
        self.check_fitted()
        if not math.isnan(self._missing):
            raise InputError(
                f"the model takes {self._missing:g} for undefined beside NaN, which no other engine does: "
                "train it on data where NaN is undefined"
            )
        divisor, scale, shift = self._after
        return folded_in(self.model_, scale / divisor, shift)

    def importance(self, kind: str = "gain") -> Values:
        """How much each feature serves the model: of trees the summed split `gain`, or number (`split`)."""
        self.check_fitted()
        return self.model_.importance(kind) if isinstance(self.model_, Forest) else self.model_.importance()

    @property
    def feature_importances_(self) -> Values:
        """Each feature's share of the importance; of trees whose gains nobody wrote, of their splits."""
        shares = self.importance()
        if not shares.any():
            shares = self.importance("split")
        return shares / shares.sum() if shares.any() else shares

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        model, (divisor, scale, shift) = self.model_, self._after
        facts = {
            "kind": type(model).__name__.lower(),
            "start": model.base if isinstance(model, Forest) else getattr(model, "start", 0.0),
            "single": getattr(model, "single", False),
            "activations": list(getattr(model, "activations", ())),
            "divisor": divisor,
            "scale": scale,
            "shift": shift,
            "is_open": self.is_open_,
            "by_name": self._by_name,
            "missing": None if math.isnan(self._missing) else self._missing,
        }
        return facts, model.arrays()

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        check_learnt(_FACTS, facts)
        n_features, start = self.n_features_in_, float(facts["start"])
        model: Forest | WeightedSum | Layers
        if facts["kind"] == "forest":
            model = Forest.of_arrays(arrays, n_features, start, single=facts["single"])
        elif facts["kind"] == "weightedsum":
            model = WeightedSum.of_arrays(arrays, n_features, start, single=facts["single"])
        elif facts["kind"] == "layers":
            model = Layers.of_arrays(arrays, tuple(facts["activations"]))
        else:
            raise ValueError(f"a model of kind {facts['kind']!r:.40}")
        if model.n_features != n_features or not facts["divisor"]:
            raise ValueError(f"a model over {model.n_features} of {n_features} features")
        self.model_, self.is_open_, self._by_name = model, facts["is_open"], facts["by_name"]
        self._after = float(facts["divisor"]), float(facts["scale"]), float(facts["shift"])
        self._missing = math.nan if facts["missing"] is None else float(facts["missing"])


def _doubles(X: Any, names: Sequence[str], categories: Categories) -> NDArray[np.float64] | None:
    """The model's features in float64, where X holds them so; else None, and `Dataset` decides.

    Categories are told by their names in a frame, and in an array by LightGBM's own codes.
    """
    if hasattr(type(X), "columns"):
        rows, columns, in_frame = columns_of_frame(X, np.float64)
        if tuple(columns) == tuple(names) and not categories and not in_frame:
            return rows
        place = {name: j for j, name in enumerate(columns)}
        is_same = len(place) == len(columns) == len(names) and set(names) == place.keys()
        if not is_same or {place[names[f]] for f in categories} != set(in_frame):
            return None
        for f, known in categories.items():
            at = place[names[f]]
            rows[:, at] = recoded(rows[:, at], in_frame[at], known)
        return np.ascontiguousarray(rows[:, [place[name] for name in names]])
    if categories and type(X) is np.ndarray:
        X = X.astype(np.float64)
    is_double = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2
    return X if is_double and X.shape[1] == len(names) else None


def from_model(model: Any) -> Imported:
    """A fitted ranker from a fitted model in memory, which scores as the model itself does.

    Takes LightGBM's and XGBoost's `Booster`, `LGBMRanker`, `XGBRanker`, `CatBoostRanker` and their sisters,
    and scikit-learn's `HistGradientBoosting…`. Files are read by `load_model`.
    """
    return Imported.of_object(model)


def from_sklearn(model: Any) -> Imported:
    """A fitted ranker from scikit-learn's `HistGradientBoostingRegressor` or `…Classifier`.

    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X = np.arange(80.0)[:, None]
    >>> model = HistGradientBoostingRegressor(max_iter=3).fit(X, X[:, 0] > 30)
    >>> bool((from_sklearn(model).predict(X) == model.predict(X)).all())
    True
    """
    if type(model).__module__.partition(".")[0] != "sklearn":
        raise InputError(f"found {type(model).__name__}, expected a model of scikit-learn (see from_model)")
    return Imported.of_object(model)
