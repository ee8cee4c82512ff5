import json

import numpy as np
import pytest

from pomona.tools.engines.engine import engine_named
from pomona.trees.formats.elasticsearch import Elasticsearch
from pomona.trees.formats.format import ExportOptions
from reference.engine import as_rows, plugin_score, sum_trees


def test_the_plugin_gives_the_same_scores(forest, names, rows):
    found = plugin_score(Elasticsearch().content(forest, names), as_rows(rows, names), names)
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-5)


@pytest.mark.parametrize("raw", [False, True])
def test_infinite_values_go_where_they_went(forest, names, infinite_rows, raw):
    text = Elasticsearch(ExportOptions(raw=raw)).content(forest, names)
    json.loads(text, parse_constant=pytest.fail)
    found = engine_named("elasticsearch").read(text, names).score(infinite_rows)
    np.testing.assert_allclose(found, forest.score(infinite_rows), rtol=0, atol=1e-5)


def test_the_plugins_own_figures():
    """`XGBoostJsonParserTests`: equality goes right, undefined by its branch."""
    leaves = [{"nodeid": 1, "leaf": 0.5}, {"nodeid": 2, "leaf": 0.2}]
    ways = {"yes": 1, "no": 2, "missing": 1, "children": leaves}
    tree = {"nodeid": 0, "depth": 0, "split": "feat1", "split_condition": 0.123, **ways}
    values = [0.124, 0.122, 0.123]
    found = [float(sum_trees([tree], {"feat1": x})) for x in values]
    assert found == [float(np.float32(x)) for x in (0.2, 0.5, 0.2)]
    assert sum_trees([tree], {}) == np.float32(0.5)


@pytest.mark.parametrize(
    ("version", "notes"), [("1.5.8", 1), ("1.5.9", 0), ("8.11.3", 1), ("8.11.4", 0), (None, 0)]
)
def test_old_versions_take_zero_for_undefined(version, notes, forests):
    asked = Elasticsearch(ExportOptions(engine_version=version))
    assert sum("takes what a document lacks for 0" in note for note in asked.notes(forests["deep"])) == notes
