import itertools

import pytest

from pomona.report.sections.curves import cutoff_curves, cutoff_table
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_cutoff_curves_have_ten_points_a_ranker_and_labels_apart(findings):
    _, (tails, rows, _, _) = spec_of(cutoff_curves(invented(20), DATA))
    assert len(rows) == 20 * 10
    places = sorted(row["at"] for row in tails if row["k"] > 10)
    means = [row["mean"] for row in rows]
    pixel = 1.12 * (max(means) - min(means)) / 300
    assert min(after - before for before, after in itertools.pairwise(places)) > 12.9 * pixel
    assert {row["convention"] for row in rows} == {"definition"}


def test_cutoff_curves_of_nothing(findings):
    assert cutoff_curves(changed(findings, cutoffs=findings.cutoffs.clear()), DATA) is None


def test_cutoffs_have_a_row_for_every_judge(findings):
    table = cutoff_table(findings, "mq2008")
    assert [column.title for column in table.columns][2:] == [f"@{k}" for k in range(1, 11)]
    assert len(table.rows) == 6 * 3
