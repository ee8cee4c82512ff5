import json

import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.formats.elasticsearch import Elasticsearch
from pomona.trees.formats.plugin_model import absent_is_zero
from pomona.trees.formats.weighted_sum import WeightedSum
from reference.engine import as_rows, plugin_score

ODD = ["a b", 'say "x"', "größe", "tab\t", "f1", "back\\slash"]


def test_names_of_any_kind(forests, defined_rows):
    forest = forests["lambdamart"]
    found = plugin_score(Elasticsearch().content(forest, ODD), as_rows(defined_rows, ODD), ODD)
    np.testing.assert_allclose(found, forest.score(defined_rows), rtol=0, atol=1e-6)


def test_weighted_sums(names, defined_rows):
    model = WeightedSum(np.array([2, 0, 2]), np.array([0.5, -1.0, 0.25]), 6)
    body = Elasticsearch().content(model, names)
    assert json.loads(body)["model"]["model"]["definition"] == {"f0": -1.0, "f2": 0.75}
    found = plugin_score(body, as_rows(defined_rows, names), names)
    np.testing.assert_allclose(found, model.score(defined_rows), rtol=1e-6, atol=1e-6)
    shifted = WeightedSum(np.array([2]), np.array([0.5]), 6, start=1.0)
    assert "no constant" in Elasticsearch().notes(shifted)[1]


def test_refusals(forests):
    with pytest.raises(InputError, match="two features have one name"):
        Elasticsearch().content(forests["lambdamart"], ["a"] * 6)
    with pytest.raises(InputError, match="too large for float32"):
        Elasticsearch().content(forests["lambdamart"].scaled(1e300), list("abcdef"))


def test_zero_for_what_is_absent(forests):
    assert absent_is_zero(forests["no tree"], "it") == []
    assert "splits send 0 elsewhere" in absent_is_zero(forests["deep"], "it")[0]
