"""Say why two tools' numbers differ, rule by rule."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer


def why(
    data: Annotated[Path, typer.Argument(help="LETOR file or table with labels.")],
    scores: Annotated[Path, typer.Argument(help="One score a line, in input order.")],
    measure: Annotated[str, typer.Option("--measure", "-m", help="One measure, e.g. ndcg@10.")] = "ndcg@10",
    first: Annotated[str, typer.Option("--from", help="The convention to start from.")] = "definition",
    last: Annotated[str, typer.Option("--to", help="The convention to arrive at.")] = "letor4",
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Attribute the difference between two tools' numbers to their rules.

    Rules change one at a time, from one convention to the other: how scores are read and ties broken, gain,
    discount, cut-off, short queries, empty queries. The parts sum to the whole.

    \b
    Example:  pomona why test.txt scores.txt -m ndcg@10 --from yahoo --to letor4
    """
    from pomona.cli.inputs import read_data, read_scores
    from pomona.cli.output import print_json
    from pomona.measures.gap import explain_gap
    from pomona.measures.judge import scored_queries
    from pomona.measures.parse import measure as parse

    dataset = read_data(data)
    given = dataset.from_input_order(read_scores(scores, dataset.n_docs))
    gap = explain_gap(scored_queries(dataset, given), parse(measure, first), parse(measure, last))
    if as_json:
        parts = [dataclasses.asdict(part) for part in gap.parts]
        ends = {"from": str(gap.first), "to": str(gap.last), "difference": gap.difference}
        print_json({**ends, "values": list(gap.values), "parts": parts})
    else:
        typer.echo(str(gap))
