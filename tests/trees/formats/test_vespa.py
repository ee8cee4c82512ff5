import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.formats.vespa import Vespa, is_packed
from reference import forest as plain
from reference.engine import as_rows, vespa_score

NAMES = [
    "attribute(price)",
    "bm25(title)",
    "fieldMatch(title).proximity",
    "age",
    "freshness(t).logscale",
    "query(x)",
]


def test_vespa_gives_the_same_scores(forest, rows):
    found = vespa_score(Vespa().content(forest, NAMES), as_rows(rows, NAMES))
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-12)


def test_infinite_values_go_where_they_went(forest, infinite_rows):
    found = vespa_score(Vespa().content(forest, NAMES), as_rows(infinite_rows, NAMES))
    np.testing.assert_allclose(found, forest.score(infinite_rows), rtol=0, atol=1e-12)


def test_names_that_are_no_rank_features_are_refused(forests):
    with pytest.raises(InputError, match="'a b' is no rank feature"):
        Vespa().content(forests["deep"], ["a b", *NAMES[1:]])


def test_what_is_packed():
    random = np.random.default_rng(2)
    forest = Forest(
        **plain.plant(random, [plain.oblivious_tree(random, 4, 3, np.arange(9.0))] * 625, np.arange(9.0)),
        n_features=3,
    )  # 625 · 4 steps
    assert not is_packed(forest)
    assert is_packed(forest.extended(forest.head(1)))
    assert not is_packed(Forest.empty(3))
