import xml.etree.ElementTree as ElementTree

import numpy as np

from pomona.trees.formats.ranklib import RankLib


def value(split, x):
    """As RankLib's trees: features count from 1, and x ≤ threshold goes left."""
    while (output := split.find("output")) is None:
        goes_left = x[int(split.find("feature").text) - 1] <= np.float32(split.find("threshold").text)
        split = split.find(f"split[@pos='{'left' if goes_left else 'right'}']")
    return float(output.text)


def test_a_plain_reader_gives_the_same_scores(forest, names, defined_rows):
    text = RankLib().write(forest, names)
    head, _, ensemble = text.partition("\n\n")
    assert head.splitlines()[0] == "## LambdaMART"
    trees = list(ElementTree.fromstring(ensemble))
    assert [tree.get("id") for tree in trees] == [str(number + 1) for number in range(len(trees))]
    found = [sum(value(t.find("split"), x) * float(t.get("weight")) for t in trees) for x in defined_rows]
    np.testing.assert_allclose(found, forest.score(defined_rows), rtol=0, atol=1e-12)


def test_infinite_values_go_where_they_went(forest, names, infinite_rows):
    """Java reads `Infinity`, as NumPy does; NaN is 0 there."""
    X = np.where(np.isnan(infinite_rows), np.float32(0), infinite_rows)
    trees = ElementTree.fromstring(RankLib().write(forest, names).partition("\n\n")[2])
    found = [sum(value(tree.find("split"), x) for tree in trees) for x in X]
    np.testing.assert_allclose(found, forest.score(X), rtol=0, atol=1e-12)
