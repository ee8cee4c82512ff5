import json

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.measures import measures
from pomona.errors import InputError

app = typer.Typer()
app.command()(measures)


def run(*arguments: str):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_all_orders_of_labels_by_the_usual_measures():
    lines = run("4,3,2,1").output.splitlines()
    assert lines[0].split() == ["list", "ndcg", "err", "sr4(clip=false)"]
    assert lines[2].split() == ["4", "3", "2", "1", "1.00000", "0.95382", "0.91935"]
    assert "ndcg prefers 2 4 3 1 (0.7680 > 0.7426), err 3 2 1 4 (0.6002 > 0.5762)" in lines
    document = json.loads(run("1,1,1,0,0", "--json").output)
    assert [row["list"] for row in document["values"]][:2] == ["1 1 1 0 0", "1 1 0 1 0"]
    assert list(document["values"][0]) == ["list", "wta", "rbp(p=0.5)", "ap"]


@pytest.mark.parametrize(("labels", "highest"), [("5,1", 5), ("0.5,1", 1), ("2,1,0", 2)])
def test_labels_that_seznam_rank_does_not_know(labels, highest):
    document = json.loads(run(labels, "--json").output)
    assert list(document["values"][0]) == ["list", "ndcg", f"err(max_grade={highest})"]


def test_a_file_of_lists(tmp_path):
    path = tmp_path / "lists.txt"
    path.write_text(
        "# two of Table 3.5\nπ6: 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3 3 3 3 3 3\n\nπ8: 2,2,2,2,2,2,1,1\n"
    )
    document = json.loads(run(path, "-m", "ndcg,err", "--json").output)
    assert [row["list"] for row in document["values"]] == ["π6", "π8"]
    assert document["disagreements"][0]["n_different"] == 1
    path.write_text("1 0\n1 x\n")
    with pytest.raises(InputError, match=r"lists.txt:2.*found '1 x'"):
        run(path)
    path.write_text("a: 1 0\na: 0 1\n")
    with pytest.raises(InputError, match="the name 'a' stands for two lists"):
        run(path)


def test_a_report(tmp_path):
    output = run("2,1,0", "-m", "ndcg,err", "-o", tmp_path).output
    assert f"report: {tmp_path / 'report.html'}" in output
    assert (tmp_path / "figures" / "values.svg").is_file()
    assert (tmp_path / "tables" / "correlations.tex").is_file()


def test_refusals(tmp_path):
    with pytest.raises(InputError, match="found 'nothing', expected labels such as 4,3,2,1, or an existing"):
        run("nothing")
    with pytest.raises(InputError, match="distinct orders"):
        run("0,1,2,3,4,5,6,7")
    with pytest.raises(InputError):
        run(tmp_path)


@pytest.mark.parametrize("content", ["", "# nothing\n", "1 qid:1 1:0.5 2:1\n0 qid:1 1:2 2:0\n"])
def test_a_file_that_has_no_lists(content, tmp_path):
    path = tmp_path / "lists.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=r"expected .*labels such as 4,3,2,1"):
        run(path)
