"""Where PyTorch is missing, the neural rankers cannot be tested: the end of the report says so."""

from importlib.util import find_spec
from typing import Any

HAS_TORCH = find_spec("torch") is not None

_NEED_TORCH = ["tests/rankers/neural/*", "src/pomona/rankers/neural/*", "tests/test_examples.py"]
collect_ignore_glob = [] if HAS_TORCH else _NEED_TORCH


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say it."""
    if not HAS_TORCH:
        terminalreporter.section("torch is not installed")
        terminalreporter.line("the neural rankers were not tested: pip install 'pomona[neural]'")
