import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.formats.vespa import Vespa
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


def test_names_that_are_no_rank_features_are_refused(forests):
    with pytest.raises(InputError, match="'a b' is no rank feature"):
        Vespa().content(forests["deep"], ["a b", *NAMES[1:]])
