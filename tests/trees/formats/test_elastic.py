import json

import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.formats.elastic import Elastic
from pomona.trees.formats.format import ExportOptions
from reference.engine import as_rows, elastic_score


def test_elasticsearch_gives_the_same_scores(forest, names, rows):
    found = elastic_score(Elastic().content(forest, names), as_rows(rows, names))
    np.testing.assert_allclose(found, forest.score(rows), rtol=1.2e-7, atol=1e-9)  # compensated, in float32


def test_infinite_values_go_where_undefined_ones_go(forest, names, infinite_rows):
    found = elastic_score(Elastic().content(forest, names), as_rows(infinite_rows, names))
    undefined = np.where(np.isinf(infinite_rows), np.float32(np.nan), infinite_rows)
    np.testing.assert_allclose(found, forest.score(undefined), rtol=1.2e-7, atol=1e-9)
    assert any("infinite" in note for note in Elastic().notes(forest))


def test_minus_zero_is_written_as_zero(forests, names):
    split = {
        "feature": [0],
        "threshold": [-0.0],
        "nan_left": [True],
        "left": [~0],
        "right": [~1],
        "gain": [1],
    }
    forest = type(forests["deep"])(**split, node_ptr=[0, 1], leaf_ptr=[0, 2], value=[1.0, 2.0], n_features=6)
    body = Elastic().content(forest, names)
    assert elastic_score(body, [{"f0": 0.0}, {"f0": -0.0}]) == forest.score([[0.0] * 6, [-0.0] * 6]).tolist()


def test_what_versions_ask_for(forests, names):
    old, new = (
        json.loads(Elastic(ExportOptions(engine_version=version)).content(forests["deep"], names))
        for version in ("8.14", "8.15")
    )
    assert old["input"] == {"field_names": names}
    assert "input" not in new
    extractors = new["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert [one["query_extractor"]["feature_name"] for one in extractors] == names
    with pytest.raises(InputError, match=r"from 8\.12 on"):
        Elastic(ExportOptions(engine_version="8.11")).content(forests["deep"], names)
    with pytest.raises(InputError, match="two features"):
        Elastic().content(forests["deep"], ["a"] * 6)
