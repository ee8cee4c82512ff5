"""What every test runs under, and what the end of the report says of tests that could not run."""

import gc
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HAS_TORCH = find_spec("torch") is not None

_NEED_TORCH = ["tests/rankers/neural/*", "src/pomona/rankers/neural/*", "tests/test_examples.py"]
collect_ignore_glob = [] if HAS_TORCH else _NEED_TORCH

_last: Path | None = None


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
