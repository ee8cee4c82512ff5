"""What every ranker promises, as checks for rankers of anybody's."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pomona._jit import threads
from pomona._types import Scores
from pomona.data.content_order import in_content_order
from pomona.data.dataset import Dataset
from pomona.data.simulate import simulate
from pomona.errors import InputError
from pomona.measures.judge import evaluate
from pomona.rankers import base
from pomona.rankers.base import SCALES, Ranker
from pomona.rankers.inputs import weights_in_queries
from pomona.rankers.parameter import values_outside
from pomona.testing.callbacks import check_callbacks, check_watched_sets
from pomona.testing.contract import (
    check_parameters_are_documented,
    is_same,
    refusal_of,
    require,
    require_equal,
    require_finite,
    run_checks,
)
from pomona.testing.estimator import check_scikit_learn
from pomona.testing.sample import (
    N_FEATURES,
    degenerate_data,
    fresh_data,
    new_ranker,
    saved_and_loaded,
    subclass_of,
    tables_of,
    train_data,
)
from pomona.testing.training import (
    check_early_stopping,
    check_interruption_keeps_the_best,
    check_training_is_recorded,
    check_what_is_recorded_is_the_score,
)

RankerCheck = Callable[[Ranker], None]
FAMILIES = ("point-wise", "pair-wise", "list-wise", "ensemble", "baseline")


def check_ranker(ranker: Ranker | type[Ranker], **parameters: Any) -> None:
    """Check that a ranker keeps every promise; `parameters` make it small and quick, as `n_rounds=5`."""
    new = ranker(**parameters) if isinstance(ranker, type) else clone(ranker).set_params(**parameters)
    run_checks(ranker_checks(), new)


def check_beats_random(ranker: Ranker) -> None:
    """One finite score a document, and a better ranking than by chance on easy data."""
    fresh = fresh_data()
    scores = new_ranker(ranker).fit(train_data()).predict(fresh)
    require(
        np.shape(scores) == (fresh.n_docs,),
        f"predict must give one score a document: found shape {np.shape(scores)} for {fresh.n_docs}",
    )
    require_finite(scores, "scores must be finite")
    chance = np.mean([_ndcg(np.random.default_rng(i).random(fresh.n_docs)) for i in range(9)])
    require(
        _ndcg(scores) > chance + 0.03,
        f"on easy data a ranker must beat random scores: NDCG@10 {_ndcg(scores):.4f}, theirs {chance:.4f}",
    )


def check_scores_follow_documents(ranker: Ranker) -> None:
    """Scores come in the order of the rows, whatever it is, and depend on that order in no other way."""
    fresh = fresh_data()
    fitted = new_ranker(ranker).fit(train_data())
    order = np.random.default_rng(0).permutation(fresh.n_docs)
    scores = fitted.predict(fresh.X, qid=fresh.qid)
    shuffled = fitted.predict(fresh.X[order], qid=fresh.qid[order])
    require_equal(scores[order], shuffled, "the score of a document must not depend on the order of the rows")


def check_shuffled_rows_teach_the_same(ranker: Ranker) -> None:
    """Training rows in another order, or queries of other ids, give the same model to the last bit."""
    data, random = train_data(), np.random.default_rng(0)
    X, weights = np.round(data.X, 1), random.integers(1, 4, data.n_docs)  # rounded, so that there are ties
    for given in (None, weights):
        models = []
        for rows in (np.arange(data.n_docs), random.permutation(data.n_docs)):
            ids = [f"{17 * qid % 101}" for qid in data.qid[rows].tolist()] if rows[0] else data.qid
            shuffled = Dataset(X[rows], data.y[rows], ids)
            new, more = new_ranker(ranker, seed=3), None if given is None else given[rows]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*uses the mean weight")
                models.append(new.fit(shuffled, valid=fresh_data(), sample_weight=more))
        one, other = models
        promise = "training rows in another order must give the same model"
        require_equal(one.predict(fresh_data()), other.predict(fresh_data()), promise)
        curves = getattr(one, "evals_", None), getattr(other, "evals_", None)
        require(is_same(*curves), f"{promise} and learning curves, found {curves}")


def check_same_seed_same_model(ranker: Ranker) -> None:
    """The same seed gives the same scores to the last bit, with any number of threads."""
    scores = []
    for count in (1, 2, 4):
        with threads(count):
            scores.append(new_ranker(ranker, seed=3).fit(train_data()).predict(fresh_data()))
    for other, count in zip(scores[1:], (2, 4), strict=True):
        promise = f"the same seed must give the same model with any number of threads (1 and {count})"
        require_equal(scores[0], other, promise)


def check_save_and_load(ranker: Ranker) -> None:
    """A model file keeps parameters, what was learnt and the record of the training."""
    fitted = new_ranker(ranker, seed=3).fit(train_data(), valid=fresh_data())
    loaded = saved_and_loaded(fitted)
    name = type(fitted).__name__
    require(type(loaded) is type(fitted), f"a saved {name} must load as one, found {type(loaded).__name__}")
    for what, attributes in (
        ("parameter", list(fitted.get_params(deep=False))),
        ("attribute", ["n_features_in_", "feature_names_", *fitted.learnt_names(), *base.TRAINING]),
    ):
        for attribute in attributes:
            before, after = getattr(fitted, attribute, None), getattr(loaded, attribute, None)
            require(
                is_same(before, after),
                f"save and load must keep {what} {attribute}: found {after!r}, expected {before!r}",
            )
    require(
        list(loaded.feature_names_) == list(train_data().feature_names),
        "a model file must keep feature names",
    )
    promise = f"a loaded {name} must give the scores of the saved one"
    require_equal(fitted.predict(fresh_data()), loaded.predict(fresh_data()), promise)


def check_odd_data(ranker: Ranker) -> None:
    """A constant feature, undefined values, a query of one document and one of equal labels do no harm."""
    random = np.random.default_rng(0)
    X = random.random((40, 4)).astype(np.float32)
    X[:, 1] = 5
    X[:7, 2] = np.nan
    qid = np.repeat([1, 2, 3, 4], [1, 9, 10, 20])
    y = random.integers(0, 3, 40)
    y[1:10] = 0
    scores = new_ranker(ranker).fit(X, y, qid=qid).predict(X, qid=qid)
    promise = "scores must be finite also with constant features, undefined values, queries of one document"
    require_finite(scores, promise)


def check_degenerate_data(ranker: Ranker) -> None:
    """Data that leave little or nothing to learn give a model of finite scores, or an error of one line."""
    for case, data in degenerate_data().items():
        for valid in (None, data):
            where = f"data with {case}{'' if valid is None else ', also to validate on'}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # a model that learnt nothing says so
                try:
                    scores = new_ranker(ranker, n_epochs=2).fit(data, valid=valid).predict(data)
                except InputError as error:
                    require("\n" not in str(error), f"{where} must be refused in one line, found {error}")
                except Exception as error:
                    promise = f"{where} must give a model or an InputError"
                    raise AssertionError(f"{promise}, found {type(error).__name__}: {error}") from error
                else:
                    promise = f"{where} must give finite scores or an InputError"
                    require_finite(scores, promise)


def check_any_table(ranker: Ranker) -> None:
    """Datasets, arrays and frames of the same rows give the same model; it knows the names of columns."""
    data, new = train_data(), new_ranker(ranker, seed=5)
    y, qid, columns = data.y, data.qid, list(data.feature_names)
    expected = new.fit(data).predict(data)
    for kind, table in tables_of(data).items():
        fitted = new_ranker(new).fit(table, y, qid=qid)
        promise = f"rows as {kind} must give the model of the same rows as a Dataset"
        require_equal(expected, fitted.predict(table, qid=qid), promise)
        if kind == "an array":
            continue
        names = list(fitted.feature_names_), list(fitted.feature_names_in_)
        require(names == (columns, columns), f"feature names must be those of {kind}, found {names}")
        promise = f"{kind} whose columns are in another order must give the same scores"
        require_equal(expected, fitted.predict(table[columns[::-1]], qid=qid), promise)
        with refusal_of(f"{kind} that lacks a column", f"missing: {columns[0]}"):
            fitted.predict(table[columns[1:]], qid=qid)


def check_data_stay_as_they_are(ranker: Ranker) -> None:
    """Neither `fit` nor `predict` writes into the data."""
    # In the order that `fit` would put them in: they are lent as they are, not as a copy.
    data = in_content_order(simulate(20, docs_per_query=10, n_features=4, seed=3)).gathered()
    before = [array.copy() for array in (data.X, data.y, data.query_ptr)]
    new_ranker(ranker).fit(data, valid=data).predict(data)
    for name, old in zip(("X", "y", "query_ptr"), before, strict=True):
        require(np.array_equal(getattr(data, name), old), f"fit and predict must not write into {name}")


def check_is_an_estimator(ranker: Ranker) -> None:
    """`clone`, `get_params` and `set_params` work, and nothing is predicted before `fit`."""
    twin = clone(ranker)
    require(twin is not ranker, "clone must give a new ranker")
    of_twin, of_ranker = twin.get_params(deep=False), ranker.get_params(deep=False)
    require(is_same(of_twin, of_ranker), f"a clone must have the same parameters: {of_twin}, {of_ranker}")
    require(twin.set_params(measure="ap").measure == "ap", "set_params must set `measure`")
    try:
        clone(ranker).predict(np.zeros((1, 3)), qid=[1])
    except NotFittedError:
        return
    raise AssertionError("predict before fit must raise scikit-learn's NotFittedError")


def check_a_failed_fit_is_no_fit(ranker: Ranker) -> None:
    """A ranker whose training failed does not count as fitted, also if it was before."""

    def fail(*_: Any) -> NoReturn:
        raise InputError("the training failed")

    failing = subclass_of(type(ranker), learn=fail)
    for new in (new_ranker(ranker), new_ranker(ranker).fit(train_data())):
        attributes = set(vars(new))
        new.__class__ = failing
        with refusal_of("a training that fails", "the training failed"):
            new.fit(train_data())
        left = {name for name in set(vars(new)) - attributes if not name.endswith("_")}
        require(not left, f"fit must leave attributes that end in `_` only, found {sorted(left)}")
        try:
            new.predict(fresh_data())
            outcome = "scores"
        except NotFittedError:
            continue
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        raise AssertionError(f"a ranker whose training failed must not count as fitted: found {outcome}")


def check_routing(ranker: Ranker) -> None:
    """scikit-learn's metadata routing carries `qid` through cross-validation, search and pipelines."""
    data = train_data()
    order = np.random.default_rng(0).permutation(data.n_docs)
    X, y, qid = data.X[order], data.y[order], data.qid[order]
    ids, more = {"qid": qid, "groups": qid}, {"cv": GroupKFold(3), "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cross_validate(new_ranker(ranker), X, y, params=ids, **more)["test_score"]
        require((scores > 0.2).all(), f"cross_validate must score easy data above 0.2, found {scores}")
        if "seed" in ranker.get_params():
            search = GridSearchCV(new_ranker(ranker), {"seed": [0, 1]}, **more).fit(X, y, **ids)
            means = search.cv_results_["mean_test_score"]
            require(np.isfinite(means).all(), f"GridSearchCV must find finite scores, found {means}")
        score = make_pipeline(StandardScaler(), new_ranker(ranker)).fit(X, y, qid=qid).score(X, y, qid=qid)
        require(score > 0.3, f"a pipeline must score its easy training data above 0.3, found {score}")


def check_weights(ranker: Ranker) -> None:
    """A query of weight 0 teaches nothing; weights that do not fit the rows are refused."""
    data = train_data()
    odd = np.arange(data.n_queries) % 2 == 1
    weights = np.repeat(odd, np.diff(data.query_ptr)).astype(float)
    flipped = data.replace(y=np.where(weights > 0, data.y, 4 - data.y).astype(np.float32))
    half = flipped.take(odd)
    weighted = new_ranker(ranker).fit(flipped, sample_weight=weights).score(half)
    unweighted = new_ranker(ranker).fit(flipped).score(half)
    require(
        weighted > unweighted,
        "queries of weight 0 must teach nothing: with all others' labels turned round, leaving them out by "
        f"weight scores {weighted}, learning from all {unweighted}",
    )
    with refusal_of("one weight for many documents", "weight"):
        new_ranker(ranker).fit(data, sample_weight=[1.0])


def check_weights_inside_queries(ranker: Ranker) -> None:
    """Weights that differ inside queries are used, or warned of; no label (NaN) means no weight."""
    data, random = train_data(), np.random.default_rng(0)
    weights = random.integers(1, 9, data.n_docs) / 2
    means, _ = weights_in_queries(weights, data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = new_ranker(ranker, seed=3).fit(data, sample_weight=weights).predict(fresh_data())
    alike = new_ranker(ranker, seed=3).fit(data, sample_weight=np.repeat(means, np.diff(data.query_ptr)))
    require(
        (scores != alike.predict(fresh_data())).any()
        or any("mean weight" in str(one.message) for one in caught),
        "weights that differ inside queries must make a difference, or a warning must say why only the mean "
        "weight of a query is used: pomona.rankers.inputs.means_of_queries gives both",
    )
    is_judged = random.random(data.n_docs) > 0.2
    labels = np.where(is_judged, data.y, 0)
    unjudged = Dataset(data.X, np.where(is_judged, labels, np.nan), data.qid)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*uses the mean weight")
        one = new_ranker(ranker, seed=3).fit(unjudged)
        other = new_ranker(ranker, seed=3).fit(
            Dataset(data.X, labels, data.qid), sample_weight=is_judged.astype(float)
        )
    promise = "documents without a label (NaN) must teach what documents of label 0 and weight 0 do"
    require_equal(other.predict(fresh_data()), one.predict(fresh_data()), promise)


def check_refusals(ranker: Ranker) -> None:
    """What is missing or does not fit is refused in one line that says so."""
    data, fitted = train_data(), new_ranker(ranker).fit(train_data())
    with refusal_of("rows without query ids", "query ids qid are missing"):
        new_ranker(ranker).fit(data.X, data.y)
    with refusal_of("rows without labels", "labels y are missing"):
        new_ranker(ranker).fit(data.X)
    with refusal_of("a Dataset with labels beside it", "has its own labels"):
        new_ranker(ranker).fit(data, data.y)
    with refusal_of("validation data of other features", "validation data: found 3 features"):
        new_ranker(ranker).fit(data, valid=(np.zeros((2, 3)), [0, 1], [1, 1]))
    with refusal_of("rows of other features", f"X has 3 features, but .* {N_FEATURES} features"):
        fitted.predict(np.zeros((2, 3)), qid=[1, 1])
    with refusal_of("an unknown measure", "unknown measure"):
        new_ranker(ranker, measure="nonsense").fit(data).score(data)


def check_parameter_ranges(ranker: Ranker) -> None:
    """A number just outside the declared range of a parameter is refused in one line that names it."""
    for name, values in values_outside(type(ranker)).items():
        for value in values:
            with refusal_of(f"{name}={value!r}", rf"^{name} must be .*, found {re.escape(repr(value))}"):
                new_ranker(ranker).set_params(**{name: value}).fit(train_data())


def check_ranker_is_documented(ranker: Ranker) -> None:
    """It has a name, a family and a paper, each parameter an entry, and `search_space` names parameters."""
    cls = type(ranker)
    for attribute in ("name", "family", "paper"):
        text = getattr(cls, attribute, "")
        require(isinstance(text, str) and text, f"{cls.__name__} must have a class attribute {attribute!r}")
    require(cls.family in FAMILIES, f"family must be one of {', '.join(FAMILIES)}, found {cls.family!r}")
    parameters = list(inspect.signature(cls).parameters)
    check_parameters_are_documented(ranker, parameters)
    for name, values in cls.search_space.items():
        require(name in parameters, f"search_space must name parameters, found {name!r}")
        require(
            isinstance(values, list) or (len(values) == 3 and values[0] < values[1] and values[2] in SCALES),
            f"search_space[{name!r}] must be a list, or (least, most, one of {', '.join(SCALES)}): {values}",
        )


def ranker_checks() -> tuple[RankerCheck, ...]:
    """Every check of a ranker, to be called with an instance, which stays as it is."""
    return (
        check_ranker_is_documented,
        check_is_an_estimator,
        check_beats_random,
        check_scores_follow_documents,
        check_shuffled_rows_teach_the_same,
        check_same_seed_same_model,
        check_save_and_load,
        check_training_is_recorded,
        check_what_is_recorded_is_the_score,
        check_interruption_keeps_the_best,
        check_early_stopping,
        check_callbacks,
        check_watched_sets,
        check_odd_data,
        check_degenerate_data,
        check_any_table,
        check_data_stay_as_they_are,
        check_a_failed_fit_is_no_fit,
        check_routing,
        check_weights,
        check_weights_inside_queries,
        check_refusals,
        check_parameter_ranges,
        check_scikit_learn,
    )


def _ndcg(scores: Scores) -> float:
    value: float = evaluate(fresh_data(), scores, "ndcg@10")["ndcg@10"]
    return value
