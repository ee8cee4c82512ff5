"""The dataset table: how many queries, documents and features, how long the queries, what the labels.

The columns are those of Table 3.1 of the thesis that this library grew from. *Features* counts the
distinct features seen: columns with at least one defined value. (A column that is zero everywhere was
seen; a column of a sparse file that no line mentions was not, provided it was read with
`undefined=nan`.) *Mean label* is normalized to [0, 1] by the largest label, grade 0 being the lowest.
Documents that are not judged (NaN) count as documents, but in nothing that is said of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pomona._html import html_table
from pomona.data.dataset import Dataset
from pomona.errors import InputError

# Field: title and format in the table, key in JSON.
_COLUMNS = {
    "n_queries": ("Queries", "", "queries"),
    "n_docs": ("Docs", "", "documents"),
    "n_features": ("Features", "", "features"),
    "mean_docs": ("Avg docs/query", ".2f", "mean_documents_per_query"),
    "mode_docs": ("Mode", "", "mode_documents_per_query"),
    "min_docs": ("Min", "", "min_documents_per_query"),
    "max_docs": ("Max", "", "max_documents_per_query"),
    "mean_label": ("Mean label (norm.)", ".4f", "normalized_mean_label"),
    "max_label": ("Max label", "g", "max_label"),
}


@dataclass(frozen=True, slots=True)
class Statistics:
    """One row of the dataset table."""

    n_queries: int
    n_docs: int
    n_features: int
    mean_docs: float
    mode_docs: int
    min_docs: int
    max_docs: int
    mean_label: float
    max_label: float
    n_undefined: int
    label_counts: dict[float, int]
    n_unjudged: int = 0

    @property
    def has_undefined(self) -> bool:
        """Whether some feature value is undefined: NaN, or counted so by the reader that filled it in."""
        return self.n_undefined > 0

    def row(self) -> dict[str, str]:
        """The row as printed: column title to text."""
        columns = {title: format(getattr(self, name), how) for name, (title, how, _) in _COLUMNS.items()}
        unjudged = {"Not judged": str(self.n_unjudged)} if self.n_unjudged else {}
        return {**columns, **unjudged, "Undefined": "Yes" if self.has_undefined else "No"}

    def _repr_html_(self) -> str:
        row = self.row()
        return html_table(list(row), [list(row.values())], "Dataset")

    def to_json(self) -> dict[str, Any]:
        """The row as plain values, unrounded."""
        return {
            **{key: getattr(self, name) for name, (_, _, key) in _COLUMNS.items()},
            "undefined": self.has_undefined,
            "undefined_values": self.n_undefined,
            "not_judged": self.n_unjudged,
            "label_counts": {f"{label:g}": count for label, count in self.label_counts.items()},
        }

    def __str__(self) -> str:
        labels = ", ".join(f"{label:g}: {count}" for label, count in self.label_counts.items())
        rows = {**self.row(), "Labels": labels}
        width = max(map(len, rows))
        return "\n".join(f"{title:<{width}}  {text}" for title, text in rows.items())


def describe(*parts: Dataset) -> Statistics:
    """The statistics of one dataset, or of several taken together.

    Queries of different parts count apart even when they carry the same id: two collections often both
    start at 1.

    >>> data = Dataset([[1, np.nan], [2, np.nan], [3, np.nan]], [0, 1, 2], [7, 7, 9])
    >>> facts = describe(data, data)
    >>> facts.n_queries, facts.n_features, facts.mode_docs, facts.mean_label, facts.n_undefined
    (4, 1, 1, 0.5, 6)
    """
    lengths = np.concatenate([part.query_lengths for part in parts]) if parts else np.zeros(0, np.int64)
    if lengths.size == 0:
        raise InputError("there is no query to describe")
    seen = np.zeros(max(part.n_features for part in parts), bool)
    n_undefined = 0
    for part in parts:
        undefined = _undefined_by_feature(part)
        n_undefined += int(undefined.sum()) if part.n_undefined is None else part.n_undefined
        seen[: part.n_features] |= undefined < part.n_docs
    label_counts = _label_counts(parts)
    n_docs, n_judged = sum(part.n_docs for part in parts), sum(label_counts.values())
    lowest, largest = min(label_counts, default=np.nan), max(label_counts, default=np.nan)
    lowest = min(0.0, lowest) if n_judged else np.nan
    mean = sum(label * count for label, count in label_counts.items()) / n_judged if n_judged else np.nan
    return Statistics(
        n_queries=lengths.size,
        n_docs=n_docs,
        n_features=int(seen.sum()),
        mean_docs=n_docs / lengths.size,
        mode_docs=int(np.bincount(lengths).argmax()),  # the smallest of the most frequent
        min_docs=int(lengths.min()),
        max_docs=int(lengths.max()),
        mean_label=0.0 if largest == lowest else (mean - lowest) / (largest - lowest),
        max_label=largest,
        n_undefined=n_undefined,
        label_counts=label_counts,
        n_unjudged=n_docs - n_judged,
    )


def _undefined_by_feature(data: Dataset, rows_at_once: int = 65536) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How many values of each feature are NaN, in slices, so that no second table of that size is made."""
    counts = np.zeros(data.n_features, np.int64)
    for first in range(0, data.n_docs, rows_at_once):
        counts += np.isnan(data.X[first : first + rows_at_once]).sum(axis=0)
    return counts


def _label_counts(parts: Sequence[Dataset]) -> dict[float, int]:
    labels = np.concatenate([part.y for part in parts])
    labels, counts = np.unique(labels[~np.isnan(labels)], return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))
