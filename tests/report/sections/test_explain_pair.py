import pytest

import pomona as pm
from pomona.report.sections.explain_pair import (
    ExplainPairSection,
    difference_bars,
    difference_table,
    in_words,
)
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(20, docs_per_query=6, n_features=20, seed=2)
    ranker = pm.LambdaMART(n_trees=20, n_leaves=7, min_docs=3).fit(data)
    return pm.explain(ranker, data, data.qids[0])


def test_the_bars_add_up_to_the_difference(found):
    _, (drawn, *_) = spec_of(difference_bars(found))
    apart = found.row(found.a)["score"] - found.row(found.b)["score"]
    assert sum(row["difference"] for row in drawn) == pytest.approx(apart, abs=1e-4)
    assert len(drawn) <= 16


def test_the_words_and_the_table(found):
    words, _, numbers = ExplainPairSection().overall(found)
    assert f"{found.a} (rank 1) is above {found.b} (rank 2)" in words.text
    assert "exact" in words.text
    rows = difference_table(found).rows
    assert sum(row.cells[6].value == "yes" for row in rows) == len(found.carriers)
    assert numbers.table.name == "difference"


def test_values_in_words():
    assert [in_words(value) for value in (0.123456, float("nan"), None, "news")] == [
        *("0.1235", "undefined"),
        *("undefined", "news"),
    ]
