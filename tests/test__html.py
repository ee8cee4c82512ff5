"""What notebooks show of datasets, evaluations and rankers."""

from xml.etree import ElementTree

import pytest

import pomona as pm
from pomona._html import html_table

DATA = pm.Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], [7, 5, 7])


def cells(html):
    table = ElementTree.fromstring(html)
    return [[cell.text for cell in row] for row in table.iter("tr")]


def test_texts_are_escaped():
    html = html_table(["<b>"], [["a & b"]], "n < 3")
    assert cells(html) == [["<b>"], ["a & b"]]
    assert ElementTree.fromstring(html).findtext("caption") == "n < 3"


def test_a_dataset_is_its_row_of_the_dataset_table():
    row = DATA.describe().row()
    assert cells(DATA._repr_html_()) == [list(row), list(row.values())]
    assert row["Queries"] == "2"


def test_an_evaluation_is_a_table_of_means():
    found = pm.evaluate(DATA, [3, 2, 1], ["p@1", "ap"], per_query=True)
    assert cells(found._repr_html_())[1:] == [["p@1", "0.5000", "0", "0"], ["ap", "0.7500", "0", "0"]]


@pytest.mark.parametrize("ranker", [pm.LambdaMART(n_trees=2), pm.LinearRegression().fit(DATA)])
def test_a_ranker_is_drawn_by_scikit_learn(ranker):
    shown = ranker._repr_mimebundle_()  # a warning would be an error
    assert type(ranker).__name__ in shown["text/html"]
    assert ("<span>Fitted</span>" in shown["text/html"]) == hasattr(ranker, "n_features_in_")
