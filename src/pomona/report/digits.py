"""How numbers are written: enough digits to compare, none beyond what was measured."""

from __future__ import annotations

import math

MINUS = "−"
MISSING = "–"


def fixed(value: float | None, digits: int = 4) -> str:
    """A measure's value, always with the same number of digits, so that columns align.

    >>> fixed(0.48213), fixed(-0.5, 2), fixed(None)
    ('0.4821', '−0.50', '–')
    """
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:.{digits}f}"
    return text.replace("-", MINUS) if float(text) != 0 else text.removeprefix("-")


def signed(value: float | None, digits: int = 4) -> str:
    """A difference, with its sign.

    >>> signed(0.0123), signed(-0.00001)
    ('+0.0123', '0.0000')
    """
    text = fixed(value, digits)
    return f"+{text}" if text[0].isdigit() and float(text) > 0 else text


def significant(value: float | None, digits: int = 3) -> str:
    """A time or a size: three significant digits, no exponent, at most three decimals.

    >>> [significant(x) for x in (0.01234, 5.0, 123.4, 45678.0, 0.0, 0.0001)]
    ['0.012', '5.00', '123', '45700', '0', '< 0.001']
    """
    if value is None or math.isnan(value):
        return MISSING
    if value == 0:
        return "0"
    if 0 < value < 0.0005:
        return "< 0.001"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):.{min(max(places, 0), 3)}f}".replace("-", MINUS)


def count(value: float) -> str:
    """A count, which has no decimals.

    >>> count(12), count(3.0)
    ('12', '3')
    """
    return f"{value:.0f}"


def p_value(p: float | None) -> str:
    """A p-value, never zero.

    >>> p_value(0.0312), p_value(1e-9), p_value(1.0)
    ('0.031', '< 0.001', '1.000')
    """
    if p is None or math.isnan(p):
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def seconds(value: float) -> str:
    """A duration as one says it.

    >>> [seconds(x) for x in (0.0004, 0.25, 12.3, 100.0, 5400.0)]
    ['0.4 ms', '250 ms', '12 s', '1 min 40 s', '1 h 30 min']
    """
    if value < 0.9995:
        return f"{value * 1e3:.2g} ms" if value < 0.01 else f"{value * 1e3:.0f} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 100:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(value / 60)
    return f"{minutes // 60} h {minutes % 60} min"


def microseconds(value: float) -> str:
    """A duration given in microseconds.

    >>> microseconds(1.36), microseconds(2500.0)
    ('1.4 µs', '2.5 ms')
    """
    return f"{value:.2g} µs" if value < 99.5 else f"{value:.0f} µs" if value < 1000 else seconds(value / 1e6)
