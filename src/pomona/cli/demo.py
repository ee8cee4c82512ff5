"""The main job with nothing prepared: simulated web search, trivial scorers, the judge's table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_MEASURES = ("ndcg@10", "err@20", "ap", "mslr:ndcg@10", "yahoo:ndcg@10")


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where to put the data, the scores and the table.")
    ] = Path("pomona-demo"),
    queries: Annotated[int, typer.Option(help="How many queries to simulate.")] = 300,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Simulate a small web search, rank it by every single feature, and judge the rankings.

    \b
    Example:  pomona demo --queries 1000
    """
    import numpy as np

    from pomona.cli.output import print_json, print_table
    from pomona.data.letor import write_letor
    from pomona.data.simulate import simulate
    from pomona.measures.gap import explain_gap
    from pomona.measures.judge import evaluate, judged_of
    from pomona.measures.parse import measure

    data = simulate(queries, seed=seed)
    scorers = {name: data.X[:, j].astype(np.float64) for j, name in enumerate(data.feature_names)}
    scorers["random order"] = np.random.default_rng(seed).random(data.n_docs)
    scorers["perfect order"] = data.y.astype(np.float64)
    table = {
        name: dict(evaluate(data, scores, _MEASURES, ties="expected")) for name, scores in scorers.items()
    }
    ranked = sorted(table, key=lambda name: -table[name][_MEASURES[0]])
    best = ranked[1] if ranked[0] == "perfect order" else ranked[0]

    out.mkdir(parents=True, exist_ok=True)
    write_letor(data, out / "data.txt")
    np.savetxt(out / "scores.txt", scorers[best], fmt="%.9g")
    lines = [",".join(["scorer", *_MEASURES])]
    lines += [",".join([name, *(f"{table[name][m]:.6f}" for m in _MEASURES)]) for name in ranked]
    (out / "table.csv").write_text("\n".join(lines) + "\n")
    if as_json:
        print_json({"data": repr(data), "best": best, "table": {name: table[name] for name in ranked}})
        return
    typer.echo(f"simulated web search: {data.n_queries} queries, {data.n_docs} documents\n")
    shown = [*[name for name in ranked if name != "random order"][:9], "random order"]
    print_table(
        ["ranked by", *_MEASURES], [[name, *(f"{table[name][m]:.4f}" for m in _MEASURES)] for name in shown]
    )
    typer.echo(f"\nThe same ranking ({best}), two tools, two numbers. Why:\n")
    judged = judged_of(data, scorers[best])
    ends = [measure(f"{tool}:ndcg(ties=expected)@10") for tool in ("yahoo", "mslr")]
    typer.echo(str(explain_gap(judged, *ends)))
    typer.echo(f"\nall {len(table)} scorers: {out / 'table.csv'}\nnow try:\n")
    files = f"{out / 'data.txt'} {out / 'scores.txt'}"
    typer.echo(f"  pomona evaluate {files} --all-conventions")
    typer.echo(f"  pomona why {files} -m ndcg@10 --from sklearn --to ranklib")
