"""Gains, and the tool's sort of them."""

import ctypes
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.tools.trec_eval.gain import Level, _as_c_int, _merge_sorted, gain_by_label, gains_of, levels_of
from pomona.tools.trec_eval.ranking import Options, Ranking


def ranking(labels, levels):
    return Ranking(np.array(labels), np.array(levels), sum(levels[1:]), Options())


# Ranked 0, 2, 1 and a document without a judgment; another document with label 2 was not retrieved.
WORKED = ranking([0, 2, 1, -1], [1, 1, 2])


def test_labels_are_gains():
    gains = gains_of(WORKED)
    assert gains.gains.tolist() == [0, 2, 1, 0]
    assert gains.ideal.tolist() == [2, 2, 1]
    assert gains.dcg.tolist() == [0, 0, 2 / math.log2(3), 2 / math.log2(3) + 1 / 2, 2 / math.log2(3) + 1 / 2]
    assert gains.ideal_dcg.tolist() == [0, 2, 2 + 2 / math.log2(3), 2 + 2 / math.log2(3) + 1 / 2]


def test_given_gains():
    gains = gains_of(WORKED, ((2, 7.0), (-1, 5.0)))
    assert gains.gains.tolist() == [0, 7, 1, 5]  # also a document without a judgment can be given a gain
    assert gains.ideal.tolist() == [7, 7, 1]


def test_the_best_list_ends_at_the_first_gain_that_is_not_above_0():
    # 0.9 and 0 are less than 1 apart, so that the sort leaves 0 above 0.9.
    assert gains_of(WORKED, ((1, 0.9), (2, 0.5))).ideal.tolist() == []
    assert gains_of(WORKED, ((0, 3.0), (1, -1.0))).ideal.tolist() == [3, 2, 2]
    assert gains_of(WORKED, ((1, -1.0), (2, -2.0))).ideal.tolist() == []


def test_of_a_label_given_twice_the_documents_count_once():
    pairs = ((2, 9.0), (2, 5.0))
    assert gain_by_label(levels_of(WORKED, pairs)) == {0: 0.0, 1: 1.0, 2: 5.0}  # the first in the sort
    assert gains_of(WORKED, pairs).ideal.tolist() == [9, 9, 1]  # the first in the command


def test_a_double_as_a_c_int():
    assert [_as_c_int(x) for x in (0.9, -0.9, 1.5, -2.7, 3e9, -3e9)] == [0, 0, 1, -2, -(2**31), -(2**31)]


class _Entry(ctypes.Structure):
    _fields_ = (("label", ctypes.c_long), ("count", ctypes.c_long), ("gain", ctypes.c_double))


_COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Entry), ctypes.POINTER(_Entry))


def _glibc():
    library = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
    return library if hasattr(library, "gnu_get_libc_version") else None


@pytest.mark.skipif(_glibc() is None, reason="needs the C library whose qsort is a merge sort: glibc")
@given(st.lists(st.floats(-3, 3).map(lambda x: round(x, 1)), min_size=1, max_size=20))
def test_the_sort_is_the_c_library_s(gains):
    entries = (_Entry * len(gains))(*[(label, 0, gain) for label, gain in enumerate(gains)])
    compare = _COMPARE(lambda a, b: _as_c_int(a[0].gain - b[0].gain))
    _glibc().qsort(entries, len(gains), ctypes.sizeof(_Entry), compare)
    ours = _merge_sorted([Level(label, gain, True) for label, gain in enumerate(gains)])
    assert [level.label for level in ours] == [entry.label for entry in entries]
