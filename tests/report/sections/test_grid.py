from experiments.small_study import curves, grid, sizes
from pomona.report.sections.grid import (
    GridSection,
    by_parameter,
    extreme_table,
    grid_table,
    heat_map,
    scatter,
    slope_table,
)
from pomona.report.sections.results import results_table
from report.drawn import panels_of, spec_of


def test_one_parameter_is_a_curve():
    findings = curves()
    _, (rows, *_) = spec_of(by_parameter(findings, "toy", findings.grid))
    assert panels_of(rows, "title") == ["NDCG@5", "AP"]
    assert sorted({row["x"] for row in rows}) == [2, 4, 8]
    (row, _) = slope_table(findings.slopes, "toy").rows
    assert row.cells[4].value == findings.slopes["slope"][0]


def test_two_parameters_are_a_map_with_the_best_framed():
    findings = grid()
    spec, (cells, framed, _) = spec_of(heat_map(findings.grid, "toy"))
    assert len(cells) == 6
    assert framed == [max(cells, key=lambda cell: cell["norm"])]
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == ["8", "4", "2"]
    _, (dots,) = spec_of(scatter(findings.grid, "toy", "_2"))
    assert sorted(dot["x"] for dot in dots) == [2, 2, 4, 4, 8, 8]
    assert len(extreme_table(findings.extremes, "toy").rows) == 2


def test_models_stand_in_the_order_of_norm_performance():
    findings = grid()
    table = grid_table(findings, "toy", "LambdaMART", findings.grid)
    norms = [row.cells[4].value for row in table.rows]
    assert norms == sorted(norms)
    assert [column.title for column in table.columns][:2] == ["learning_rate", "n_leaves"]


def test_norm_performance_is_a_column_where_it_is_asked_for():
    titles = [column.title for column in results_table(grid(), "toy").columns]
    assert "NormPerformance" in titles
    assert "NormPerformance" not in [column.title for column in results_table(curves(), "toy").columns]
    assert list(GridSection().overall(sizes())) == []
