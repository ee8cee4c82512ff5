from typing import ClassVar

import polars as pl
import pytest

from pomona._registry import entries
from pomona.experiments.analysis.base import Analysis, columns


class Sizes(Analysis):
    name = "sizes"
    schema: ClassVar = {**columns(pl.String, "ranker", "dataset"), "size": pl.Float64}

    @classmethod
    def compute(cls, findings):
        return cls.table([])


def test_rows_become_a_table_of_the_schema():
    table = Sizes.table([("a", "one", 1), ("b", "one", float("nan")), ("c", "two", float("inf"))])
    assert table.schema == pl.Schema(Sizes.schema)
    assert table["size"].to_list() == [1.0, None, None]
    named = Sizes.table([{"size": 2, "ranker": "a", "dataset": None}])
    assert named.row(0) == ("a", None, 2.0)
    assert Sizes.compute(None).schema == pl.Schema(Sizes.schema)


@pytest.mark.parametrize("name", list(entries("experiments/analysis")))
def test_every_analysis_of_the_folder_declares_its_table(name):
    cls = entries("experiments/analysis")[name].load()
    assert issubclass(cls, Analysis)
    assert cls.name == name
    assert cls.schema
    assert cls.__doc__
