"""Features that a user names, as places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pomona.errors import InputError, UnknownNameError

Named = Sequence[Sequence[int | str]]


def places_of(groups: Named | None, names: Sequence[str]) -> tuple[tuple[int, ...], ...] | None:
    """The places from 0 of features that are named, or given by their places.

    >>> places_of([["clicks", 0], [2]], ["bm25", "clicks", "age"])
    ((1, 0), (2,))
    """
    return None if groups is None else tuple(tuple(_place(one, names) for one in group) for group in groups)


def directions_of(
    monotone: Sequence[int] | Mapping[str, int] | None, names: Sequence[str]
) -> tuple[int, ...] | None:
    """One of −1, 0 and 1 for every feature, where a table gives them to some by name.

    >>> directions_of({"clicks": 1}, ["bm25", "clicks", "age"])
    (0, 1, 0)
    """
    if not isinstance(monotone, Mapping):
        return None if monotone is None else tuple(monotone)
    directions = [0] * len(names)
    for name, direction in monotone.items():
        directions[_place(name, names)] = direction
    return tuple(directions)


def _place(feature: int | str, names: Sequence[str]) -> int:
    if isinstance(feature, str):
        if feature not in names:
            raise UnknownNameError("feature", feature, names)
        return list(names).index(feature)
    if not 0 <= feature < len(names):
        raise InputError(f"found feature {feature}, expected a name or a place from 0 to {len(names) - 1}")
    return int(feature)
