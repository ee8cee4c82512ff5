import numpy as np
import pytest

import pomona as pm
from pomona.report.sections.duel_slices import DuelSlicesSection, slice_table
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(40, docs_per_query=8, n_features=3, seed=1)
    y, random = data.y, np.random.default_rng(0)
    scores = {name: y + spread * random.standard_normal(len(y)) for name, spread in (("old", 4), ("new", 1))}
    return pm.duel(data, scores, ["ndcg@5", "ap"])


def test_a_line_for_each_group(found):
    figure, words, numbers = DuelSlicesSection().of_dataset(found, "new − old")
    _, (_, drawn, *_) = spec_of(figure.chart)
    assert len(drawn) == len(found.slices) == len(numbers.table.rows)
    assert "Kruskal" in words.text
    assert [row.cells[2].value for row in slice_table(found, "new", "old").rows] == found.slices[
        "n_queries"
    ].to_list()


def test_nothing_to_slice():
    data = pm.Dataset([[0.0]] * 4, [0, 1, 0, 1], [1, 1, 2, 2])
    alike = pm.duel(data, {"old": [1, 0, 1, 0], "new": [0, 1, 0, 1]})
    assert list(DuelSlicesSection().of_dataset(alike, "new − old")) == []
