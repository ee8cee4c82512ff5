import json

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.winning import winning
from pomona.errors import PomonaError

app = typer.Typer()
app.command()(winning)

WIDE = """# a table of the literature
method,TD2003/MAP,TD2003/NDCG@10,HP2003/MAP,MSLR NDCG@10
ListNet,0.27,0.34,0.76,
LambdaMART,,0.36,NA,0.47
RankBoost,0.22,0.31,0.73,0.30
SmoothRank,0.30,-,0.76,
"""
LONG = """algorithm,dataset,split,fold,metric,value
A,D1,test,avg,MAP,0.3
A,D1,test,fold1,MAP,0.1
A,D1,train,avg,MAP,0.9
B,D1,test,avg,MAP,0.2
B,D1,test,fold1,MAP,0.2
B,D2,test,avg,MAP,
"""


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False).output


@pytest.fixture
def table(tmp_path):
    def write(text, name="results.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def counted(rows):
    return {row["method"]: (row["winning"], row["ideal"]) for row in rows}


def test_a_wide_table(table):
    found = json.loads(run(table(WIDE), "--json"))
    # MAP: SmoothRank wins over RankBoost twice and over ListNet once, with whom it ties once.
    assert counted(found["measures"]["MAP"]) == {
        "SmoothRank": (2 + 1, 4),
        "ListNet": (2, 4),
        "RankBoost": (0, 4),
        "LambdaMART": (0, 0),
    }
    assert counted(found["measures"]["NDCG@10"])["LambdaMART"] == (2 + 1, 2 + 1)
    assert counted(found["combined"])["ListNet"] == (2 + 1, 4 + 2)
    assert found["combined"][0] == {
        "method": "LambdaMART",
        "winning": 3,
        "ideal": 3,
        "normalized": 1.0,
        "is_pareto": True,
        "is_rank2": False,
    }
    assert found["measures"]["MAP"][-1]["normalized"] is None


def test_the_other_reading(table):
    pairs, attained = (
        json.loads(run(table("m,D\na,0.5\nb,0.5\nc,0.3\n"), "--json", "--reading", reading))
        for reading in ("pairs", "attained")
    )
    assert counted(pairs["combined"]) == {"a": (1, 2), "b": (1, 2), "c": (0, 2)}
    assert counted(attained["combined"]) == {"a": (1, 1), "b": (1, 1), "c": (0, 1)}
    assert attained["reading"] == "attained"


def test_printed(table):
    lines = run(table(WIDE)).splitlines()
    assert [line for line in lines if line.endswith("methods")] == [
        "MAP, 2 results of up to 4 methods",
        "NDCG@10, 2 results of up to 4 methods",
        "combined, 4 results of up to 4 methods",
    ]
    assert lines[1].split() == ["method", "WN", "IWN", "NWN", "front"]
    assert lines[3].split() == ["SmoothRank", "3", "4", "0.7500", "Pareto"]
    assert "LambdaMART   0    0       –" in lines
    assert "ListNet      1    2  0.5000  rank 2" in lines


def test_measures_are_chosen(table):
    lines = run(table(WIDE), "-m", "map").splitlines()
    assert lines[0] == "MAP, 2 results of up to 4 methods"
    assert len([line for line in lines if "methods" in line]) == 1
    both = json.loads(run(table(WIDE), "-m", "NDCG@10,map", "--json"))
    assert list(both["measures"]) == ["NDCG@10", "MAP"]


def test_a_long_table_takes_the_usual_rows_and_says_so(table):
    output = run(table(LONG))
    assert output.splitlines()[0] == "MAP, 1 result of up to 2 methods"
    assert output.splitlines()[3].split() == ["A", "1", "1", "1.0000", "Pareto"]
    assert "note: took split=test of test, train; --where split=… takes another" in output
    assert "note: took fold=avg of avg, fold1;" in output


def test_rows_are_chosen(table):
    found = json.loads(run(table(LONG), "--where", "fold=fold1", "--json"))
    assert counted(found["combined"]) == {"B": (1, 1), "A": (0, 1)}
    assert found["notes"] == []


@pytest.mark.parametrize(("name", "comma"), [("a.tsv", "\t"), ("b.csv", ";"), ("c.txt", ",")])
def test_separators(table, name, comma):
    text = "method,D1/MAP,D2/MAP\na,0.1,\nb,0.2,0.3\n".replace(",", comma)
    assert counted(json.loads(run(table(text, name), "--json"))["combined"]) == {"b": (1, 1), "a": (0, 1)}


def test_a_long_table_without_datasets(table):
    text = "Ranker,Measure,Mean\na,MAP,0.1\nb,MAP,0.2\n"
    assert counted(json.loads(run(table(text), "--json"))["combined"]) == {"b": (1, 1), "a": (0, 1)}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", (), "results.csv: found no results, expected a header and a row for each method"),
        ("m,D\na,1\n", (), "results.csv: found 1 method, expected at least two to compare"),
        ("m,D\na,\nb,-\n", (), "results.csv: every cell is empty, expected results"),
        ("m\na\nb\n", (), "results.csv: found 0 method, expected at least two to compare"),
        ("m,D\na,1\n\nb,1,2\n", (), "results.csv:4: found 3 cells, expected 2 as in the header"),
        ("m,D\na,0.5*\nb,1\n", (), "results.csv:2: found '0.5*', expected a number or an empty cell"),
        ("m,D\na,inf\nb,1\n", (), "results.csv:2: found 'inf', expected a number or an empty cell"),
        ("m,D\na,1\na,1\n", (), "results.csv:3: 'a' has a second result for 'D'"),
        (WIDE, ("--reading", "pair"), "unknown reading 'pair': did you mean 'pairs'?"),
        (WIDE, ("-m", "NDGC@10"), "unknown measure of this table 'NDGC@10': did you mean 'ndcg@10'?"),
        (WIDE, ("--where", "fold=1"), "results.csv: --where needs a long table"),
        (LONG, ("--where", "fold"), "found --where 'fold', expected COLUMN=VALUE"),
        (LONG, ("--where", "folds=avg"), "unknown column 'folds': did you mean 'fold'?"),
        (LONG, ("--where", "fold=fold2"), "unknown value of column 'fold' 'fold2': did you mean 'fold1'?"),
        (
            "method,measure,seed,value\na,MAP,1,0.1\na,MAP,2,0.2\n",
            (),
            "results.csv: column 'seed' has values 1, 2: choose one by --where seed=…",
        ),
    ],
)
def test_refused_in_one_line(table, text, options, message):
    with pytest.raises(PomonaError) as refused:
        run(table(text), *options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_such_file(tmp_path):
    with pytest.raises(PomonaError, match=r"none\.csv: no such file"):
        run(tmp_path / "none.csv")


def test_a_figure(table, tmp_path):
    run(table(WIDE), "--figure", tmp_path / "winning.svg")
    drawn = (tmp_path / "winning.svg").read_text()
    assert all(name in drawn for name in ("Pareto-optimal", "LambdaMART", "normalized winning number"))
    with pytest.raises(PomonaError, match=r"expected a figure's name in \.svg or \.pdf"):
        run(table(WIDE), "--figure", tmp_path / "winning.gif")
