import numpy as np
import pytest

import pomona as pm
from pomona.report.sections.duel_queries import DuelQueriesSection, query_table, sorted_differences
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(40, docs_per_query=8, n_features=3, seed=1)
    y, random = data.y, np.random.default_rng(0)
    scores = {name: y + spread * random.standard_normal(len(y)) for name, spread in (("old", 4), ("new", 1))}
    return pm.duel(data, scores, ["ndcg@5", "ap"])


def test_every_query_is_drawn(found):
    differences = found.differences("new", "old")["difference"].to_list()
    spec, (drawn, *_) = spec_of(sorted_differences(differences, "new", "old", "ap"))
    assert [row["difference"] for row in drawn[:-1]] == pytest.approx(differences, abs=1e-5)
    assert f"better on {sum(d > 0 for d in differences)} queries" in spec["description"]


def test_the_queries_at_both_ends(found):
    best = [row.cells[1].value for row in query_table(found, "new", "old", is_best=True).rows]
    worst = [row.cells[1].value for row in query_table(found, "new", "old", is_best=False).rows]
    assert best == sorted(best, reverse=True)
    assert worst == sorted(worst)
    assert best[0] == found.differences("new", "old")["difference"].max()
    assert all(d < 0 for d in worst)
    assert len(list(DuelQueriesSection().of_dataset(found, "new − old"))) == 3
