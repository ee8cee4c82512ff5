import pytest

from pomona.rankers.neural.training.schedule import SCHEDULES


@pytest.mark.parametrize("name", ["linear", "cosine"])
def test_falls_from_1_to_0(name):
    assert SCHEDULES[name](0.0) == 1
    assert SCHEDULES[name](0.5) == pytest.approx(0.5)
    assert SCHEDULES[name](1.0) == pytest.approx(0)


def test_constant():
    assert SCHEDULES["constant"](0.7) == 1
