import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.table import table
from pomona.errors import InputError, UnknownNameError

app = typer.Typer()
app.command()(table)

CSV = "# a comment\nmethod,NDCG@10,train (s)\nA & B,0.51234,7\nC_1,0.4,3\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "r.csv").write_text(CSV)
    return tmp_path / "r.csv"


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_markdown(path):
    assert run(path, "--digits", 2).stdout == (
        "| method | NDCG@10 | train (s) |\n| :--- | ---: | ---: |\n"
        "| A & B | **0.51** | **7** |\n| C\\_1 | 0.40 | 3 |\n"
    )


def test_latex_with_a_column_in_which_less_is_better(path, tmp_path):
    assert run(path, "--format", "tex", "--lower", "train (s)", "-o", tmp_path / "r.tex").stdout == ""
    written = (tmp_path / "r.tex").read_text().splitlines()
    assert r"\begin{tabular}{lrr}" in written
    assert r"A \& B & \textbf{0.5123} & 7 \\" in written
    assert r"C\_1 & 0.4000 & \textbf{3} \\" in written
    assert not any("caption" in line for line in written)


def test_html(path):
    told = run(path, "-f", "html", "--best", "none", "--title", "1 < 2").stdout
    assert "<caption>1 &lt; 2</caption>" in told
    assert '<td style="text-align: left">A &amp; B</td><td style="text-align: right">0.5123</td>' in told
    assert "<strong>" not in told


def test_refusals(path, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown column 'train'"):
        run(path, "--lower", "train")
    (tmp_path / "two.csv").write_text("a,b,b\n1,2,3\n")
    with pytest.raises(InputError, match="two columns 'b'"):
        run(tmp_path / "two.csv")
    (tmp_path / "odd.csv").write_text("a,b\n1\n")
    with pytest.raises(InputError, match=r"odd\.csv:2: found 1 cells, expected 2"):
        run(tmp_path / "odd.csv")
    (tmp_path / "none.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="found no rows"):
        run(tmp_path / "none.csv")
