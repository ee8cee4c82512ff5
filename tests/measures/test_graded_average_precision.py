import itertools

import numpy as np
import pytest

from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.graded_average_precision import GradedAveragePrecision
from pomona.measures.parse import measure
from reference.measures import average_precision, graded_average_precision


def test_by_hand():
    # Thresholds 0.2 for label 1 and 0.8 for label 2; ranks 1, 2 and 3 hold labels 1, 0 and 2.
    value = (0.2 + (0.2 + 1.0) / 3) / (0.2 + 1.0)
    assert measure("gap(thresholds=0.2/0.8)").of_query([1, 0, 2]) == pytest.approx(value)
    assert measure("gap(thresholds=2/8)").of_query([1, 0, 2]) == pytest.approx(value)


@pytest.mark.parametrize("k", [None, 1, 2, 4])
@pytest.mark.parametrize("thresholds", [None, (0.5, 0.3, 0.2), (0.0, 1.0, 0.0)])
def test_all_short_lists(k, thresholds):
    one = GradedAveragePrecision(k=k, thresholds=thresholds)
    for labels in itertools.product(range(4), repeat=4):
        expected = graded_average_precision(labels, k, thresholds or (1, 1, 1))
        assert one.of_query(labels) == pytest.approx(expected)


def test_swaps_are_those_of_judging_every_swap():
    random = np.random.default_rng(0)
    for k in (None, 1, 5):
        one = GradedAveragePrecision(k=k, thresholds=(0.1, 0.2, 0.3, 0.4))
        for _ in range(10):
            labels = random.integers(0, 5, 12)
            assert one.swap_deltas(labels) == pytest.approx(Measure.swap_deltas(one, labels), abs=1e-13)


def test_one_grade_is_average_precision():
    for labels in itertools.product(range(2), repeat=6):
        assert GradedAveragePrecision().of_query(labels) == pytest.approx(average_precision(labels))


def test_queries_without_relevant_documents():
    assert GradedAveragePrecision().of_query([0, 0]) == 0.0
    assert GradedAveragePrecision(empty=1.0).of_query([0, -1]) == 1.0
    # Nobody wants label 1 or above, so a list of 1s has nothing to find.
    assert measure("gap(thresholds=0/1)").of_query([1, 1]) == 0.0


def test_refusals():
    with pytest.raises(InputError, match="label 3 has no threshold"):
        measure("gap(thresholds=0.5/0.5)").of_query([3])
    with pytest.raises(InputError, match="not an integer"):
        measure("gap").of_query([0.5])
    for thresholds in ((0.0, 0.0), (-1.0, 2.0), (float("nan"),)):
        with pytest.raises(InputError, match="thresholds must be"):
            GradedAveragePrecision(thresholds=thresholds)
