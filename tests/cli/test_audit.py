import json

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.audit import audit

# Hashes wrap around on purpose; with the kernels' compilation switched off, numpy says so.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar")

app = typer.Typer()
app.command()(audit)


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "train.txt").write_text(
        "2 qid:1 1:1 2:5\n0 qid:1 1:2 2:1\n0 qid:2 1:3 2:1\n0 qid:2 1:4 2:2\n"
    )
    (tmp_path / "test.txt").write_text("1 qid:3 1:1 2:2\n0 qid:3 1:5 2:2\n")
    (tmp_path / "leak.txt").write_text("0 qid:9 1:2 2:1\n2 qid:9 1:1 2:5\n")
    return tmp_path


def test_warnings_alone_end_well(files):
    result = run(files / "train.txt", files / "test.txt")
    assert result.exit_code == 0
    assert "empty query: no document is relevant" in result.output
    assert f"1 query in {files / 'train.txt'}" in result.output
    assert "query 2, row 3: 2 documents" in result.output
    assert result.output.splitlines()[-1].startswith("errors: 0, warnings: 1")


def test_what_a_sparse_line_leaves_out_is_what_training_sees(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:0 2:5\n0 qid:1 2:5\n0 qid:1 1:NULL 2:4 3:1\n")
    findings = {one["check"]: one for one in json.loads(run(tmp_path / "a.txt", "--json").output)}
    assert findings["conflicting labels"]["count"] == 1  # 0 and nothing are one value
    assert (findings["value left out"]["count"], findings["value left out"]["unit"]) == (4, "values")
    assert "undefined value" not in findings
    (tmp_path / "a.csv").write_text("label,qid,x\n1,1,\n0,1,2\n")
    findings = {one["check"]: one for one in json.loads(run(tmp_path / "a.csv", "--json").output)}
    assert findings["undefined value"]["count"] == 1
    assert "value left out" not in findings


def test_a_leak_ends_with_one(files):
    result = run(files / "train.txt", files / "leak.txt")
    assert result.exit_code == 1
    assert result.output.startswith("error   same query in two parts")


def test_one_file_needs_no_name(files):
    assert "          1 query\n" in run(files / "train.txt").output


def test_the_parts_of_a_directory_are_compared(files):
    (files / "leak.txt").rename(files / "vali.txt")
    findings = json.loads(run(files, "--json").output)
    assert findings[0]["check"] == "same query in two parts"
    assert findings[0]["part"] == "train and valid"
    assert findings[0]["severity"] == "error"
