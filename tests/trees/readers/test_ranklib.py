import json
import math
from pathlib import Path

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.trees.readers.ranklib import RankLibModel

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "ranklib_models.json").read_text())


def score(text, X):
    read = RankLibModel().read(text)
    return (read.model.score(X) / read.divisor).tolist()


@pytest.mark.parametrize("name", sorted(set(GOLDEN) - {"documents"}))
def test_the_scores_that_ranklib_gave(name, tmp_path):
    (tmp_path / "documents.txt").write_text(GOLDEN["documents"])
    (tmp_path / "model.txt").write_text(GOLDEN[name]["model"])
    model, data = pm.load_model(tmp_path / "model.txt"), pm.read_letor(tmp_path / "documents.txt")
    found = model.predict(data.widened(max(model.n_features_in_, data.n_features)))
    np.testing.assert_allclose(found, GOLDEN[name]["scores"], rtol=1e-15 if name == "ranknet" else 0)


def test_sums_of_trees_are_float32():
    tree = '<tree id="1" weight="0.1">\n<split>\n<output> 0.3 </output>\n</split>\n</tree>\n'
    (found,) = score(f"## MART\n<ensemble>\n{tree * 2}</ensemble>\n", [[0.0]])
    one = float(np.float32(0.3)) * float(np.float32(0.1))
    assert found == float(np.float32(float(np.float32(one)) + one))


def test_order_decides_and_equality_goes_left():
    split = "<feature>2</feature><threshold>0.5</threshold><split pos='right'><output>1</output></split>"
    text = (
        f"## LambdaMART\n<ensemble><tree id='1' weight='1'><split>{split}<split pos='left'><output>2</output>"
    )
    text += "</split></split></tree></ensemble>"
    assert score(text, [[9, 0.5], [9, 0.6], [9, math.nan]]) == [1.0, 2.0, 1.0]


def test_weights_and_thresholds():
    assert score("## Coordinate Ascent\n## x\n2:0.5 1:2 2:1 # no", [[1.0, 4.0], [math.nan, 2.0]]) == [
        8.0,
        3.0,
    ]
    assert score("## Linear Regression\n1:2 0:10", [[3.0]]) == [16.0]
    assert score("## RankBoost\n1:0.5:3 1:-Infinity:1 2:1:-2", [[0.5, 1.0], [0.6, 2.0]]) == [1.0, 2.0]


def test_a_network():
    text = "## RankNet\n3 1\n1\n2\n0 0 1 2\n0 1 3 4\n0 2 5 6 7\n1 0 0.5\n1 1 -0.5\n"
    hidden = [1 / (1 + math.exp(-(3 * 1 + 1 * 3 + 5))), 1 / (1 + math.exp(-(3 * 2 + 1 * 4 + 6)))]
    expected = 1 / (1 + math.exp(-(0.5 * hidden[0] - 0.5 * hidden[1] + 7)))
    assert score(text, [[1.0, 9.0, 3.0]]) == [pytest.approx(expected, rel=1e-15)]


@pytest.mark.parametrize(
    "text",
    [
        "## AdaRank\n\n",
        "## AdaRank\n0:1",
        "## AdaRank\n1:x",
        "## AdaRank\n1:1_0",
        "## AdaRank\n1:2:3",
        "## Linear Regression\n1:2",
        "## MART\n<ensemble>",
        "## MART\n<ensemble></ensemble>",
        "## MART\n<ensemble><tree weight='1'><split><output>1</output></tree></ensemble>",
        "## MART\n<!DOCTYPE x><ensemble/>",
        "## RankBoost\n9999999999:1:1",
        "## RankNet\n1\n1\n1000000000\n",
        "## RankNet\n1 2\n0\n0 0 1\n0 1 1\n0 2 1 1\n",
        "## ListNet\n1 1\n0\n0 0 1\n0 1 1\n0 2 1\n",
    ],
)
def test_refusals(text):
    with pytest.raises((InputError, KeyError, IndexError, ValueError)):
        RankLibModel().read(text)


def test_other_texts_are_not_ranklibs():
    assert not RankLibModel().recognizes("## Something\n1:2")
    assert not RankLibModel().recognizes("1 qid:1 1:0.5")
