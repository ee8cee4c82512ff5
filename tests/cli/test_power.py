import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.power import power
from pomona.errors import InputError

app = typer.Typer()
app.command()(power)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("power")
    data = pm.simulate(30, docs_per_query=8, n_features=3, seed=1)
    pm.write_letor(data, folder / "test.txt")
    y = pm.read(folder / "test.txt").y
    random = np.random.default_rng(0)
    for name, spread in (("old", 2), ("new", 1)):
        np.savetxt(folder / f"{name}.txt", y + spread * random.standard_normal(len(y)))
    (folder / "pilot.csv").write_text("qid,old,new\n1,0.5,0.7\n2,0.4,0.4\n3,0.2,0.5\n4,0.8,0.7\n")
    return folder


def test_two_systems(folder, tmp_path):
    systems = folder / "test.txt", folder / "old.txt", folder / "new.txt"
    found = json.loads(
        run(*systems, "-m", "ap", "--json", "--simulations", 100, "--out", tmp_path / "r").output
    )
    data = pm.read(systems[0])
    d = [pm.evaluate(data, np.loadtxt(path), "ap", per_query=True)["ap"] for path in systems[1:]]
    assert found["power"][0]["observed"] == pytest.approx((d[1] - d[0]).mean())
    assert "How many queries?" in (tmp_path / "r" / "report.html").read_text()


def test_a_table_of_values(folder):
    result = run(folder / "pilot.csv", "--columns", "old,new", "--difference", 0.05, "--simulations", 100)
    expected = pm.power([0.7, 0.4, 0.5, 0.7], [0.5, 0.4, 0.2, 0.8], difference=0.05)
    assert f"{expected.needed} queries show a difference of 0.0500" in result.output
    assert "tells little" in result.output


def test_runs(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in range(12)))
    (tmp_path / "old").write_text("".join(f"{q} Q0 b 1 2 t\n{q} Q0 a 2 1 t\n" for q in range(12)))
    (tmp_path / "new").write_text("".join(f"{q} Q0 {'ab'[q % 2]} 1 2 t\n" for q in range(12)))
    arguments = ("--qrels", tmp_path / "qrels", tmp_path / "old", tmp_path / "new", "-m", "rr", "--json")
    found = json.loads(run(*arguments, "--simulations", 10).output)
    assert found["power"][0]["observed"] == pytest.approx((6 * 0.5 + 6 * -0.5) / 12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("test.txt", "old.txt"), "found 2 files, expected DATA OLD NEW"),
        (("pilot.csv", "--columns", "old,x"), "no column 'x'"),
        (("pilot.csv", "--columns", "qid,old,new"), "found 3 columns"),
        (("pilot.csv", "--columns", "old,new", "--power", "2"), "found power 2"),
    ],
)
def test_refused(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=message):
        run(*arguments)
