"""Score documents with a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def score(
    model: Annotated[Path, typer.Argument(help="A model file that `pomona train` wrote.")],
    data: Annotated[Path, typer.Argument(help="LETOR file or table; its labels are not looked at.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write; standard output if left out.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines: one JSON list.")] = False,
) -> None:
    """Write one score a line, in the order of the input (the form the LETOR scripts read).

    \b
    Example:  pomona score model.pomona test.txt -o scores.txt
    """
    import numpy as np

    from pomona._arrays import whole_file
    from pomona.cli.inputs import read_data
    from pomona.cli.output import print_json
    from pomona.rankers.base import load_model

    ranker = load_model(model)
    dataset = read_data(data)
    missing = ranker.n_features_in_ - dataset.n_features
    if missing > 0:  # a sparse file need not mention the last features
        typer.echo(
            f"note: the last {missing} features of the model do not occur in {data}: taken as 0", err=True
        )
        dataset = dataset.replace(X=np.pad(dataset.X, ((0, 0), (0, missing))))
    ordered = dataset.to_input_order(ranker.predict(dataset))
    if as_json:
        print_json(ordered.tolist())
        return
    text = "".join(f"{value!r}\n" for value in ordered.tolist())
    if out is None:
        typer.echo(text, nl=False)
    else:
        with whole_file(out) as file:
            file.write(text.encode())
