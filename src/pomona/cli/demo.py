"""The main job with nothing prepared: simulated web search, several rankers, statistics, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pomona.cli.options import Jobs, Json

_RANKERS = (
    "LambdaMART=lambdamart(n_trees=100)",
    "LambdaMART oblivious=lambdamart(growth=oblivious, n_trees=100)",
    "MART=mart(n_trees=100)",
    "RandomForest=randomforest(n_trees=50)",
    "linearregression",
    "bestfeature",
)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory of the store and the report.")] = Path(
        "pomona-demo"
    ),
    queries: Annotated[int, typer.Option(min=20, help="How many queries to simulate.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Simulate a small web search, compare six rankers on it by cross-validation, and write the report.

    \b
    Example:  pomona demo --queries 1000
    """
    from pomona.cli.compare import Progress, present
    from pomona.experiments.spec_options import spec_from_options

    spec = spec_from_options(
        [f"web search=simulate(queries={queries}, seed={seed})"],
        ", ".join(_RANKERS),
        name="demo",
        measures=["ndcg@10", "err@20", "ap"],
        conventions=["definition", "mslr", "yahoo"],
        n_folds=3,
        seeds=[seed],
    )
    present(spec, out, Progress(spec.main, is_quiet=as_json), n_jobs=jobs)
