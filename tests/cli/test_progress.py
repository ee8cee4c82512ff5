import io
import re

from rich.console import Console

from pomona.cli.progress import Progress
from pomona.experiments.execute import RunResult
from pomona.experiments.run import RunSpec
from pomona.experiments.runner import RunEvent


def test_the_progress_table():
    progress = Progress("ap", n_shown=3)
    console = Console(file=io.StringIO(), width=100)
    console.print(progress)
    runs = [
        RunSpec("toy", fold, label, "mart", {}, 0, f"{fold}") for fold in (1, 2, 3) for label in ("A", "B")
    ]
    runs = [RunSpec(*[*vars(one).values()][:4], {"label": one.ranker}, 0, one.data) for one in runs]
    done = {"state": "done", "record": {"means": {"test": {"ap": 0.25}}}}
    progress.start(runs, {runs[0].id: done})
    for one in runs[1:5]:
        progress.see(RunEvent(one))
    progress.see(RunEvent(runs[1], RunResult(runs[1].id, "done", record={"means": {"test": {"ap": 0.5}}})))
    progress.see(RunEvent(runs[2], RunResult(runs[2].id, "failed", "out of memory")))
    console.print(progress)
    text = console.file.getvalue()
    assert "reading and checking the data" in text
    assert "2 of 6 done, 1 failed" in text
    assert "best so far: B, test ap 0.5000" in text
    assert re.search(r"toy fold 2 A seed 0 +failed +0\.0 s +out of memory", text)
    assert re.search(r"toy fold 3 A seed 0 +running", text)
    assert "toy fold 1 B" not in text  # there is room for three


def test_the_best_so_far_is_not_chosen_by_test_queries():
    progress = Progress("ap", is_quiet=True)
    runs = [RunSpec("toy", 1, label, "mart", {"label": label}, 0, "1") for label in ("A", "B")]
    progress.start(runs, {})
    for one, valid, test in zip(runs, (0.6, 0.4), (0.1, 0.9), strict=True):
        progress.see(RunEvent(one))
        means = {"train": {"ap": 1.0}, "valid": {"ap": valid}, "test": {"ap": test}}
        progress.see(RunEvent(one, RunResult(one.id, "done", record={"means": means})))
    assert progress.best == "; best so far: A, validation ap 0.6000"
