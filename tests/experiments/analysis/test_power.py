import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.stats.effect import smallest_detectable


def test_a_pilot():
    random = np.random.default_rng(1)
    old = random.random(80)
    new = old + 0.02 + 0.1 * random.standard_normal(80)
    found = pm.power(new, old, difference=0.03)
    sd = (new - old).std(ddof=1)
    assert found.sd == pytest.approx(sd)
    assert found.detectable == pytest.approx(smallest_detectable(80, sd))
    needed = (
        pytest.importorskip("statsmodels.stats.power")
        .TTestPower()
        .solve_power(0.03 / sd, power=0.8, alpha=0.05)
    )
    assert found.needed == int(np.ceil(needed))
    row = found.curve.filter(n_queries=found.needed).row(0, named=True)
    assert row["power"] >= 0.8
    assert row["simulated"] == pytest.approx(row["power"], abs=0.05)
    assert 80 in found.curve["n_queries"].to_list()
    assert f"{found.needed} queries show a difference of 0.0300" in found.answer


def test_the_pilots_own_difference():
    d = np.array([0.3, -0.1, 0.2, 0.0, 0.1])
    assert pm.power(d).difference == pytest.approx(0.1)
    assert pm.power(d - d.mean()).needed is None


def test_refused():
    with pytest.raises(InputError, match="expected the same queries"):
        pm.power([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="a pilot of 1 query"):
        pm.power([1])
    with pytest.raises(InputError, match="without any spread"):
        pm.power([1, 1, 1])
