import polars as pl
import pytest

from pomona.report.sections.learning import N_POINTS, LearningSection, learning_curves
from report.drawn import panels_of, spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_learning_curves_of_those_that_learn_in_steps():
    _, (rows, _) = spec_of(learning_curves(invented(n_iterations=1000), DATA))
    assert panels_of(rows, "ranker") == ["LambdaMART", "LambdaMART yahoo", "MART", "Random forest"]
    curve = [row for row in rows if (row["ranker"], row["series"]) == ("MART", "validation queries")]
    assert len(curve) == N_POINTS
    assert (curve[0]["iteration"], curve[-1]["iteration"]) == (1, 1000)


def test_a_single_run_has_a_curve_without_band(findings):
    alone = findings.learning.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    _, (rows, _) = spec_of(learning_curves(changed(findings, learning=alone), DATA))
    assert all(row["low"] == row["mean"] == row["high"] for row in rows)
    assert learning_curves(changed(findings, learning=findings.learning.clear()), DATA) is None
    _, said = LearningSection().of_dataset(changed(findings, learning=findings.learning.clear()), DATA)
    assert said.text == "<p>No ranker here learns in iterations.</p>"
