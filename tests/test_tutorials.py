"""The tutorials: every block of code runs, in order, and prints what the page says it prints.

`…` on a page stands for anything. Digits are left out where a better default of a ranker would change them.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pomona.cli.app import build

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md"))
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed_by(kind, block, names):
    """What a block prints: Python in the names of the page, or lines that begin with `$ pomona`."""
    if kind == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "tutorial", "exec"), names)
        return out.getvalue()
    lines = block.splitlines()
    assert all(line.startswith("$ pomona ") for line in lines), block
    printed = ""
    for line in lines:
        result = CliRunner().invoke(build(), shlex.split(line)[2:], catch_exceptions=False)
        assert result.exit_code == 0, (line, result.output)
        printed += result.stdout
    return printed


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    names, printed = {"__name__": "tutorial"}, ""
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    assert BLOCK.search(text)
    for kind, block in BLOCK.findall(text):
        if kind == "text":
            pattern = ".*".join(map(re.escape, block.strip().split("…")))
            same = re.fullmatch(pattern, printed.strip(), re.DOTALL)
            assert same, f"{page} says\n{block}\nbut what comes is\n{printed}"
        else:
            printed = printed_by(kind, block, names)


def test_there_are_four():
    assert PAGES == ["compare", "evaluate", "own", "production"]
