import pytest

from pomona.errors import InputError
from pomona.measures.parse import measure
from pomona.measures.precision import Precision


def test_by_hand():
    assert Precision(k=2).of_query([1, 0, 1]) == 1 / 2
    assert Precision().of_query([1, 0, 1]) == 2 / 3
    assert Precision(k=2, relevant=2.0).of_query([1, 2]) == 1 / 2


@pytest.mark.parametrize(
    ("convention", "value"), [("letor3", 0), ("letor4", 2 / 10), ("ranklib", 2 / 3), ("trec_eval", 2 / 10)]
)
def test_a_short_query(convention, value):
    assert measure("p@10", convention).of_query([0, 2, 1]) == pytest.approx(value)


def test_label_1_is_not_relevant_to_mslr():
    assert measure("mslr:p@2").of_query([1, 2]) == 1 / 2


def test_refusals():
    with pytest.raises(InputError):
        Precision(short="odd")
