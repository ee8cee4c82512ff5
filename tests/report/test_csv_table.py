import pytest

from pomona.report.csv_table import table_of_texts

HEAD = ("method", "NDCG", "seconds", "note", "year")
ROWS = (
    ("a", "0.48213", "12.5", "new", "2010"),
    ("b", "0.4821", "-3", "", "2007"),
    ("c", "NA", "1e2", "5 %", "2007"),
)


def column(name, **options):
    table = table_of_texts(HEAD, ROWS, **options)
    return [row.cells[HEAD.index(name)] for row in table.rows]


def test_numbers_have_the_same_digits_and_equals_are_all_the_best():
    assert [cell.text for cell in column("NDCG")] == ["0.4821", "0.4821", "–"]
    assert [cell.is_best for cell in column("NDCG")] == [False] * 3  # nothing tells them apart
    assert [cell.is_best for cell in column("NDCG", digits=5)] == [True, False, False]
    assert [cell.text for cell in column("NDCG", digits=5)] == ["0.48213", "0.48210", "–"]
    assert [cell.value for cell in column("NDCG")] == [0.48213, 0.4821, None]


def test_less_may_be_better():
    assert [cell.is_best for cell in column("seconds")] == [False, False, True]
    assert [cell.is_best for cell in column("seconds", lower=("seconds",))] == [False, True, False]
    assert [cell.text for cell in column("seconds")] == ["12.5000", "−3.0000", "100.0000"]
    assert not any(cell.is_best for cell in column("seconds", marks_best=False))


def test_no_digit_is_invented_and_texts_stay():
    assert [cell.text for cell in column("year")] == ["2010", "2007", "2007"]
    assert [cell.text for cell in column("note")] == ["new", "–", "5 %"]
    columns = table_of_texts(HEAD, ROWS).columns
    assert [one.is_number for one in columns] == [False, True, True, False, True]


@pytest.mark.parametrize("texts", [("", "-"), ("1_0", "2"), ("inf", "1"), ("a", "1")])
def test_what_is_no_column_of_numbers(texts):
    table = table_of_texts(("x",), [(text,) for text in texts])
    assert not table.columns[0].is_number


def test_the_first_column_names_the_rows():
    table = table_of_texts(("k", "value"), (("1", "0.5"), ("5", "0.7")))
    assert [[cell.is_best for cell in row.cells] for row in table.rows] == [[False, False], [False, True]]
