"""Packages that only some of Pomona needs, and the extra that brings each (see `pyproject.toml`).

To read LETOR text, to train, score, judge, save and load takes none of them; `docs/decisions/0011-extras.md`
has the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pomona.errors import MissingExtraError

EXTRAS = dict.fromkeys(("altair", "jinja2", "markupsafe", "polars", "vl_convert", "zstandard"), "report")


@contextmanager
def naming_extras() -> Iterator[None]:
    """Where a package of an extra is missing, say in one line how to get it; also as a decorator.

    >>> with naming_extras():
    ...     raise ModuleNotFoundError("No module named 'polars'", name="polars")
    Traceback (most recent call last):
    pomona.errors.MissingExtraError: polars is not installed: pip install 'pomona[report]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtraError(package, EXTRAS[package]) from None
