"""The main job with nothing prepared: simulated web search, several rankers, statistics, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pomona.cli.options import Jobs, Json, Seed, WorkDirectory

_RANKERS = (
    "LambdaMART=lambdamart(n_trees=100)",
    "LambdaMART leaf-wise=lambdamart(growth=leafwise, n_trees=100)",
    "MART=mart(n_trees=100)",
    "RandomForest=randomforest(n_trees=50)",
    "linearregression",
    "bestfeature",
)


def demo(
    out: WorkDirectory = None,
    queries: Annotated[int, typer.Option("--n-queries", min=20, help="How many queries to simulate.")] = 300,
    seed: Seed = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Simulate a small web search, compare six rankers on it by cross-validation, and write the report.

    The report [pomona-demo] also shows how one ranker learns, document by document (`pomona trace`).

    \b
    Example:  pomona demo --n-queries 1000
    """
    from pomona._pool import start_early, thread_counts
    from pomona._threads import n_threads

    n_jobs = jobs or n_threads()  # before anything else is loaded
    start_early(n_jobs, thread_counts(max(1, n_threads() // n_jobs)), "pomona.experiments.execute")
    from pomona.rankers.forests.training.first_steps import compile_ahead

    compile_ahead()
    from pomona.cli.compare import present
    from pomona.cli.progress import Progress
    from pomona.experiments.spec_options import spec_from_options
    from pomona.report.file import own_folder

    spec = spec_from_options(
        [f"web search=simulate(queries={queries}, seed={seed})"],
        ", ".join(_RANKERS),
        name="demo",
        measures=["ndcg@10", "err@20", "ap"],
        conventions=["definition", "ranklib"],
        n_folds=3,
        seeds=[seed],
    )
    out = out or Path("pomona-demo")
    if not (out / "store.sqlite").is_file():  # of an earlier demo
        own_folder(out)
    watch, few = Progress(spec.main, is_quiet=as_json), min(queries, 100)
    present(spec, out, watch, n_jobs=jobs, prepare=lambda: _watch_one(out, spec.name, few, seed))


def _watch_one(directory: Path, comparison: str, n_queries: int, seed: int) -> None:
    """Trace a small LambdaMART on the first of the queries, for the report."""
    from pomona.data.simulate import simulate
    from pomona.rankers.forests.lambdamart import LambdaMART
    from pomona.rankers.trace import Trace

    trace = Trace()
    ranker = LambdaMART(n_trees=50, n_leaves=10, normalize=False, truncation=None, noise=0, seed=seed)
    ranker.fit(simulate(n_queries, seed=seed), trace=trace)
    trace.facts["comparison"] = comparison
    trace.write(directory)
