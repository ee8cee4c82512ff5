"""The dataset table: queries, documents, features, query lengths, labels, undefined values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pomona.cli.options import DocId, Json, Label, Qid, Sources, named_columns

if TYPE_CHECKING:
    from pomona.data.dataset import Dataset
    from pomona.data.statistics import Statistics


def stats(
    data: Sources,
    parts: Annotated[bool, typer.Option("--parts", help="One row for each part of the data.")] = False,
    joined: Annotated[bool, typer.Option("--joined", help="Add a row for all data together.")] = False,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Print one row of statistics for each dataset. Features counts the distinct features that occur: a
    number that a sparse file never mentions does not count, a feature that is always 0 does. Mode is the
    most frequent number of documents of a query (the smallest of equals). Mean label is divided by the
    largest label. Undefined says whether a line leaves out, or marks as missing, a feature.

    \b
    Example:
        pomona stats mq2007 mq2008 --joined
        pomona stats Fold1/train.txt Fold1/vali.txt --json
    """
    from pomona.cli.inputs import distinct
    from pomona.cli.output import print_json, print_table
    from pomona.data.read import read_parts
    from pomona.data.statistics import describe

    distinct(data)
    rows: dict[str, Statistics] = {}
    everything: list[Dataset] = []
    n_parts = 0
    for source in data:
        read = read_parts(source, **named_columns(label, qid, doc_id), undefined=float("nan"))
        everything += read.values()
        n_parts = max(n_parts, len(read))
        if parts and len(read) > 1:
            rows.update({f"{source} {name}": describe(part) for name, part in read.items()})
        else:
            rows[source] = describe(*read.values())
    if parts and n_parts == 1:
        raise typer.BadParameter("--parts has no effect: a file is one part")
    if joined:
        rows["joined"] = describe(*everything)
    if as_json:
        print_json([{"data": name, **row.to_json()} for name, row in rows.items()])
    else:
        table = {name: row.row() for name, row in rows.items()}
        head = max(table.values(), key=len, default={})  # a column more where documents are not judged
        rows_of_text = [[name, *(row.get(title, "0") for title in head)] for name, row in table.items()]
        print_table(["Data", *head], rows_of_text)
