"""The types that users' type checkers see: a misspelt parameter is an error, and no public name is Any."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pomona as pm
from pomona._registry import entries

ROOT = Path(__file__).parents[1]
RANKERS = sorted(entry.class_name for entry in entries("rankers").values())
NAMES = sorted({*pm.__all__, *RANKERS} - {"__version__"})
LINES = [
    "import pomona as pm",
    *(f"reveal_type(pm.{name})" for name in NAMES),
    *(f"pm.{name}(n_treees=3)" for name in RANKERS),
    'pm.LambdaMART(n_trees="many")',
    "pm.LambdaMART().fit(1, eval_sets=[])",
]
PAGES = [
    "README.md",
    "docs/index.md",
    *(f"docs/tutorials/{page}.md" for page in ("evaluate", "compare", "production", "own")),
]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What mypy says of a file, by its lines."""
    folder = tmp_path_factory.mktemp("typing")
    (folder / "user.py").write_text("\n".join(LINES) + "\n")
    # With the settings and in the cache of the check of the package, which has just been made as a rule.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-color-output", folder / "user.py"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        place, _, text = line.partition(": ")
        found.setdefault(LINES[int(place.rpartition(":")[2]) - 1], []).append(text)
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


@pytest.fixture(scope="module")
def told_by_pyright(tmp_path_factory):
    """What pyright says of the same file and of the code of some pages, by their lines."""
    folder = tmp_path_factory.mktemp("pyright")
    texts = {"user.py": "\n".join(LINES) + "\n"}
    for page in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
        texts[f"{Path(page).stem}.py"] = "\n".join(["import pomona as pm", *blocks])
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", folder]
    output = json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout)
    found: dict[str, list[str]] = {}
    for one in output["generalDiagnostics"]:
        name = Path(one["file"]).name
        line = texts[name].splitlines()[one["range"]["start"]["line"]].strip()
        found.setdefault(f"{name}: {line}", []).append(one["message"])
    return found


@pytest.mark.slow
def test_pyright_knows_every_public_name_and_parameter(told_by_pyright):
    for name in NAMES:
        (said,) = told_by_pyright[f"user.py: reveal_type(pm.{name})"]
        assert not re.fullmatch(r'Type of ".*" is "(Any|Unknown)"', said), said
    for name in RANKERS:
        assert told_by_pyright[f"user.py: pm.{name}(n_treees=3)"] == ['No parameter named "n_treees"']


@pytest.mark.slow
def test_pyright_finds_nothing_in_the_pages_but_the_mistake_that_one_shows(told_by_pyright):
    rest = {line: said for line, said in told_by_pyright.items() if not line.startswith("user.py")}
    assert rest == {"own.py: Blend(steps=0.1)": ['No parameter named "steps"']}
