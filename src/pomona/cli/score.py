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

    The labels of the data are not looked at. With --json the scores are one list.

    \b
    Example:  pomona score model.pomona test.txt -o scores.txt
    """
    from pomona._arrays import whole_file
    from pomona.cli.output import print_json
    from pomona.data.read import read
    from pomona.data.table import is_table
    from pomona.rankers.base import load_model

    ranker = load_model(model)
    dataset = read(data, **named_columns(label, qid, doc_id))
    missing = ranker.n_features_in_ - dataset.n_features
    if missing > 0 and not is_table(data):  # a sparse file need not mention the last features
        typer.echo(
            f"note: the last {missing} features of the model do not occur in {data}: taken as 0", err=True
        )
        dataset = dataset.widened(ranker.n_features_in_)
    ordered = ranker.predict(dataset)
    if as_json:
        print_json(ordered.tolist())
        return
    text = "".join(f"{value!r}\n" for value in ordered.tolist())
    if out is None:
        typer.echo(text, nl=False)
    else:
        with whole_file(out) as file:
            file.write(text.encode())
