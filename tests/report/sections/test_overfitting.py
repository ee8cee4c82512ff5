from experiments.small_study import curves, sizes
from pomona.report.sections.overfitting import (
    OverfittingSection,
    by_fold,
    overfitting_table,
    train_and_test,
)
from report.drawn import panels_of, spec_of


def test_training_and_test_queries_by_iteration():
    _, (rows, _) = spec_of(train_and_test(curves(), "toy"))
    assert panels_of(rows, "ranker") == ["L 2", "L 4", "L 8"]
    assert {row["series"] for row in rows} == {"test queries", "validation queries", "training queries"}
    _, (rows,) = spec_of(by_fold(curves(), "toy"))
    assert {row["series"] for row in rows} == {"fold 1", "fold 2"}
    assert max(row["iteration"] for row in rows) == 12


def test_the_table_has_what_training_on_costs():
    table = overfitting_table(curves().overfitting, "toy")
    titles = [column.title for column in table.columns]
    row = table.rows[2].cells
    assert row[titles.index("Last minus chosen")].value == curves().overfitting["difference"][2]
    assert row[titles.index("Last")].text == "12"


def test_without_test_curves_there_is_nothing():
    assert list(OverfittingSection().overall(sizes())) == []
    assert list(OverfittingSection().of_dataset(sizes(), "toy")) == []
