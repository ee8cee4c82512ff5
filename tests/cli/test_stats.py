import json
import os

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.stats import stats

app = typer.Typer()
app.command()(stats)


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


@pytest.fixture
def fold(tmp_path):
    (tmp_path / "train.txt").write_text("2 qid:1 1:1 3:5\n0 qid:1 1:2 3:1\n1 qid:2 1:3 3:1\n")
    (tmp_path / "test.txt").write_text("1 qid:3 1:1 3:2\n")
    return tmp_path


def test_a_directory_is_one_row(fold):
    result = run(str(fold))
    assert result.exit_code == 0
    titles, _, row = result.output.splitlines()
    assert titles.split()[:4] == ["Data", "Queries", "Docs", "Features"]
    # Queries of 2, 1 and 1 documents; labels 2, 0, 1, 1; feature 2 never occurs.
    mean_label = (2 + 0 + 1 + 1) / 4 / 2
    assert row.split()[1:] == ["3", "4", "2", f"{4 / 3:.2f}", "1", "1", "2", f"{mean_label:.4f}", "2", "Yes"]


def test_files_are_rows_of_one_table_with_a_joined_row(fold):
    result = run(str(fold / "train.txt"), str(fold / "test.txt"), "--joined")
    rows = [line.split() for line in result.output.splitlines()[2:]]
    assert [row[-10] for row in rows] == ["2", "1", "3"]
    assert rows[-1][0] == "joined"


def test_parts_are_rows_when_asked(fold):
    rows = json.loads(run(str(fold), "--parts", "--json").output)
    assert [(row["data"], row["documents"]) for row in rows] == [(f"{fold} train", 3), (f"{fold} test", 1)]


def test_json_is_unrounded(fold):
    (row,) = json.loads(run(str(fold), "--json").output)
    assert row["mean_documents_per_query"] == 4 / 3
    assert row["label_counts"] == {"0": 1, "1": 2, "2": 1}
    assert row["undefined_values"] == 4


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
def test_a_collection_goes_by_its_name():
    from pomona.data.catalog import COLLECTIONS

    if COLLECTIONS["mq2008"].directory() is None:
        pytest.skip("MQ2008 is not here")
    row = run("MQ2008").output.splitlines()[2]
    assert " ".join(row.split()) == "MQ2008 784 15211 46 19.40 8 5 121 0.1270 2 No"


def test_documents_that_nobody_judged_have_a_column_where_there_are_some(fold):
    (fold / "some.txt").write_text("nan qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:3\n")
    titles, _, *rows = run(str(fold / "some.txt"), str(fold / "train.txt")).output.splitlines()
    assert "Not judged" in titles
    assert [row.split()[-2] for row in rows] == ["1", "0"]
    assert json.loads(run(str(fold / "some.txt"), "--json").output)[0]["not_judged"] == 1
    assert "Not judged" not in run(str(fold / "train.txt")).output
