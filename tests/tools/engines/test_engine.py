import numpy as np
import pytest

from pomona.errors import InputError, UnknownNameError
from pomona.tools.engines.engine import Served, engine_named, place_of
from pomona.trees.forest import Forest


def test_names_and_versions():
    assert engine_named("solr-9.1").version == (9, 1)
    assert engine_named("elastic").version == (9, 1)
    with pytest.raises(UnknownNameError, match="did you mean 'opensearch'"):
        engine_named("opensearc-3.5")
    with pytest.raises(InputError, match="no feature 'x'"):
        place_of(["a"], "x")


def test_what_a_document_lacks():
    stump = Forest([0], [0.5], [False], [~0], [~1], [1], [0, 1], [1.0, 2.0], [0, 2], n_features=1)
    X = np.array([[np.nan], [0.0], [1.0]], np.float32)
    assert Served(stump, "undefined").score(X).tolist() == [2.0, 1.0, 2.0]
    assert Served(stump, "zero").score(X).tolist() == [1.0, 1.0, 2.0]
    assert Served(stump, "undefined", compensated=True).score(X).tolist() == [2.0, 1.0, 2.0]
