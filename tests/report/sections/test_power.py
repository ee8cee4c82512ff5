import pytest

import pomona as pm
from pomona.report.sections.power import PowerSection, power_curve, power_table
from report.drawn import spec_of


@pytest.fixture(scope="module")
def found():
    return pm.power([0.3, -0.1, 0.2, 0.0, 0.1, -0.2, 0.3], n_simulations=50)


def test_formula_and_simulation_are_drawn(found):
    _, layers = spec_of(power_curve(found))
    drawn = layers[-1]
    assert [row["power"] for row in drawn if row["by"] == "formula"] == pytest.approx(
        found.curve["power"].to_list(), abs=1e-5
    )
    assert sum(row["by"] == "simulation" for row in drawn) == len(found.curve)


def test_words_and_table(found):
    words, _, _ = PowerSection().overall(found)
    assert "7 queries" in words.text
    assert "rough guide" in words.text
    assert len(power_table(found).rows) == len(found.curve)
