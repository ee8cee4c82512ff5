import json

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.cache import cache
from pomona.errors import UnknownNameError

app = typer.Typer()
app.command()(cache)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path))
    for name, size in (
        ("data/a.pomona", 1000),
        ("kernels/x-1/k.nbi", 500),
        ("vega-1.js", 20),
        ("mine.txt", 7),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return tmp_path


def test_show(home):
    found = json.loads(run("--json").output)
    assert found["directory"] == str(home)
    assert found["data"] == {"files": 1, "bytes": 1000}
    assert found["kernels"] == {"files": 1, "bytes": 500}
    assert "compiled kernels" in run("show").output
    assert (home / "data" / "a.pomona").exists()


def test_clear_a_part_and_all(home):
    run("clear", "--what", "data")
    assert not (home / "data" / "a.pomona").exists()
    assert (home / "kernels" / "x-1" / "k.nbi").exists()
    assert "cleared" in run("clear").output
    assert not (home / "vega-1.js").exists()
    assert (home / "mine.txt").exists()


def test_nothing_is_kept_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "none"))
    assert json.loads(run("--json").output)["data"] == {"files": 0, "bytes": 0}


def test_an_unknown_part(home):
    with pytest.raises(UnknownNameError, match="did you mean 'kernels'"):
        run("--what", "kernel")
