"""McRank (Li, Burges & Wu 2007): labels as classes, ranked by their expected value.

Boosted trees estimate the probability of each label; the score is Σ_k P(label = k) · T(k), T the label itself
(any increasing T does; the paper found k as good as 2^k − 1). `multinomial` boosts one forest for each label,
`ordinal` one for each step between neighbouring labels, which the paper found at least as good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.conventions import gains_of
from pomona.objectives import multinomial, ordinal
from pomona.objectives.multinomial import MultinomialObjective
from pomona.objectives.ordinal import OrdinalObjective
from pomona.rankers.forests.forest_ranker import BoostedForest
from pomona.rankers.learnt import Array

_EXPECTED = {"multinomial": multinomial.expected_value, "ordinal": ordinal.expected_value}


class McRank(BoostedForest):
    """McRank: boosted classification of labels, ranked by the expected label.

    Parameters
    ----------
    kind : `ordinal` or `multinomial`.
    target : what is expected of a document, and so its score: the `label` itself, or its `gain` 2^label − 1.

    The others are those of every `BoostedForest`; `n_trees` counts rounds, of a tree for each class.

    Departures
    ----------
    - Splits are chosen by second-order gain, not by the squared error of the residuals; leaf values are the
      paper's.
    - Second derivatives are held off 0, lest a rare label give endless leaf values.
    - The best round by the measure of the validation queries is kept.
    """

    name = "mcrank"
    family = "point-wise"
    optimizes = "surrogate"
    paper = "Li, Burges & Wu, NIPS 2007"
    starts_from_scores = False  # it has several for each document
    trains_on_clusters = False  # every worker would have to know the labels of all
    learnt_attributes = {"levels_": Array("n_levels")}

    kind: Literal["ordinal", "multinomial"] = "ordinal"
    target: Literal["label", "gain"] = "label"

    def make_objective(
        self, train: Dataset, weights: Values | None
    ) -> MultinomialObjective | OrdinalObjective:
        return (OrdinalObjective if self.kind == "ordinal" else MultinomialObjective)(
            train.y, weights=weights
        )

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        objective = self.make_objective(train, weights)
        if self._goes_on and not np.array_equal(self.levels_, objective.levels):
            raise InputError("the model to go on from knows other labels than the data have")
        self.levels_: Values = objective.levels
        self._boost(train, valid, objective, self._config(train))

    def combine_outputs(self, outputs: Values) -> Scores:
        values = self.levels_ if self.target == "label" else gains_of(self.levels_, "exp2")
        return _EXPECTED[self.kind](outputs, values)

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        n_outputs = {"ordinal": len(self.levels_) - 1, "multinomial": len(self.levels_)}[self.kind]
        if len(self.models_) != n_outputs:
            raise ValueError(f"{len(self.models_)} forests for {len(self.levels_)} labels")
