import numpy as np
import pytest

from pomona.experiments.analysis.informative import informativeness
from pomona.measures.lists import RankedLists
from pomona.report.sections.informative_systems import system_points, system_table
from report.drawn import panels_of, spec_of


@pytest.fixture(scope="module")
def found():
    random = np.random.default_rng(0)
    systems = {name: RankedLists.of_labels((random.random((10, 12)) < 0.3).astype(float)) for name in "abc"}
    return informativeness({"toy": systems}, ["ap", "ndcg"])


def test_a_panel_for_each_measure_with_its_errors(found):
    _, (rows,) = spec_of(system_points(found, "toy", "value", "pc"))
    titles = panels_of(rows, "panel")
    assert [title.partition(":")[0] for title in titles] == ["AP", "NDCG"]
    assert f"RMS {found.summary['rms_to_pc'][0]:.3f}" in titles[0]
    assert len(rows) == 2 * 3


def test_a_diagonal_where_inferred_stands_against_actual(found):
    _, layers = spec_of(system_points(found, "toy", "pc", "inferred_pc"))
    ends = [row for row in layers[0] if "end" in row]
    assert len(ends) == 2 * 2
    assert all(row["x"] == row["y"] for row in ends)
    assert system_points(found, "no such data", "pc", "inferred_pc") is None


def test_the_table_has_every_system(found):
    assert len(system_table(found, "toy").rows) == 2 * 3
