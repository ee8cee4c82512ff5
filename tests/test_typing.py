"""The types that users' type checkers see: a misspelt parameter is an error, and no public name is Any."""

import subprocess
import sys
from pathlib import Path

import pytest

import pomona as pm
from pomona._registry import entries

ROOT = Path(__file__).parents[1]
RANKERS = sorted(entry.class_name for entry in entries("rankers").values())
NAMES = sorted({*pm.__all__, *RANKERS} - {"__version__"})


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What mypy says of a file, by its lines."""
    pytest.importorskip("mypy")
    lines = ["import pomona as pm"]
    lines += [f"reveal_type(pm.{name})" for name in NAMES]
    lines += [f"pm.{name}(n_treees=3)" for name in RANKERS]
    lines += ['pm.LambdaMART(n_trees="many")', "pm.LambdaMART().fit(1, eval_sets=[])"]
    folder = tmp_path_factory.mktemp("typing")
    (folder / "user.py").write_text("\n".join(lines) + "\n")
    # With the settings and in the cache of the check of the package, which has just been made as a rule.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-color-output", folder / "user.py"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        place, _, text = line.partition(": ")
        found.setdefault(lines[int(place.rpartition(":")[2]) - 1], []).append(text)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_public_name_is_any(told, name):
    (said,) = told[f"reveal_type(pm.{name})"]
    assert said.startswith("note: Revealed type is")
    assert said != 'note: Revealed type is "Any"'


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKERS)
def test_a_misspelt_parameter_is_an_error(told, name):
    assert "Unexpected keyword argument" in told[f"pm.{name}(n_treees=3)"][0]


@pytest.mark.slow
def test_values_and_options_of_another_type_are_errors(told):
    assert "incompatible type" in told['pm.LambdaMART(n_trees="many")'][0]
    assert 'did you mean "eval_set"' in told["pm.LambdaMART().fit(1, eval_sets=[])"][0]
