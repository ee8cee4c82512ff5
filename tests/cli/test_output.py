import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.app import build
from pomona.cli.output import print_json, print_table
from pomona.data.letor_writer import write_letor


def test_tables_are_aligned(capsys):
    print_table(["name", "value"], [["a", "1"], ["long name", "22.5"]])
    assert capsys.readouterr().out.splitlines() == [
        "name       value",
        "─────────  ─────",
        "a              1",
        "long name   22.5",
    ]


def test_wide_letters_take_two_places(capsys):
    print_table(["query", "ap"], [["北京", "0.5"], ["abcde", "0.25"]])
    assert capsys.readouterr().out.splitlines()[2:] == ["北京    0.5", "abcde  0.25"]


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_a_narrow_terminal_cuts_no_number(width, capsys, monkeypatch):
    heads = ["data", *(f"column {i}" for i in range(12))]
    row = ["some data", *(f"{i}.{'123456789'}" for i in range(12))]
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_table(heads, [row])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= max(width, len("some data  11.123456789"))
    assert [word for line in lines for word in line.split() if word.endswith("123456789")] == row[1:]
    assert sum(line.startswith("some data") for line in lines) == sum(
        line.startswith("data") for line in lines
    )


def test_no_cell_breaks_its_line(capsys):
    print_table(["a\tb", "c"], [["x\ny", "\x1b[2J"]])
    assert capsys.readouterr().out.splitlines() == ["a b     c", "───  ────", "x y   [2J"]


def test_json_keeps_letters(capsys):
    print_json({"é": 1})
    assert capsys.readouterr().out == '{\n  "é": 1\n}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small files of every kind that a verb reads."""
    folder = tmp_path_factory.mktemp("verbs")
    data = pm.simulate(24, n_features=4, docs_per_query=6, seed=3)
    train, test = data.split([0.5, 0.5], seed=0)
    X = test.X.copy()
    X[0] = np.nan  # which JSON has no word for
    write_letor(train, folder / "train.txt")
    write_letor(test, folder / "test.txt")
    pl.DataFrame({"label": test.y, "qid": test.qid, **dict(zip("abcd", X.T, strict=True))}).write_csv(
        folder / "test.csv"
    )
    named = train.replace(feature_names=tuple("abcd"))
    for name, ranker in (("old", pm.LinearRegression()), ("new", pm.MART(n_trees=3, n_leaves=4))):
        ranker.fit(named).save(folder / f"{name}.pomona")
        scores = ranker.predict(test.X) if name == "new" else test.X[:, 0]
        (folder / f"{name}.txt").write_text("".join(f"{float(score)!r}\n" for score in scores))
    (folder / "results.csv").write_text("method,a/ap,b/ap\nx,0.5,0.4\ny,0.6,\n")
    spec = [
        "compare",
        "simulate(queries=20, features=3, docs_per_query=5)",
        "--rankers",
        "bestfeature,random",
    ]
    run([*spec, "--n-folds", "2", "--no-report", "-o", "done"], folder)
    return folder


def run(words, folder):
    """What the command prints on standard output; its files lie in a folder."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(build(), words, catch_exceptions=False)
    finally:
        os.chdir(here)
    assert result.exit_code == 0, result.stderr
    return result.stdout


SPEC = "simulate(queries=20, features=3, docs_per_query=5)"
WORDS = {
    "audit": "test.csv",
    "best": "train.txt --time 8s",
    "cache": "show",
    "compare": "done/spec.toml",
    "convert": "test.csv -o out.txt",
    "demo": "--n-queries 20 -o demo",
    "duel": "test.txt old.txt new.txt",
    "evaluate": "test.txt new.txt --per-query",
    "explain": "new.pomona test.csv --query {qid}",
    "export": "new.pomona -f lightgbm -o out.lgb",
    "features": "test.csv --trees 2",
    "informative": "test.txt --scores new.txt",
    "inspect": "test.csv",
    "list": "measures",
    "measures": "2,1,0",
    "optimality": "old.pomona test.csv --directions 2",
    "parity": "new.pomona test.csv --engine opensearch-3.5 --tolerance 1",
    "power": "test.txt old.txt new.txt --simulations 10",
    "report": "done",
    "score": "new.pomona test.csv",
    "stats": "test.csv",
    "study": "size spec --dry-run",
    "table": "results.csv",
    "trace": "mart train.txt --iterations 2",
    "train": "mart train.txt -s n_trees=2 -o out.pomona",
    "why": "test.txt new.txt",
    "winning": "results.csv",
}
"""Every verb with what it needs."""
SLOW = ("best", "demo")  # what they print is held by their own tests


def test_every_verb_takes_json():
    verbs = typer.main.get_command(build()).commands
    assert verbs.keys() == WORDS.keys()
    assert [verb for verb, one in verbs.items() if not any("--json" in p.opts for p in one.params)] == []


@pytest.mark.parametrize("verb", sorted(WORDS.keys() - set(SLOW)))
def test_a_verb_prints_nothing_but_json(verb, folder):
    qid = (folder / "test.csv").read_text().splitlines()[1].split(",")[1]
    words = [SPEC if word == "spec" else word.format(qid=qid) for word in WORDS[verb].split()]

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    assert json.loads(run([verb, *words, "--json"], folder), parse_constant=refuse)


def test_what_is_not_finite_is_null(capsys):
    print_json({"a": [1.0, float("nan")], "b": (float("inf"), "x"), "c": None})
    assert json.loads(capsys.readouterr().out) == {"a": [1.0, None], "b": [None, "x"], "c": None}
