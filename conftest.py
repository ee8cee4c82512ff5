"""Where PyTorch is missing, the neural rankers cannot be tested: this says so at the top of the report."""

from importlib.util import find_spec
from typing import Any

HAS_TORCH = find_spec("torch") is not None

collect_ignore_glob = []
if not HAS_TORCH:
    collect_ignore_glob += ["tests/rankers/neural/*", "src/pomona/rankers/neural/*"]


def pytest_report_header() -> list[str]:
    """Say it before the tests."""
    return [] if HAS_TORCH else ["NOT TESTED: the neural rankers, as torch is not installed"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say it after the tests."""
    if not HAS_TORCH:
        terminalreporter.section("torch is not installed")
        terminalreporter.line("the neural rankers were not tested: pip install 'pomona[neural]'")
