"""What every test runs under, and what the end of the report says of tests that could not run."""

import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Two workers have more threads than there are cores: one that waits for others must not keep a core busy.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Containers often ask for no bytecode; both workers, and a hundred processes, would compile the same sources.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No test takes the power away, and waiting for the disk takes longer than many a test.
os.fsync = lambda descriptor: None

HAS_TORCH = find_spec("torch") is not None

_NEED_TORCH = ["tests/rankers/neural/*", "src/pomona/rankers/neural/*", "tests/test_examples.py"]
collect_ignore_glob = [] if HAS_TORCH else _NEED_TORCH

# Begun first, these leave nothing long to the end, when one worker of `pytest -n` would wait for the other.
_LONGEST = (
    "tests/rankers/test_base.py",
    "tests/experiments/test_compare.py",
    "tests/experiments/test_runner.py",
    "tests/test_examples.py",
)

_last: Path | None = None


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Put the longest files first."""
    place = {name: rank for rank, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


def pytest_runtest_setup(item: Any) -> None:
    """Between two files, exempt what has been imported and collected by then from later garbage collections.

    There are some million such objects, and `PeakMemory` collects garbage before every run of a comparison.
    """
    global _last
    if item.path != _last:
        _last = item.path
        gc.collect()
        gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say it where PyTorch is missing."""
    if not HAS_TORCH:
        terminalreporter.section("torch is not installed")
        terminalreporter.line("the neural rankers were not tested: pip install 'pomona[neural]'")
