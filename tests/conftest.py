"""What the tests share: how hypothesis runs, and where other tools' numbers are."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The first example of a test may compile a kernel, which no deadline should count.
settings.register_profile(
    "pomona", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pomona")


@pytest.fixture(scope="session")
def oracles() -> Path:
    """The folder of other tools' inputs and printed outputs; tests that need it skip without."""
    folder = Path(os.environ.get("POMONA_ORACLES", Path(__file__).parents[2] / "shared" / "oracles"))
    if not folder.is_dir():
        pytest.skip("no oracle folder: set POMONA_ORACLES")
    return folder


@pytest.fixture
def in_process(monkeypatch):
    """Do the runs of comparisons in this process: quicker, where processes are not what a test is about."""
    from here_runner import HereRunner

    monkeypatch.setattr("pomona.experiments.compare.LocalRunner", HereRunner)
    monkeypatch.setattr("pomona.experiments.execute._MOST_TIMINGS", 1)
