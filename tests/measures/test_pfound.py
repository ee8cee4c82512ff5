import pytest

from pomona.errors import InputError
from pomona.measures.parse import measure
from pomona.measures.pfound import PFound


def test_by_hand():
    assert PFound().of_query([4, 3]) == pytest.approx(0.61 + 0.85 * 0.39 * 0.41)
    assert PFound(p_break=0.5, p_relevant=(0.0, 1.0)).of_query([0, 1, 1]) == pytest.approx(0.5)
    assert measure("pfound(p_relevant=0/1,p_break=0.5)").of_query([0, 1]) == pytest.approx(0.5)


def test_refusals():
    with pytest.raises(InputError, match="label 5 has no probability"):
        PFound().of_query([5])
    with pytest.raises(InputError, match="p_relevant must be"):
        PFound(p_relevant=(0.0, -1.0))
    with pytest.raises(InputError, match="not an integer"):
        PFound().of_query([0.5])
