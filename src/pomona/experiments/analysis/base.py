"""A named table of the findings: what every analysis of a comparison declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings


class Analysis(ABC):
    """A table that answers one question about a comparison.

    A subclass in a file of this folder is found by its `name`, under which the findings have its table.
    """

    name: ClassVar[str]
    schema: ClassVar[Mapping[str, Any]]
    """Columns and their types. More may follow: one for each ranker, say."""

    @classmethod
    @abstractmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        """The table. Other tables that it needs are asked of the findings, which compute each once."""

    @classmethod
    def table(cls, rows: Iterable[Any]) -> pl.DataFrame:
        """Rows, tuples or dictionaries, as a table of the schema; what is not finite is null."""
        frame = pl.DataFrame(list(rows), schema=cls.schema, orient="row")
        numbers = pl.col(pl.Float64)
        return frame.with_columns(pl.when(numbers.is_finite()).then(numbers))


def columns(kind: Any, *names: str) -> dict[str, Any]:
    """Several columns of one type, for a schema.

    >>> columns(pl.String, "dataset", "ranker")
    {'dataset': String, 'ranker': String}
    """
    return dict.fromkeys(names, kind)
