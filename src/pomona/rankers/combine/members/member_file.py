"""Fitted rankers as parts of the model file of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from pomona.rankers.base import Ranker
from pomona.rankers.loading import restored
from pomona.rankers.model_file import with_prefix


def written_members(members: Sequence[Ranker]) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """What JSON holds of each, and the arrays of all: those of the second begin with `1.`."""
    facts: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for k, ranker in enumerate(members):
        written, learnt = ranker.written()
        facts.append({"ranker": ranker.name, **written})
        arrays |= {f"{k}.{key}": array for key, array in learnt.items()}
    return facts, arrays


def restored_members(
    facts: Sequence[Mapping[str, Any]], arrays: Mapping[str, NDArray[Any]], n_features: int
) -> list[Ranker]:
    """The rankers that were written, all of as many features; a ValueError tells what does not fit."""
    members = [
        restored(member["ranker"], member, with_prefix(arrays, f"{k}.")) for k, member in enumerate(facts)
    ]
    if not members:
        raise ValueError("there is no ranker in it")
    if any(ranker.n_features_in_ != n_features for ranker in members):
        raise ValueError(f"a ranker of other than {n_features} features")
    return members
