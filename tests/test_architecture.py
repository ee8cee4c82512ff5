"""The house stands as drawn: arrows between rooms, tests beside sources, an exact front door."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pomona
from pomona._registry import entries

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pomona"

# A room may import itself, the ground (files beside the rooms) and the rooms named here.
ARROWS = {
    "data": set(),
    "measures": set(),
    "trees": set(),
    "stats": set(),
    "tools": {"data", "measures", "trees"},
    "transformers": {"data"},
    "objectives": {"measures"},
    "rankers": {"objectives", "measures", "trees", "data"},
    "experiments": {"rankers", "objectives", "measures", "data", "stats"},
    "testing": {"rankers", "measures", "data"},
    "report": {"experiments", "stats", "measures", "data"},
    "cli": {"report", "experiments", "rankers", "measures", "data", "tools", "stats"},
}
HEAVY = {
    "torch",
    "dask",
    "distributed",
    "altair",
    "vl_convert",
    "optuna",
    "polars",
    "pandas",
    "sklearn",
    "scipy",
}


@cache
def files():
    return sorted(SOURCE.rglob("*.py"))


@cache
def known_in(path):
    """(the modules that a file imports, its functions)."""
    modules, functions = [], []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.FunctionDef):
            functions.append(node)
    return modules, functions


def imports(path):
    return known_in(path)[0]


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_arrows_go_one_way(path):
    parts = path.relative_to(SOURCE).parts
    if len(parts) == 1:
        doors = {
            "__init__.py": {"data", "measures", "rankers", "experiments", "transformers"},
            "__main__.py": {"cli"},
        }
        allowed = doors.get(parts[0], set())
    else:
        assert parts[0] in ARROWS, f"{parts[0]} is not a room"
        allowed = ARROWS[parts[0]] | {parts[0]}
    for module in imports(path):
        names = module.split(".")
        if names[0] == "pomona" and len(names) > 1 and (SOURCE / names[1]).is_dir():
            assert names[1] in allowed, f"{path.relative_to(SOURCE)} must not import {module}"


METHODS = {entry.module for entry in entries("rankers").values()}
"""The files of rankers that are methods; all others are what methods are made of."""


def rooms_below(module):
    """The family of a module of `rankers` ("" for what all families share), and how far below it lies."""
    names = module.split(".")[2:]
    return (names[0], len(names) - 2) if len(names) > 1 else ("", 0)


@pytest.mark.parametrize("path", sorted((SOURCE / "rankers").rglob("*.py")), ids=lambda p: p.stem)
def test_arrows_inside_rankers_go_from_methods_to_what_they_are_made_of(path):
    module = ".".join(("pomona", *path.relative_to(SOURCE).with_suffix("").parts))
    family, depth = rooms_below(module)
    for imported in imports(path):
        file = SOURCE.joinpath(*imported.split(".")[1:]).with_suffix(".py")
        if not imported.startswith("pomona.rankers.") or not file.is_file():
            continue
        other_family, other_depth = rooms_below(imported)
        where = f"{module} must not import {imported}"
        if imported in METHODS:
            assert module in METHODS, f"{where}: a helper that knows a method"
            assert family == other_family, f"{where}: a method of another family"
        assert not (other_family and not family), f"{where}: what all families share knows one of them"
        assert not (family == other_family and other_depth < depth), f"{where}: from below to above"


@pytest.mark.parametrize("family", sorted({rooms_below(method)[0] for method in METHODS}))
def test_a_family_lists_its_methods(family):
    others = set()
    for path in (SOURCE / "rankers" / family).glob("*.py"):
        if f"pomona.rankers.{family}.{path.stem}" not in METHODS and path.stem != "__init__":
            others.add(path.stem)
    assert all(name.endswith("_ranker") for name in others), f"helpers go into a folder below: {others}"


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_numba_and_torch_have_one_home(path):
    where = path.relative_to(SOURCE).as_posix()
    found = {module.split(".")[0] for module in imports(path)}
    assert "numba" not in found or where in ("_compiler.py", "_quickly.py", "_jit.py", "_cuda.py")
    assert "torch" not in found or where.startswith("rankers/neural")


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_measures_are_known_by_what_they_offer(path):
    """Nobody outside their room asks which measure it is: `closed_form` tells all that a learner may use."""
    if path.relative_to(SOURCE).parts[0] != "measures":
        concrete = {entry.module for entry in entries("measures").values()}
        concrete |= {"pomona.measures.position", "pomona.measures.cascade"}
        assert not concrete & set(imports(path))


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_kernels_go_without_annotations(path):
    for node in known_in(path)[1]:
        if node.returns is None:
            decorators = {ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list}
            assert decorators & {"kernel", "intrinsic"}, f"{path.name}: {node.name} has no annotations"


def test_tests_mirror_sources():
    missing = []
    for path in files():
        where = path.relative_to(SOURCE)
        if path.name != "__init__.py":
            twin = ROOT / "tests" / where.parent / f"test_{where.name}"
            if not twin.exists():
                missing.append(str(twin.relative_to(ROOT)))
    assert not missing, f"sources without tests: {missing}"


def test_no_stray_tests():
    for path in (ROOT / "tests").rglob("test_*.py"):
        where = path.relative_to(ROOT / "tests")
        if where.parts[0] == "results":  # mirrors the pages of results, and one file their footnotes
            page = where.stem.removeprefix("test_").replace("_", "-")
            assert page == "footnotes" or (ROOT / "docs" / "results" / f"{page}.md").exists()
        elif len(where.parts) > 1:
            assert (SOURCE / where.parent / where.name.removeprefix("test_")).exists(), (
                f"{where} mirrors nothing"
            )


def test_public_surface():
    assert sorted(pomona.__all__) == [
        "BalancedDraw",
        "BestRanker",
        "Callback",
        "CategoryMean",
        "Checkpoint",
        "Dataset",
        "Measure",
        "PomonaError",
        "PrintProgress",
        "QuartileFill",
        "QueryDifference",
        "QueryKFold",
        "QueryRank",
        "Ranker",
        "StopAfter",
        "Trace",
        "TrainingStep",
        "__version__",
        "compare_measures",
        "convert",
        "duel",
        "evaluate",
        "explain",
        "feature_table",
        "from_model",
        "from_sklearn",
        "infer_relevance",
        "inspect",
        "load",
        "load_model",
        "local_optimality",
        "log_to_mlflow",
        "measure",
        "permutation_importance",
        "power",
        "read",
        "read_letor",
        "read_log",
        "scorer",
        "simulate",
        "write_letor",
    ]
    rankers = {entry.class_name for entry in entries("rankers").values()}
    assert {"LambdaMART", "MART", "McRank", "RCRank", "RandomForest"} <= rankers
    assert set(dir(pomona)) == set(pomona.__all__) | rankers
    for name in dir(pomona):
        assert getattr(pomona, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pomona.nothing


def test_type_checkers_know_every_public_name():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    homes = {(alias.asname, alias.name): node.module for node in block.body for alias in node.names}
    assert homes == {(name, name): home for name, home in pomona._homes().items()}


@pytest.mark.parametrize("start", ["import pomona", "import pomona.cli.app; pomona.cli.app.build()"])
def test_starting_loads_nothing_heavy(start):
    code = f"{start}\nimport sys\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & (HEAVY | {"numba", "numpy"})
