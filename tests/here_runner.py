"""Runs of comparisons in the process of the tests: quicker, where processes are not what a test is about."""

import gc

from pomona.experiments.execute import execute, rehearse
from pomona.experiments.runner import RunEvent


class HereRunner:
    def __init__(self, *_): ...
    def __enter__(self):
        return self

    def __exit__(self, *_): ...
    def run(self, tasks, *, is_rehearsal=False):
        gc.collect()
        gc.freeze()  # as a process of runs does: each of them begins with a collection
        for task in tasks:
            yield RunEvent(task.run)
            yield RunEvent(task.run, rehearse(task) if is_rehearsal else execute(task))
