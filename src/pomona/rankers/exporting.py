"""A fitted ranker as another engine reads it: the model, the names of its features, and what is asked for."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomona import _registry
from pomona.data.dataset import numbered
from pomona.errors import InputError, UnknownNameError
from pomona.trees.formats.format import ExportOptions, Format, nonnegative

if TYPE_CHECKING:
    from pomona.rankers.base import Ranker


_NO_ENGINE = ("engine_version", "model_name", "store", "raw")
_WITHOUT_EFFECT = {
    "c": (*_NO_ENGINE, "feature_map"),
    "elastic": ("model_name", "store", "raw"),
    "elasticsearch": ("store",),
    "lightgbm": _NO_ENGINE,
    "onnx": ("model_name", "store", "raw"),
    "opensearch": ("store",),
    "ranklib": (*_NO_ENGINE, "feature_map"),
    "solr": ("raw",),
    "vespa": _NO_ENGINE,
    "xgboost": _NO_ENGINE,
    "xgboost-dump": _NO_ENGINE,
}
"""The options that change nothing in a format, which are refused there."""


def exported(
    ranker: Ranker, format: str, feature_map: str | Path | None = None, **options: Any
) -> str | bytes:
    """The model in this format.

    feature_map : a file of names for the features, see `read_feature_map`.
    The others are those of `ExportOptions`. What cannot be the same in the engine is warned of, a line each.
    """
    known = ("engine_version", "nonnegative", "model_name", "store", "raw")
    if unknown := [name for name in options if name not in known]:
        raise UnknownNameError("option of export", unknown[0], [*known, "feature_map"])
    if not isinstance(format, str):
        raise InputError(f"the format must be a name, as 'lightgbm', found {format!r}")
    if not isinstance(feature_map, str | Path | None):
        raise InputError(f"feature_map must be a path, found {feature_map!r}")
    chosen: Format = _registry.find("trees/formats", format, "format of models").load()(
        ExportOptions(**options)
    )
    given = {**vars(chosen.options), "feature_map": feature_map}
    for name in _WITHOUT_EFFECT.get(chosen.name, ()):
        if given[name] != getattr(ExportOptions, name, None):
            raise InputError(f"{name} has no effect on the format {chosen.name}: leave it out")
    ranker.check_fitted()
    chosen.categories = ranker.categories_
    model, names = ranker.portable(), engine_names(ranker.feature_names_)
    if feature_map is not None:
        names = read_feature_map(Path(feature_map), ranker.feature_names_)
    if chosen.options.nonnegative:
        model = nonnegative(model)
    content = chosen.content(model, names)
    for note in (*chosen.notes(model), *chosen.name_notes(names)):
        warnings.warn(note, stacklevel=3)
    return content


def engine_names(names: Sequence[str]) -> tuple[str, ...]:
    """The features' names for an engine; those that nobody named become `feature_1`, `feature_2` …

    Engines and tools read `f1` as the feature of index 1, which counts from 0.

    >>> engine_names(["f1", "f2"]), engine_names(["f1", "bm25"])
    (('feature_1', 'feature_2'), ('f1', 'bm25'))
    """
    is_default = tuple(names) == numbered(len(names))
    return tuple(f"feature_{number}" for number in range(1, len(names) + 1)) if is_default else tuple(names)


def read_feature_map(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Names for the features of a model, from a file that a person wrote.

    Each line has a feature of the model, by its name or its number from 1, and its name in the engine, with a
    comma or tab between them; or every line has a name alone, in the model's order. Each feature must be
    named once, and no two alike.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path) from None
    delimiter = "\t" if "\t" in text else ","
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    if rows and all(len(row) == 1 for _, row in rows):
        rows = [(line, [str(number), row[0]]) for number, (line, row) in enumerate(rows, 1)]
    places = {name: place for place, name in enumerate(names)}
    places |= {str(number): number - 1 for number in range(1, len(names) + 1) if str(number) not in places}
    given: dict[int, str] = {}
    for line, row in rows:
        if len(row) != 2:
            raise InputError(f"found {len(row)} columns, expected a feature and its name", path, line)
        feature, name = row[0].strip(), row[1].strip()
        if feature not in places:
            if row is rows[0][1]:  # a heading
                continue
            raise InputError(f"the model has no feature {feature!r}", path, line)
        if not name or name in given.values() or places[feature] in given:
            raise InputError(
                f"{name or 'an empty name'!r} or its feature stands twice, or is empty", path, line
            )
        given[places[feature]] = name
    missing = [name for place, name in enumerate(names) if place not in given]
    if missing:
        raise InputError(f"{len(missing)} features have no name here, {missing[0]!r} for one", path)
    return tuple(given[place] for place in range(len(names)))
