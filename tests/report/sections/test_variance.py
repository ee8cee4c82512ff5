import polars as pl
import pytest

from pomona.report.sections.variance import variance_shares, variance_table
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_shares_that_nobody_could_tell_are_left_out(findings):
    one_seed = findings.variance.with_columns(seeds=pl.lit(None, pl.Float64))
    _, (rows,) = spec_of(variance_shares(changed(findings, variance=one_seed), DATA))
    assert {row["source"] for row in rows} == {"queries", "folds", "residual"}
    nothing = findings.variance.with_columns(
        pl.lit(None, pl.Float64).alias(s) for s in ("queries", "folds", "seeds", "residual")
    )
    assert variance_shares(changed(findings, variance=nothing), DATA) is None


def test_the_table_has_every_measure(findings):
    assert len(variance_table(findings, DATA).rows) == 36
