import json

import numpy as np

from pomona.trees.formats.solr import Solr


def value(node, x, names):
    """As Solr's trees: x ≤ threshold goes left."""
    while "value" not in node:
        goes_left = x[names.index(node["feature"])] <= np.float32(node["threshold"])
        node = node["left" if goes_left else "right"]
    return float(node["value"])


def test_a_plain_reader_gives_the_same_scores(forest, names, defined_rows):
    model = json.loads(Solr().write(forest, names))
    assert model["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    assert [feature["name"] for feature in model["features"]] == names
    trees = model["params"]["trees"]
    found = [sum(value(t["root"], x, names) * float(t["weight"]) for t in trees) for x in defined_rows]
    np.testing.assert_allclose(found, forest.score(defined_rows), rtol=0, atol=1e-12)
