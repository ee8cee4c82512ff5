"""Which features are categories, and whether trees can split on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pomona.data.categories import Categories
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.rankers.forests.training.feature_groups import places_of
from pomona.trees.category_split import MOST_CATEGORY

_FEW_DOCS = 100  # of which nobody can tell whether categories repeat


def categorical_places(
    named: Categories, asked: Sequence[int | str] | None, feature_names: Sequence[str]
) -> list[int]:
    """The places of features that are categories: those with names, and those asked for.

    >>> categorical_places({2: ("blog", "news")}, ["site"], ["site", "bm25", "genre"])
    [0, 2]
    """
    (given,) = places_of([asked or ()], feature_names) or ((),)
    return sorted({*named, *given})


def check_categories(train: Dataset, places: Sequence[int], monotone: Sequence[int] | None) -> None:
    """Refuse values that are no categories or teach nothing, and scores that should rise with them."""
    for place in places:
        name, values = train.feature_names[place], train.X[:, place]
        if monotone is not None and monotone[place]:
            raise InputError(f"feature {name!r} is a category, which has no order: leave its monotone 0")
        known = values[~np.isnan(values)]
        is_whole = (known >= 0) & (known < MOST_CATEGORY) & (known == np.floor(known))
        if not is_whole.all():
            raise InputError(
                f"feature {name!r} is categorical and holds {known[~is_whole][0]:g}, expected whole numbers "
                f"from 0 to {MOST_CATEGORY - 1}: give its values as texts, in a frame"
            )
        n_categories = len(np.unique(known))
        if train.n_docs >= _FEW_DOCS and 2 * n_categories > train.n_docs:
            raise InputError(
                f"feature {name!r} holds {n_categories} categories in {train.n_docs} documents, which hardly "
                "repeat: leave it out"
            )
