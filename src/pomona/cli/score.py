"""Score documents with a saved model."""

from __future__ import annotations

import typer

from pomona.cli.options import Data, DocId, Json, Label, Model, Output, Qid, named_columns


def score(
    model: Model,
    data: Data,
    out: Output = None,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Write one score a line, in the order of the input (the form the LETOR scripts read).

    The labels of the data are not looked at: a table need not have any, nor a query column if the model
    scores each document by itself. With --json the scores are one list,
    unless they go to a file.

    \b
    Example:  pomona score model.pomona test.txt -o scores.txt
              pomona score model.pomona today.parquet --qid query -o scores.txt
    """
    from pomona._arrays import whole_file
    from pomona.cli.inputs import read_for_model
    from pomona.cli.output import print_json
    from pomona.rankers.loading import load_model

    ranker = load_model(model)
    dataset = read_for_model(data, ranker, named_columns(label, qid, doc_id))
    ordered = ranker.predict(dataset)
    text = "".join(f"{value!r}\n" for value in ordered.tolist())
    if out is not None:
        with whole_file(out) as file:
            file.write(text.encode())
        if as_json:
            print_json({"file": str(out), "documents": len(ordered)})
    elif as_json:
        print_json(ordered.tolist())
    else:
        typer.echo(text, nl=False)
