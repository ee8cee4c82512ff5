"""Say why two tools' numbers differ, rule by rule."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from pomona.cli import options as option
from pomona.cli.options import Data, DocId, Json, Label, Measure, Qid, Scores, named_columns


def why(
    data: Data,
    scores: Scores,
    measure: Measure = "ndcg@10",
    first: Annotated[str, typer.Option("--from", help="The convention to start from.")] = "definition",
    last: Annotated[str, typer.Option("--to", help="The convention to arrive at.")] = "letor4",
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Attribute the difference between two tools' numbers to their rules.

    Rules change one at a time, from one convention to the other: how scores are read and ties broken, gain,
    discount, cut-off, short queries, empty queries. The parts sum to the whole.

    \b
    Example:  pomona why test.txt scores.txt -m ndcg@10 --from yahoo --to letor4
    """
    from pomona.cli.inputs import read_judged
    from pomona.cli.output import print_json
    from pomona.measures.gap import explain_gap
    from pomona.measures.parse import measure as parse

    option.refuse_unused_convention("--from and --to", first, [measure])
    judged, _ = read_judged(data, scores, named_columns(label, qid, doc_id))
    gap = explain_gap(judged, parse(measure, first), parse(measure, last))
    if as_json:
        parts = [dataclasses.asdict(part) for part in gap.parts]
        ends = {"from": str(gap.first), "to": str(gap.last), "difference": gap.difference}
        print_json({**ends, "values": list(gap.values), "parts": parts})
    else:
        typer.echo(str(gap))
