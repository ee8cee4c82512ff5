"""Columns of categories: texts become codes, and keep their names.

A code means nothing by itself, as the same text has another one in other data: wherever two datasets meet, or
data and a model, categories are matched by their names. Codes follow the order of the texts, so that the same
rows make the same table, whatever order a frame has given its categories.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pomona.data.text import is_number
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.data.dataset import Dataset

Categories = Mapping[int, tuple[str, ...]]
"""By place of a feature, the names of its categories: value k in X is the name k."""


def is_category(column: Any) -> bool:
    """Whether a column of a frame, as narwhals has it, holds categories or texts."""
    import narwhals as nw

    return column.dtype in (nw.Categorical, nw.Enum, nw.String)


def codes_of(column: Any) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The code of every value of a column, NaN of null, and the names of the codes.

    >>> import narwhals as nw, polars as pl
    >>> codes_of(nw.from_native(pl.Series("genre", ["news", None, "blog"]), series_only=True))
    (array([ 1., nan,  0.]), ('blog', 'news'))
    """
    import narwhals as nw

    values = zip(column.to_list(), column.is_null().to_list(), strict=True)
    texts = [None if is_null else str(value) for value, is_null in values]
    names = tuple(sorted({text for text in texts if text is not None}))
    if column.dtype == nw.String:
        _refuse_numbers(column.name, texts, names)
    places = {name: place for place, name in enumerate(names)}
    codes = np.array([np.nan if text is None else places[text] for text in texts], np.float64)
    return codes, names


def _refuse_numbers(column: str, texts: Sequence[str | None], names: Sequence[str]) -> None:
    """Refuse texts that look like numbers: they are no categories."""
    if names and sum(map(_looks_like_a_number, names)) * 2 >= len(names):
        row = next((row for row, text in enumerate(texts, 1) if text is not None and not is_number(text)), 1)
        raise InputError(
            f"column {column!r} holds texts, many of them numbers (row {row}: {texts[row - 1]!r}), expected "
            "numbers: cast it to numbers, or to a category"
        )


_WRITTEN_OTHERWISE = re.compile(
    r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]{1,3}(?:[., ']?[0-9]{3})*(?:[.,][0-9]+)?|[0-9]+[.,]?[0-9]*|[0-9_]+)"
    r"(?:[eE][+-]?[0-9]+)?\s*%?\s*"
)


def _looks_like_a_number(text: str) -> bool:
    """Whether a text is a number, or would be one with another sign for decimals, thousands or percent.

    >>> [_looks_like_a_number(text) for text in ("1.5", "1,5", "1 000", "12%", "0x1f", "10.0.0.1", "v2")]
    [True, True, True, True, True, False, False]
    """
    return is_number(text) or _WRITTEN_OTHERWISE.fullmatch(text) is not None


def with_categories(data: Dataset, wanted: Categories) -> Dataset:
    """The same documents with the codes of these categories; a name that is not among them becomes undefined.

    Refused are data whose features are categories elsewhere than expected.
    """
    if data.categories == wanted:
        return data
    for place in sorted({*data.categories, *wanted}):
        name, present, known = data.feature_names[place], data.categories.get(place), wanted.get(place)
        if known is None and present is not None:
            raise InputError(f"feature {name!r} holds categories ({_some(present)}), expected numbers")
        if present is None and known is not None and not np.isnan(data.gathered().X[:, place]).all():
            raise InputError(f"feature {name!r} holds numbers, expected categories ({_some(known)})")
    X = data.X.copy()
    for place, names in wanted.items():
        X[:, place] = recoded(X[:, place], data.categories.get(place, ()), names)
    same = data.replace(X=X)
    same.categories = dict(wanted)
    return same


def recoded(codes: NDArray[Any], names: Sequence[str], wanted: Sequence[str]) -> NDArray[Any]:
    """Codes of names as those of others, NaN where there is none such.

    >>> recoded(np.array([0.0, 1.0, np.nan]), ["blog", "news"], ["news", "shop"]).tolist()
    [nan, 0.0, nan]
    """
    places = {name: place for place, name in enumerate(wanted)}
    mapped = np.array([*(places.get(name, np.nan) for name in names), np.nan])
    return mapped[np.where(np.isnan(codes), len(names), codes).astype(np.int64)]


def refuse_categories(data: Dataset, who: str) -> None:
    """Refuse data with categories, where only numbers make sense."""
    for place, names in data.categories.items():
        raise InputError(
            f"{who} reads numbers, and feature {data.feature_names[place]!r} holds categories "
            f"({_some(names)}): encode them, by CategoryMean, say, or leave it out"
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:2])) + (", …" if len(names) > 2 else "")
