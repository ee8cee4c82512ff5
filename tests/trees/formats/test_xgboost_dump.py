import json
from dataclasses import replace

import numpy as np
import pytest
import xgboost

from pomona.errors import InputError
from pomona.trees.formats.xgboost import XGBoost
from pomona.trees.formats.xgboost_dump import XGBoostDump


def value(node, x, names):
    while "leaf" not in node:
        at = x[names.index(node["split"])]
        way = "missing" if np.isnan(at) else "yes" if at < np.float32(node["split_condition"]) else "no"
        (node,) = (child for child in node["children"] if child["nodeid"] == node[way])
    return node["leaf"]


def test_a_plain_reader_gives_the_same_scores(forest, names, rows):
    trees = json.loads(XGBoostDump().write(forest, names))
    found = [sum(value(tree, x, names) for tree in trees) for x in rows]
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-12)


def test_infinite_values_go_where_they_went(forest, names, infinite_rows):
    trees = json.loads(XGBoostDump().write(forest, names), parse_constant=pytest.fail)
    found = [sum(value(tree, x, names) for tree in trees) for x in infinite_rows]
    np.testing.assert_allclose(found, forest.score(infinite_rows), rtol=0, atol=1e-12)


def test_what_no_number_of_json_can_say_is_refused(forests, names):
    """x <= 3.4e38 sends infinity right and all else left: as x < t that takes an infinite t."""
    most = np.finfo(np.float32).max
    with pytest.raises(InputError, match="parts infinity"):
        XGBoostDump().write(replace(forests["limit 0.1"], threshold=[most]), names)
    with pytest.raises(InputError, match="one name"):
        XGBoostDump().write(forests["deep"], ["a"] * 6)


def test_it_is_what_xgboost_dumps(forests, names):
    booster = xgboost.Booster()
    forest = forests["deep"]  # of infinite thresholds XGBoost's own dump is no JSON
    booster.load_model(bytearray(XGBoost().write(forest, names).encode()))

    def told(node):
        if "leaf" in node:
            return pytest.approx(node["leaf"], rel=1e-6)
        ways = [node["yes"], node["no"], node["missing"]]
        children = {child["nodeid"]: child for child in node["children"]}
        condition = pytest.approx(node["split_condition"], rel=1e-6)
        return node["split"], condition, ways.index(ways[2]), told(children[ways[0]]), told(children[ways[1]])

    dumped = [json.loads(tree) for tree in booster.get_dump(dump_format="json")]
    ours = json.loads(XGBoostDump().write(forest, names))
    assert [told(tree) for tree in ours] == [told(tree) for tree in dumped]


def test_names_that_readers_take_for_places_are_told():
    assert XGBoostDump().name_notes(["f0", "bm25", "f2", "f02x"]) == []
    (note,) = XGBoostDump().name_notes(["bm25", "f0"])
    assert "'f0' may be taken for another than the one at place 1" in note
