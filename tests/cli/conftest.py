"""What tests of several verbs share."""

import pytest


@pytest.fixture
def in_process(monkeypatch):
    """Do the runs of comparisons in this process: quicker, where processes are not what a test is about."""
    from pomona.experiments.run import execute
    from pomona.experiments.runner import Event

    class HerePool:
        def __init__(self, *_): ...
        def __enter__(self):
            return self

        def __exit__(self, *_): ...
        def run(self, tasks):
            for task in tasks:
                yield Event(task.run)
                yield Event(task.run, execute(task))

    monkeypatch.setattr("pomona.experiments.compare.Pool", HerePool)
