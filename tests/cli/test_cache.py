import json

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.cache import cache
from pomona.errors import UnknownNameError

A, B = "0123456789abcdef" * 2, "f" * 16
COPY = f"pomona-parsed/{A}.pomona"
KERNEL = f"pomona-kernels/grower-{B}/trees_{A}{'0' * 8}/grower.fit-7.py311.nbi"
LOCK = f"pomona-kernels/grower-{B}/fit.lock"
SCRIPT = "pomona-vega/vega-1.9.0.js"
OWN = (
    (COPY, b"POMONA\0\1", 1000),
    (f"pomona-parsed/.{A}.pomona.{B}.part", b"POMONA\0\1", 10),
    (f"pomona-parsed/{A}.00ff00ff.came", b"POMONA\0\1", 20),
    (KERNEL, b"\x80\4", 400),
    (KERNEL[:-1] + "c", b"\x80\4", 100),
    (LOCK, b"", 0),
    (SCRIPT, b"/* kept by Pomona */\n", 50),
)
STRANGERS = (
    *("mine.txt", "data/raw/mine.csv", "kernels/mine.nbi", "vega-1.js", "vega-embed.js", "a.pomona"),
    *("pomona-parsed/mine.csv", f"pomona-parsed/{B * 2}.pomona", f"pomona-parsed/sub/{A}.pomona"),
    *("pomona-parsed/model.pomona", f"pomona-parsed/.mine.{B}.part"),
    *("pomona-kernels/mine.nbi", f"pomona-kernels/grower-{B}/mine.txt", f"pomona-kernels/grower-{B}/my.lock"),
    *(f"pomona-kernels/own-{B}/x_{A}{'0' * 8}/mine.nbi", "pomona-kernels/code/a/b.nbc"),
    *("pomona-vega/vega-2.js", "pomona-vega/page.js"),
)


app = typer.Typer()
app.command()(cache)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path))
    for name, start, size in OWN:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(start.ljust(size, b"x"))
    return tmp_path


def test_show(home):
    found = json.loads(run("--json").output)
    assert found["directory"] == str(home)
    assert found["data"] == {"files": 3, "bytes": 1030}
    assert found["kernels"] == {"files": 3, "bytes": 500}
    assert found["vega"] == {"files": 1, "bytes": 50}
    assert "compiled kernels" in run("show").output
    assert (home / COPY).exists()


def test_clear_a_part_and_all(home):
    run("clear", "--what", "data")
    assert not (home / COPY).exists()
    assert (home / KERNEL).exists()
    assert "cleared" in run("clear").output
    assert not [path for path in home.rglob("*") if path.is_file()]
    assert [path.name for path in (home / "pomona-kernels").iterdir()] == []  # nor empty folders


def test_what_others_put_anywhere_stays(home, tmp_path_factory):
    """Files of any name and content but our own, and links to files and folders, whatever they are called."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in STRANGERS:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"precious")
    (home / "empty" / "folder").mkdir(parents=True)
    (home / "pomona-parsed" / "empty").mkdir()
    for name, start, size in OWN:  # what looks like ours behind a link
        (elsewhere / name).parent.mkdir(parents=True, exist_ok=True)
        (elsewhere / name).write_bytes(start.ljust(size, b"x"))
    (home / "pomona-parsed" / f"{B[::-1]}{A[:16]}.pomona").symlink_to(elsewhere / COPY)
    (home / "pomona-kernels" / f"linked-{B}").symlink_to(elsewhere / "pomona-kernels" / f"grower-{B}")
    before = {path for top in (home, elsewhere) for path in top.rglob("*")}
    run("clear")
    own = {home / name for name, _, _ in OWN}
    gone = before - {path for top in (home, elsewhere) for path in top.rglob("*")}
    assert gone - own == {(home / KERNEL).parent}
    assert all((home / name).read_bytes() == b"precious" for name in STRANGERS)


def test_a_part_that_is_a_link_is_left_alone(home, tmp_path):
    other = tmp_path / "other"
    (home / "pomona-parsed").rename(other)
    (home / "pomona-parsed").symlink_to(other)
    assert json.loads(run("clear", "--json").output)["data"]["files"] == 0
    assert (other / COPY.rpartition("/")[2]).exists()


def test_nothing_is_kept_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "none"))
    assert json.loads(run("--json").output)["data"] == {"files": 0, "bytes": 0}


def test_an_unknown_part(home):
    with pytest.raises(UnknownNameError, match="did you mean 'kernels'"):
        run("--what", "kernel")
