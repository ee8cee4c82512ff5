import math

import pytest

from pomona.report.digits import count, fixed, microseconds, p_value, seconds, signed, significant


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5000"),
        (0.99996, "1.0000"),
        (-0.25, "−0.2500"),
        (-0.00001, "0.0000"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_fixed_digits_align_and_have_no_negative_zero(value, text):
    assert fixed(value) == text


def test_differences_have_a_sign_unless_they_are_zero():
    assert [signed(x) for x in (0.1, -0.1, 0.00004, 0.0, None)] == [
        "+0.1000",
        "−0.1000",
        "0.0000",
        "0.0000",
        "–",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.996, "10.00"),
        (999.6, "1000"),
        (0.0123, "0.012"),
        (0.0004, "< 0.001"),
        (-3.14159, "−3.14"),
        (None, "–"),
    ],
)
def test_three_significant_digits(value, text):
    assert significant(value) == text


def test_a_p_value_is_never_zero():
    assert [p_value(p) for p in (0.0, 0.0009, 0.001, 0.9996, None)] == [
        "< 0.001",
        "< 0.001",
        "0.001",
        "1.000",
        "–",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9996, "1.0 s"),
        (9.96, "10 s"),
        (99.6, "1 min 40 s"),
        (3599.7, "1 h 0 min"),
        (0.0, "0 ms"),
        (61, "61 s"),
    ],
)
def test_durations_at_the_edges_of_their_units(value, text):
    assert seconds(value) == text


def test_microseconds_become_milliseconds():
    assert [microseconds(x) for x in (0.0412, 99.4, 250.0, 1500.0)] == [
        "0.041 µs",
        "99 µs",
        "250 µs",
        "1.5 ms",
    ]


def test_counts_have_no_decimals():
    assert [count(value) for value in (0, 12, 3.0, 2_000_000)] == ["0", "12", "3", "2000000"]
