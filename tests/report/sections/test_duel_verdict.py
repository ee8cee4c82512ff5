import numpy as np
import pytest

import pomona as pm
from pomona.report.sections.duel_verdict import (
    DuelVerdictSection,
    intervals,
    mean_table,
    pair_tests,
)
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    data = pm.simulate(40, docs_per_query=8, n_features=3, seed=1)
    y, random = data.y, np.random.default_rng(0)
    scores = {name: y + spread * random.standard_normal(len(y)) for name, spread in (("old", 4), ("new", 1))}
    return pm.duel(data, scores, ["ndcg@5", "ap"])


def rows(found):
    return [{**row, "name": row["measure"]} for row in found.pairs.to_dicts()]


def test_a_line_for_each_difference(found):
    _, (_, drawn, *_) = spec_of(intervals(rows(found)))
    assert [row["name"] for row in drawn] == ["ndcg@5", "ap"]
    assert all(row["low"] < row["difference"] < row["high"] for row in drawn)
    assert {row["verdict"] for row in drawn} == {"significant"}
    assert intervals([]) is None


def test_an_unknown_end_is_not_drawn(found):
    (row, *_) = rows(found)
    _, (_, drawn, *_) = spec_of(intervals([{**row, "low": float("nan")}]))
    assert drawn[0]["low"] is None


def test_the_words_and_tables(found):
    answer, figure, means, tests = DuelVerdictSection().overall(found)
    assert "new is" in answer.text
    assert "40 queries" in answer.text
    assert figure.chart is not None
    assert [len(table.rows) for table in (mean_table(found), pair_tests(found))] == [4, 2]
    assert means.table.name == "means"
    assert tests.table.rows[0].cells[0].value == "new"
