"""What a ranker is: a scikit-learn estimator that also takes datasets, and knows its measure.

`fit(train, valid=valid)` and `predict(test)` take datasets; `fit(X, y, qid=qid)` and `predict(X)` take
arrays and frames. The query ids are *requested* as scikit-learn metadata: with routing switched on,
`cross_validate`, `GridSearchCV` and `Pipeline` carry `qid` to `fit` and to `score` without further words.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, Unpack, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._arrays import whole_file
from pomona._jit import n_threads
from pomona._types import Features, Scores, Values
from pomona.data.categories import Categories, refuse_categories
from pomona.data.content_order import in_content_order
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.judge import evaluate
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.callback import Callbacks
from pomona.rankers.estimator import Estimator
from pomona.rankers.evaluator import mean_of_queries
from pomona.rankers.explanation import Explanation, explain, of_model
from pomona.rankers.inputs import (
    aligned,
    as_dataset,
    check_one_query,
    column_names,
    not_empty,
    query_weights,
    training_data,
    training_weights,
    unlabelled,
    weighted,
)
from pomona.rankers.learnt import check_learnt
from pomona.rankers.model_file import exact_parameters, own_class, parameters_to_json, write_model
from pomona.rankers.movable import Movable
from pomona.rankers.parameter import annotate_defaults, check_parameters, refuse_unknown_names
from pomona.rankers.trace import Trace
from pomona.rankers.training_log import TrainingLog
from pomona.rankers.watched import (
    FitOptions,
    Validation,
    Watched,
    check_options,
    check_watched,
    held_out_sets,
    tells_rankings_apart,
)
from pomona.trees.shap import Shap

SearchRange = tuple[float, float, str] | list[Any]
SCALES = ("linear", "log", "int", "log int")
"""How a range is searched."""
_PREDICTING = ("predict", "predict_rows", "predict_queries")
_OF_PREDICTIONS = ("portable", "contributions", "movable_queries")
"""What tells of a model how it predicts."""
TRAINING = {"evals_": dict, "best_iteration_": int, "interrupted_": bool}
"""The record of a training, where it was done step by step."""
_WHILE_LEARNING = ("_log", "_trace", "_learnt_from", "_watched", "_callbacks")


@dataclass_transform(kw_only_default=True, eq_default=False)
class Ranker(Estimator):
    """Learns from labelled documents to give scores that rank.

    A subclass declares its parameters (annotated class attributes with a default, which become the keywords
    of `__init__` as in a dataclass), says what it is (`name`, `family`, `optimizes`, `paper`), and writes the
    hooks `learn` and `predict_rows` (or `predict_queries` and `scores_whole_queries`, where the score of a
    document depends on the others of its query). What `learn` leaves and a model file keeps is named in
    `learnt_attributes`; where that is no array, number, text or list, `get_state` and `set_state` turn it
    into some and back. A ranker that learns step by step records its steps in `start_training(…)`.

    Attributes
    ----------
    evals_ : of a ranker that learns step by step: the recorded values of each part after every iteration.
        With validation data these are what `score` would give: of the training data, `train`, of the
        validation data that decide, `valid`, and of other sets by their names; of other measures as in
        `valid ap`. Some record more, such as their `loss`.
    best_iteration_ : the iteration that was kept: the best on the validation data, without any the last
        (unless the ranker says otherwise; boosted forests keep a mean of the rounds from it on).
    interrupted_ : whether Ctrl-C ended the training.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    """point-wise, pair-wise, list-wise, ensemble or baseline."""
    optimizes: ClassVar[str] = ""
    """What training lowers or raises: the measure itself, also by its lambdas or made smooth (`direct`), a
    `bound` of it, a loss of its own (`surrogate`), or `nothing`."""
    paper: ClassVar[str]
    is_bound: ClassVar[bool] = False
    """Whether this is no method but a limit: it reads the labels of the documents that it scores."""
    is_traceable: ClassVar[bool] = False
    """Whether a `Trace` can watch it learn: it lets the log of its training `follow` the documents."""
    reads_categories: ClassVar[bool] = False
    """Whether it learns from features that are categories."""
    search_space: ClassVar[Mapping[str, SearchRange]] = {}
    """Parameters worth searching: (least, most, `linear`, `log`, `int` or `log int`), or a list."""

    learnt_attributes: ClassVar[Mapping[str, Any] | tuple[str, ...]] = ()
    """What `learn` leaves and a model file keeps, by name; a subclass adds to those of its bases.

    A mapping says what each is (`learnt.py`), which is checked when a model is loaded.
    """

    row_attributes: ClassVar[tuple[str, ...]] = ()
    """What `learn` leaves with one value a training document, which `fit` puts in the order of the rows."""

    measure: str | Measure
    """What `score` reports, and what the ranker is selected by."""

    longest_query_ = 0
    """How many documents the longest training query had; 0 where an earlier version did not keep it."""

    categories_: Categories = MappingProxyType({})
    """By place of a feature of categories, their names in the order of the model's codes."""

    evals_: dict[str, list[float]]
    best_iteration_: int
    interrupted_: bool
    _log: TrainingLog | None
    _trace: Trace | None
    _callbacks = Callbacks()
    _writes_init: ClassVar[bool] = False
    _records_another: ClassVar[bool] = False
    """Whether a shipped ranker's training records other predictions than those of this class."""
    _watched = Watched()
    _learnt_from: Dataset
    """While it learns: the training data, which know the order in which their rows came."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A constructor that somebody wrote is that of subclasses, too, as everywhere in Python.
        cls._writes_init = "__init__" in vars(cls) or cls._writes_init
        is_ours = cls.__module__.partition(".")[0] == __name__.partition(".")[0]
        if not is_ours and any(name in vars(cls) for name in _PREDICTING):
            for name in _OF_PREDICTIONS:  # a forest of the base class is not what predicts here
                if name not in vars(cls):
                    setattr(cls, name, vars(Ranker)[name])
            learns = next(base for base in cls.__mro__ if "learn" in vars(base))
            cls._records_another = learns is not cls and learns is not Ranker
        annotate_defaults(cls)
        dataclass(kw_only=True, eq=False, repr=False, init=not cls._writes_init)(cls)
        if not cls._writes_init:
            refuse_unknown_names(cls)

    @classmethod
    def space_for(cls, parameters: Mapping[str, Any]) -> Mapping[str, SearchRange]:
        """What is worth searching in a ranker of these parameters, where that depends on them."""
        return cls.search_space

    @classmethod
    def parameters_of_file(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Parameters as a model file has them, without those that earlier versions had and did not use."""
        return parameters

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        """Learn, leaving attributes that end in `_`.

        `weights` has one a document, 0 of one that is not judged, or is None where all count alike.
        """
        raise NotImplementedError(f"{type(self).__name__} must define learn")

    def predict_rows(self, X: Features) -> Scores:
        """One score a row."""
        raise NotImplementedError(f"{type(self).__name__} must define predict_rows or predict_queries")

    def predict_queries(self, data: Dataset) -> Scores:
        """One score a document; for rankers that look at the whole query."""
        return self.predict_rows(data.X)

    @property
    def scores_whole_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return False

    def movable_queries(self, data: Dataset) -> Movable:
        """The trained parameters as one vector; for rankers whose parameters are plain numbers."""
        raise InputError(
            f"{type(self).__name__} has no weights that could be moved: "
            "expected a linear, a neural or a forest ranker"
        )

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What was learnt, as (what JSON holds, arrays)."""
        values = {name: getattr(self, name) for name in self.learnt_names()}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        facts = {name: value for name, value in values.items() if name not in arrays}
        return parameters_to_json(facts), arrays

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """The inverse of `get_state`; a ValueError tells what does not fit."""
        for name in self.learnt_names():
            setattr(self, name, arrays[name] if name in arrays else facts[name])
        for base in type(self).__mro__:
            declared = vars(base).get("learnt_attributes", ())
            if isinstance(declared, Mapping):
                check_learnt(declared, vars(self), n_features=self.n_features_in_)

    @classmethod
    def learnt_names(cls) -> list[str]:
        """The `learnt_attributes` of the class and of its bases."""
        return sorted({name for base in cls.__mro__ for name in vars(base).get("learnt_attributes", ())})

    def start_training(
        self, total: int, *, unit: str = "iteration", done: int = 0, deciding: Sequence[str] = ("valid",)
    ) -> TrainingLog:
        """The log of a training of at most `total` iterations (see `TrainingLog`), which `fit` keeps."""
        self._log = log = TrainingLog(
            type(self).__name__,
            total,
            unit=unit,
            done=done,
            deciding=deciding,
            early_stopping=getattr(self, "early_stopping", None),
            verbose=getattr(self, "verbose", False),
            trace=self._trace,
            callbacks=self._callbacks,
            model=self._model_so_far,
        )
        return log

    def _model_so_far(self) -> Self:
        """A fitted ranker of the best iteration of a training that goes on."""
        log, learning = self._log, dict(self.__dict__)
        assert log is not None
        log.finish()
        fitted = copy.copy(self)
        self.__dict__ = learning
        for name in self.row_attributes:
            setattr(fitted, name, self._learnt_from.to_input_order(getattr(fitted, name)))
        fitted._remember(log)
        for name in _WHILE_LEARNING:
            fitted.__dict__.pop(name, None)
        return fitted

    def _remember(self, log: TrainingLog) -> None:
        self.evals_ = {part: list(curve) for part, curve in log.evals.items()}
        self.best_iteration_, self.interrupted_ = log.best_iteration, log.interrupted

    def judge_sets(self, valid: Dataset | None) -> dict[str, float]:
        """What to record of `valid` and all else that is watched, by `predict` as it is now."""
        sets = self._watched.beside(valid)
        scores = {name: data.from_input_order(self.predict(data)) for name, data in sets.items()}
        return self._watched.judge(sets, self.parsed_measure)(scores)

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
        """Learn from a dataset, or from features, labels and query ids.

        The order of the rows, and the ids of queries, make no difference to the model.

        Parameters
        ----------
        group : instead of `qid`, how many rows each query has, one query after the other.
        valid : a dataset or (X, y, qid): decides which iteration is kept, and when to stop early.
        sample_weight : one weight a document; left out, those of the dataset. In a loss a pair of documents
            counts w̄ r r', any other term w̄ r: w̄ is the mean weight of the query's documents whose weight is
            above 0, and r = w / w̄. In `score` and `evals_` a query counts by the mean of all its weights.
        valid_weight : one weight a document of `valid`; left out, those of the dataset.
        unjudged : what documents without a label (NaN) teach: `ignored`, the default, gives them weight 0,
            `irrelevant` takes them as documents of label 0.
        trace : records what happens to the documents of some training queries, iteration by iteration.
        eval_set : validation sets that are watched: datasets, (X, y, qid), or (X, y) with `eval_qid` or
            `eval_group`, lists of one entry a set. Without `valid`, the first that is not the training data
            decides, and is called `valid` in `evals_`; the others are `valid_1` …, or as `eval_names` says.
        eval_measures : measures of these sets to be recorded beside the ranker's, which decides.
        callbacks : called after every iteration with a `TrainingStep`; one that returns True stops it.
        """
        check_parameters(self)
        check_options(type(self).__name__, options)
        if trace is not None and not self.is_traceable:
            raise InputError(f"{type(self).__name__} has no steps that a trace could show: leave trace out")
        train = weighted(not_empty(as_dataset(X, y, qid, group)), sample_weight, X)
        train, unjudged = training_data(train), options.get("unjudged")
        weights = training_weights(train, unjudged=unjudged)
        if not self.reads_categories:
            refuse_categories(train, type(self).__name__)
        held_out, watched = held_out_sets(train, valid, options)
        above = type(self).fit is not Ranker.fit  # called by a `fit` that has more to say
        if held_out is not None and not tells_rankings_apart(held_out):
            warnings.warn(
                "labels differ in no query of the validation data, where every ranking is worth the same: "
                "they cannot tell when to stop, nor what to keep",
                stacklevel=2 + above,
            )
        callbacks = Callbacks(options.get("callbacks"))
        self.categories_ = dict(train.categories)
        self.n_features_in_, self.feature_names_ = train.n_features, train.feature_names
        self.longest_query_ = int(train.query_lengths.max())
        self._set_column_names(column_names(X))
        self._log, self._trace, self._watched, self._callbacks = None, trace, watched, callbacks
        try:
            train = in_content_order(train, weights)  # a shuffled file is to teach the same
            weights = training_weights(train, unjudged=unjudged)
            self._learnt_from = train
            if trace is not None:
                trace.start(train, type(self).__name__, self.parsed_measure)
            with self.plain_parameters():
                self.learn(train.gathered(), None if held_out is None else held_out.gathered(), weights)
            for name in self.row_attributes:
                setattr(self, name, train.to_input_order(getattr(self, name)))
            log = self._log
            check_watched(type(self).__name__, watched, callbacks, None if log is None else log.evals)
        except BaseException:
            del self.n_features_in_  # what a failed training left is no model
            raise
        finally:
            for name in _WHILE_LEARNING:
                self.__dict__.pop(name, None)
        if log is not None:
            if self._records_another and log.evals:
                warnings.warn(
                    f"{type(self).__name__} predicts in its own way, but learns as {self.name}: evals_, "
                    "early stopping and what was kept go by the predictions of the latter",
                    stacklevel=2 + above,
                )
            if trace is not None:
                trace.finish(log.unit, log.best_iteration)
            self._remember(log)
            if log.interrupted:
                warnings.warn(f"interrupted: keeping {log.kept}", stacklevel=2 + above)
        return self

    def predict(self, X: Any, qid: Any = None) -> Scores:
        """One score a document, in the order of the rows: higher ranks first.

        X is a dataset, an array or a frame, a dict (one document, its values by the names of the features) or
        a list of dicts. `qid`, one id a row or one for all, is needed only where the scores of a query depend
        on each other. A list of dicts is then one request, the documents of one query.
        """
        self.check_fitted()
        data = self._request(X, qid)
        return data.to_input_order(self.predict_queries(data.gathered()) if data.n_docs else np.zeros(0))

    def _request(self, X: Any, qid: Any) -> Dataset:
        """What is to be scored, with the features of the model."""
        data = unlabelled(X, qid, self.feature_names_, self.categories_, type(self).__name__)
        if qid is None and self.scores_whole_queries and not isinstance(X, Dataset):
            check_one_query(X, data.n_docs, self.longest_query_, type(self).__name__)
        return data

    def movable(self, data: Dataset) -> Movable:
        """The trained parameters as one vector, and what scores the documents of `data` by others.

        Scores stand in the order of `data.gathered()`.
        """
        self.check_fitted()
        return self.movable_queries(aligned(data, self.feature_names_, self.categories_, "data").gathered())

    def explain(
        self, X: Any, qid: Any = None, *, background: Dataset | None = None, method: str | None = None
    ) -> Explanation:
        """What each feature adds to the score of each document, in the order of the rows.

        Parameters
        ----------
        background : documents that tell what is to be expected where nothing is known. If left out, `path`
            takes the training documents, which most forests count in their leaves; all else takes X itself.
        method : of forests `path` (as LightGBM's `pred_contrib`) or `interventional`; others have one only.
        """
        self.check_fitted()
        known = self.feature_names_, self.categories_
        data = self._request(X, qid)
        others = None if background is None else aligned(background, *known, "background")
        return explain(self, data, others, method)

    def contributions(
        self, data: Dataset, background: Dataset | None, method: str | None
    ) -> tuple[Shap, str]:
        """What each feature adds to the scores of documents, and the name of the method: see `explain`."""
        return of_model(self, data.X, None if background is None else background.X, method)

    def score(self, X: Any, y: Any = None, qid: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean of the ranker's measure.

        Queries count by the mean weight of their documents, as given or as the dataset has them.
        """
        data = weighted(as_dataset(X, y, qid), sample_weight, X)
        judgement = evaluate(data, self.predict(data), self.parsed_measure).judgements[0]
        weights = data.gathered().weight
        return mean_of_queries(judgement.values, None if weights is None else query_weights(weights, data))

    @property
    def parsed_measure(self) -> Measure:
        """The parameter `measure`, as the measure itself where it was given as text."""
        return parse_measure(self.measure)

    @property
    def n_threads(self) -> int:
        """How many threads may work at once: `POMONA_THREADS`, or all cores; in a comparison, a share."""
        return n_threads()

    def save(self, path: str | Path) -> None:
        """Write the fitted ranker to a file that loads without running code."""
        self.check_fitted()
        write_model(Path(path), self.name, *self.written())

    def portable(self) -> Any:
        """The model as engines hold one: a forest, a weighted sum or layers; refused where it is none."""
        if own_class(type(self)) is not None:
            raise InputError(
                f"{type(self).__name__} predicts in its own way, which is not the model of {self.name}: "
                "define portable, too"
            )
        raise InputError(f"a model of {self.name} is no forest, weighted sum or network for engines to hold")

    def exported(self, format: str, **options: Any) -> str | bytes:
        """The model as another engine reads it; the options are those of `ExportOptions`."""
        from pomona.rankers.exporting import exported

        return exported(self, format, **options)

    def export(self, path: str | Path, format: str = "lightgbm", **options: Any) -> None:
        """Write the model for another engine: `lightgbm`, `elasticsearch`, `c` … (`pomona list formats`)."""
        content = self.exported(format, **options)
        with whole_file(Path(path)) as file:
            file.write(content.encode() if isinstance(content, str) else content)

    def written(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Parameters, what was learnt and how, as (what JSON holds, arrays)."""
        facts, arrays = self.get_state()
        parameters = exact_parameters(self.get_params(deep=False))
        learnt = {
            "n_features": self.n_features_in_,
            "feature_names": list(self.feature_names_),
            "has_column_names": hasattr(self, "feature_names_in_"),
            "longest_query": self.longest_query_,
            **facts,
        }
        if self.categories_:
            learnt["categories"] = {str(place): list(names) for place, names in self.categories_.items()}
        training = {name: getattr(self, name) for name in TRAINING if hasattr(self, name)}
        facts = {"parameters": parameters, "learnt": learnt, "training": parameters_to_json(training)}
        if (place := own_class(type(self))) is not None:
            facts["class"] = place
        return facts, arrays
