import numpy as np
import pytest

from golden import thesis_norm
from pomona.errors import InputError
from pomona.stats.norm import avg_norm, norm_performance


def test_by_hand():
    table = [[1.0, 0.6], [0.0, 0.2], [0.5, 0.3]]
    np.testing.assert_allclose(avg_norm(table), [1.0, 0.0, (0.5 + 0.25) / 2])


@pytest.mark.parametrize("table", thesis_norm.TABLES, ids=lambda table: table[0])
def test_thesis_tables(table):
    _, rows = table
    found = avg_norm([values for _, values, _ in rows])
    for (name, _, printed), norm in zip(rows, found, strict=True):
        # The thesis computed it from more digits than it prints.
        assert norm == pytest.approx(printed, abs=1.5e-4), name


def test_absent_and_equal_values():
    np.testing.assert_allclose(avg_norm([[1.0, 0.5], [np.nan, 0.5], [0.0, 0.5]]), [1.0, np.nan, 0.0])
    np.testing.assert_allclose(avg_norm([[1.0, 0.9], [np.nan, 0.3], [0.0, 0.6]]), [1.0, 0.0, 0.25])
    assert np.isnan(avg_norm([[0.5]])).all()


def test_refused():
    with pytest.raises(InputError, match="expected a table of rankers × measures"):
        avg_norm([0.5, 0.6])


def test_norm_performance_of_the_thesis():
    found = norm_performance([values for _, values, _ in thesis_norm.CUTOFF])
    np.testing.assert_allclose(found, [printed for *_, printed in thesis_norm.CUTOFF], atol=1e-6)


def test_norm_performance_without_some_values():
    table = [[0.5, np.nan, 0.0], [0.25, 0.8, 0.0], [np.nan, np.nan, 0.0]]
    np.testing.assert_allclose(norm_performance(table), [1.0, (0.5 + 1.0) / 2, np.nan])
    with pytest.raises(InputError, match="expected a table of rankers × measures"):
        norm_performance([0.5, 0.6])
