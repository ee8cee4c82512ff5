"""The recipes of CONTRIBUTING.md work: each file is dropped into a copy of the package, which finds it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pomona as pm

ROOT = Path(__file__).parents[1]
RECIPES = dict(
    re.findall(
        r"^```python\n# (src/pomona/\S+)\n(.*?)^```$",
        (ROOT / "CONTRIBUTING.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package with all recipes in it."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in RECIPES.items():
        assert not (root / path).exists()
        (root / path).write_text(text)
    return root


def run(copy, *command):
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    result = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, cwd=copy, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_there_are_five():
    assert [Path(path).parts[2] for path in RECIPES] == ["measures", "rankers", "report", "trees", "cli"]


def test_a_measure_and_a_ranker_keep_the_contract(copy):
    code = """
import pomona as pm
from pomona.testing import check_measure, check_ranker
print(pm.measure("mine@3").of_query([2, 0, 1]), pm.measure("letor4:mine@3").of_query([2, 0, 1]))
check_measure(pm.measure("mine"))
check_ranker(pm.MeanGap)
"""
    assert run(copy, "-c", code).split() == [str(3 / 1 + 1 / 3), str(2 / 1 + 1 / 3)]


def test_a_section_and_a_format_are_found(copy):
    code = """
import json
import pomona as pm
from pomona._registry import entries
from pomona.report.section import sections_of
print([section.name for section in sections_of("comparison")][-2:])
print(len(json.loads(pm.load_model("m.pomona").exported("nested"))))
"""
    # Fitted here: of the copy, the kernels would be compiled anew.
    pm.MART(n_trees=2, n_leaves=3).fit(pm.simulate(20, n_features=3, seed=1)).save(copy / "m.pomona")
    assert run(copy, "-c", code).split("\n")[:2] == ["['extent', 'repeat']", "3"]


def test_a_verb_is_found(copy):
    (copy / "data.txt").write_text("1 qid:a 1:2\n0 qid:a 1:3\n0 qid:b 1:1\n")
    app = ("-c", "from pomona.cli import main; main()")
    assert run(copy, *app, "sizes", "data.txt") == "a 2\nb 1\n"
    assert "How many documents each query has." in run(copy, *app, "--help")
