"""What each feature adds to a document's score.

    score = expected + Σ_j values_j

Forests: exact Shapley values, `path` (what is not known of a document is as among the documents of a node:
those of the training, or of the background if one is given) or `interventional` (it is as in the background's
documents). Linear rankers: weight · (x − mean of the background), which are the Shapley values of a sum.
Networks: gradient · scaled input, which is exact for straight lines only, and does not add up: `gap` tells by
how much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pomona._types import Features, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError, UnknownNameError
from pomona.trees.forest import Forest
from pomona.trees.formats.layers import Layers
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.shap import Shap, interventional, leaf_covers, path_dependent

if TYPE_CHECKING:
    from pomona.rankers.base import Ranker

MOST_BACKGROUND = 200
"""Documents that stand for what is not known, of those given, for interventional values."""


@dataclass(frozen=True)
class Explanation:
    """Scores, taken apart.

    Attributes
    ----------
    values : (n_docs, n_features) what each feature adds, rows in the order in which they came.
    expected : the score of which nothing is known.
    scores : (n_docs,) as `predict` gives them.
    features : (n_docs, n_features) the values of the features, as the model sees them.
    method : `path`, `interventional`, `linear` or `gradient`.
    """

    values: Values
    expected: float
    scores: Scores
    features: Features
    feature_names: tuple[str, ...]
    method: str

    @property
    def gap(self) -> Values:
        """(n_docs,) what of each score the features do not explain: rounding, unless `method` is gradient."""
        unexplained: Values = self.scores - self.expected - self.values.sum(axis=1)
        return unexplained


def explain(ranker: Ranker, data: Dataset, background: Dataset | None, method: str | None) -> Explanation:
    """Take the scores of `data` apart; what `Ranker.explain` does once the data are in order."""
    if not isinstance(background, Dataset | None):
        raise InputError(f"the background must be a Dataset, found {type(background).__name__}")
    if not (data if background is None else background).n_docs:
        raise InputError("found no background document, expected one or more")
    gathered = data.gathered()
    others = None if background is None else background.gathered()
    shap, kind = ranker.contributions(gathered, others, method)
    return Explanation(
        data.to_input_order(shap.values),
        shap.expected,
        ranker.predict(data),
        data.X,
        ranker.feature_names_,
        kind,
    )


def of_model(
    ranker: Ranker, X: Features, background: Features | None, method: str | None
) -> tuple[Shap, str]:
    """What the features add in a model as engines hold it, and by which method."""
    others = X if background is None else background
    try:
        model = ranker.portable()
    except InputError as error:
        raise InputError(f"{type(ranker).__name__} cannot be explained: {error}") from None
    if isinstance(model, Forest):
        kind = chosen(method, ("path", "interventional"))
        if kind == "path":
            known = trained_covers(model) if background is None else None
            return path_dependent(model, X, leaf_covers(model, others) if known is None else known), kind
        return interventional(model, X, spread_out(others)), kind
    if isinstance(model, WeightedSum):
        return of_sum(model.coef, model.start, X, others), chosen(method, ("linear",))
    if isinstance(model, Layers):
        h, gradient, start = model.gradient(X)
        return Shap(h * gradient, start), chosen(method, ("gradient",))
    raise InputError(f"a {type(model).__name__} cannot be explained")


def trained_covers(model: object) -> Values | None:
    """How many training documents lie in each leaf, or (of XGBoost's, CatBoost's models) what they weigh.

    None where nobody kept it, or the model is no forest.
    """
    if not isinstance(model, Forest):
        return None
    known = model.leaf_weight if model.leaf_count is None else model.leaf_count
    if known is None or not model.n_trees or not np.add.reduceat(known, model.leaf_ptr[:-1]).all():
        return None
    return known.astype(np.float64)


def counts_training(ranker: Ranker, method: str | None) -> bool:
    """Whether `explain` without a background takes what the leaves know of the training documents."""
    if method not in (None, "path"):
        return False
    try:
        return trained_covers(ranker.portable()) is not None
    except InputError:
        return False


def of_sum(coef: Values, start: float, X: Features, background: Features) -> Shap:
    """What the features add in a weighted sum, undefined values being 0."""
    mean = np.nan_to_num(background).mean(axis=0, dtype=np.float64)
    return Shap((np.nan_to_num(X) - mean) * coef, start + float(mean @ coef))


def chosen(method: str | None, known: tuple[str, ...]) -> str:
    """The method that was asked for, among those for the model; the first if none was."""
    if method is not None and method not in known:
        raise UnknownNameError("method for this model", method, known)
    return method or known[0]


def spread_out(background: Features) -> Features:
    """At most `MOST_BACKGROUND` documents, evenly from all."""
    if len(background) <= MOST_BACKGROUND:
        return background
    rows = np.linspace(0, len(background) - 1, MOST_BACKGROUND).round().astype(int)
    some: Features = np.ascontiguousarray(background[rows])
    return some
