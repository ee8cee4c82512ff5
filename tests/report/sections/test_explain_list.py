import numpy as np
import pytest

import pomona as pm
from pomona.report.sections.explain_list import ExplainListSection, contribution_grid, document_table
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(20, docs_per_query=40, n_features=20, seed=2)
    ranker = pm.LambdaMART(n_trees=20, n_leaves=7, min_docs=3).fit(data)
    return pm.explain(ranker, data, data.qids[np.argmax(np.diff(data.query_ptr))])


def test_the_first_documents_and_features_are_drawn(found):
    spec, (drawn, *_) = spec_of(contribution_grid(found))
    assert len({row["name"] for row in drawn}) <= 20
    assert len({row["feature"] for row in drawn}) <= 12
    assert "further down are not shown" in spec["description"]


def test_every_document_has_a_row(found):
    table = document_table(found)
    scores = found.documents["score"].to_list()
    assert [row.cells[1].value for row in table.rows] == [1 + sum(s > own for s in scores) for own in scores]
    assert len(list(ExplainListSection().overall(found))) == 2
