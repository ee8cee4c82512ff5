"""Kernels by themselves: numbers bit for bit, and ranges cut anywhere."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pomona.data import _letor_kernels as kernels

NUMBER, UNSURE = kernels._NUMBER, kernels._UNSURE


def padded(text: bytes) -> tuple[np.ndarray, np.ndarray]:
    array = np.frombuffer(text + b"\n" * kernels.PADDING, np.uint8)
    return array, np.ndarray((array.size - 7,), np.uint64, array, strides=(1,))


def bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def check(text: str) -> int:
    """The value must be float32(float(text)), unless the kernel says that it does not know.

    A finite number that float32 cannot hold must be refused.
    """
    array, words = padded(f"1:{text}".encode())
    X, unsure = np.zeros((1, 1), np.float32), np.zeros(1, np.bool_)
    places = np.zeros(1, np.int64), np.zeros(0, np.int64)
    found = kernels.read_features(
        0, 1, array, words, *places, np.float32(0), True, X, np.zeros(1, np.int64), unsure
    )
    end, value, status = kernels._read_number(array, np.uint64(2))
    assert int(end) == len(text) + 2
    with np.errstate(over="ignore"):
        expected = bits(np.float32(float(text)))
    if not unsure[0] and expected & 0x7FFFFFFF == bits(np.inf) and "n" not in text.lower():
        assert (found[1], status) == (kernels.TOO_LARGE, kernels._INFINITE)
        return NUMBER
    assert found[1] == kernels.FINE
    assert status in (NUMBER, UNSURE)
    if not unsure[0]:
        assert bits(X[0, 0]) == expected, text
    if status == NUMBER:
        assert bits(value) == expected, text
    return UNSURE if unsure[0] else NUMBER


@given(
    st.floats().map(repr) | st.floats(width=32).map(lambda x: f"{x:.9g}") | st.floats().map("{:.6f}".format)
)
def test_floats(text: str) -> None:
    check(text)


@given(st.from_regex(r"[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?", fullmatch=True))
@example("0" * 400 + "." + "0" * 400 + "1e400")
@example("1e0000000000000000000000000000000000000005")
@example("1e99999999999999999999999")
@example("-0e99999999999999999999999")
@example("9007199254740993")
@example("9007199254740992.5")
@example("18446744073709551616")
@example("99999999999999999999e-65")
@example("9999999999999999999e-66")
@example("1e39")
@example("3.4028235677973366e38")
@example("3.4028235677973362e38")
@example("7.006492321624085e-46")
@example("7.0064923216240861e-46")
def test_decimals(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "word", ["nan", "NaN", "-nan", "+NAN", "inf", "-INF", "Infinity", "+infinity", "-iNfInItY"]
)
def test_words(word: str) -> None:
    assert check(word) == NUMBER


@given(st.integers(0, 0x7F7FFFFE), st.integers(9, 40), st.sampled_from([-1, 0, 1]))
def test_next_to_the_middle_of_two_floats(pattern: int, digits: int, side: int) -> None:
    """Where rounding is decided: the kernel must be right, or say that it does not know."""
    low, high = np.array([pattern, pattern + 1], np.uint32).view(np.float32).astype(np.float64)
    with localcontext() as context:
        context.prec = 200
        middle = (Decimal(float(low)) + Decimal(float(high))) / 2
        check(f"{middle * (1 + side * Decimal(10) ** -digits):e}")
        check(f"{middle:f}")


def test_common_numbers_are_never_unsure() -> None:
    random = np.random.default_rng(5)
    for _ in range(2000):
        text = f"{random.standard_normal() * 10.0 ** random.integers(-6, 9):.{random.integers(0, 7)}f}"
        assert check(text) == NUMBER


@given(st.integers(0, 0xFFFFFFFF))
@example(0x00000001)
@example(0x007FFFFF)
@example(0x00800000)
@example(0x7F7FFFFF)
@example(0x80000000)
def test_written_numbers_read_back(pattern: int) -> None:
    value = np.array([pattern], np.uint32).view(np.float32)[0]
    out = np.zeros(40, np.uint8)
    length = kernels._write_number(value, out, 0)
    text = out[:length].tobytes().decode()
    assert length <= 16
    if np.isnan(value):
        assert text == "nan"
        return
    assert bits(np.float32(float(text))) == pattern
    digits = text.lstrip("-").split("e")[0].replace(".", "").strip("0")
    if abs(value) >= 1e9 or value != np.floor(value):
        shortest = np.format_float_scientific(value, unique=True).lstrip("-").split("e")[0]
        assert len(digits) <= len(shortest.replace(".", "").strip("0"))


TEXT = b"""0 qid:1 1:1 # a
# comment

2 qid:1 2:0.5 1:3
 1 qid:x 7:1
\t0.25\tqid:-3
1 qid:20 1:1 # 99:1
"""


@given(st.lists(st.integers(1, len(TEXT) - 1), max_size=6).map(sorted))
def test_lines_belong_to_the_range_in_which_they_start(cuts: list[int]) -> None:
    text, words = padded(TEXT)
    whole = kernels.index_lines(0, len(TEXT), text, words, True)
    bounds = [0, *cuts, len(TEXT)]
    parts = [kernels.index_lines(a, b, text, words, True) for a, b in pairwise(bounds) if a < b]
    for field in range(4):
        assert np.array_equal(np.concatenate([part[field] for part in parts]), whole[field])
    assert all(part[4] for part in parts) == whole[4]
    assert [whole[0].tolist(), whole[1].tolist()[::2]] == [[0, 2, 1, 0.25, 1], [1, 0, 20]]
    assert whole[5] == 7


def test_a_line_longer_than_many_ranges_is_found_once() -> None:
    text, words = padded(b"1 qid:1 " + b"1" * 1000 + b":1\n0 qid:2 3:1")
    sizes = [len(kernels.index_lines(a, a + 10, text, words, True)[0]) for a in range(0, 1020, 10)]
    assert sum(sizes) == 2
    assert sizes[0] == 1


def test_reading_a_range_of_lines_touches_only_their_rows() -> None:
    text, words = padded(b"1 qid:1 1:1 2:2\n1 qid:1 2:4\n1 qid:1 1:5 2:6\n")
    features_at = kernels.index_lines(0, text.size - kernels.PADDING, text, words, True)[3]
    X, hash_at, unsure = np.full((3, 2), -7, np.float32), np.full(3, -7), np.zeros(3, np.bool_)
    rows = np.array([2, 0, 1])
    found = kernels.read_features(
        1, 2, text, words, features_at, rows, np.float32(9), False, X, hash_at, unsure
    )
    assert X.tolist() == [[9, 4], [-7, -7], [-7, -7]]
    assert hash_at.tolist() == [-7, -1, -7]
    assert found[1:] == (kernels.FINE, 2, 0, 1)
