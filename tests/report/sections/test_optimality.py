from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.report.sections.optimality import (
    OptimalitySection,
    change_by_step,
    optimality_table,
    step_table,
)
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(10, docs_per_query=10, n_features=4, seed=1)
    return pm.local_optimality(pm.LinearRegression().fit(data), data, "ndcg@3", n_directions=20)


def test_a_spread_for_each_step_and_the_limits(found):
    _, (spread, *_, limits, _) = spec_of(change_by_step(found))
    assert [row["step"] for row in spread] == list(found.steps)
    assert all(row["lowest"] <= row["median"] <= row["highest"] for row in spread)
    assert [row["limit"] for row in limits] == [0.0, 0.003]


def test_the_words_tell_what_was_done(found):
    parts = list(OptimalitySection().of_dataset({"d": {"ndcg@3": found}}, "d"))
    assert "200 points around the 4 weights" in parts[1].text
    assert "scaled to ‖w‖ = 1" in parts[1].text
    assert ("Not ε-optimal" in parts[1].text) == (found.n_clearly_better > 0)


def test_tables(found):
    (row,) = optimality_table([found]).rows
    assert [cell.value for cell in row.cells[:4]] == ["ndcg@3", found.value, 200, found.n_better]
    assert len(step_table(found).rows) == 10


def test_nothing_is_drawn_before_the_first_direction(found):
    before = replace(found, values=np.empty((0, 10)))
    assert change_by_step(before) is None
    assert before.row()["highest"] is None
