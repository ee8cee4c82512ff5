"""Groups of features that a user names, as places."""

from __future__ import annotations

from collections.abc import Sequence

from pomona.errors import InputError, UnknownNameError

Named = Sequence[Sequence[int | str]]


def places_of(groups: Named | None, names: Sequence[str]) -> tuple[tuple[int, ...], ...] | None:
    """The places from 0 of features that are named, or given by their places.

    >>> places_of([["clicks", 0], [2]], ["bm25", "clicks", "age"])
    ((1, 0), (2,))
    """
    return None if groups is None else tuple(tuple(_place(one, names) for one in group) for group in groups)


def _place(feature: int | str, names: Sequence[str]) -> int:
    if isinstance(feature, str):
        if feature not in names:
            raise UnknownNameError("feature", feature, names)
        return list(names).index(feature)
    if not 0 <= feature < len(names):
        raise InputError(f"found feature {feature}, expected a name or a place from 0 to {len(names) - 1}")
    return int(feature)
