"""The options that several verbs have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="For machines.")]
Data = Annotated[Path, typer.Argument(help="LETOR text or a table (CSV, Parquet …), compressed or not.")]
Sources = Annotated[list[str], typer.Argument(help="Files, fold directories or names of collections.")]
Scores = Annotated[Path, typer.Argument(help="One score a line, in input order.")]
Model = Annotated[
    Path,
    typer.Argument(help="A model file: what `pomona train` wrote, or LightGBM, XGBoost, CatBoost, RankLib."),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure", "-m", help="e.g. ndcg@10, letor4:ndcg@10, rbp(p=0.8); repeat or separate by commas."
    ),
]
Output = Annotated[
    Path | None, typer.Option("--out", "-o", help="Where to write; standard output if left out.")
]
ReportDirectory = Annotated[
    Path | None, typer.Option("--out", "-o", help="A directory for report, tables, figures.")
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Processes; 1 gives the fairest times.")]
Label = Annotated[str | None, typer.Option(help="The label column of a table [label].")]
Qid = Annotated[str | None, typer.Option(help="The query column of a table [qid].")]
DocId = Annotated[str | None, typer.Option(help="The document id column of a table.")]


def named_columns(label: str | None, qid: str | None, doc_id: str | None) -> dict[str, Any]:
    """The columns that were named, as `pomona.read` takes them."""
    columns = {"label": label, "qid": qid, "doc_id": doc_id}
    return {key: name for key, name in columns.items() if name is not None}


def split_measures(texts: list[str] | None) -> list[str]:
    """The measures of all the options; commas inside parentheses belong to a measure."""
    from pomona._parameters import split_outside

    return [measure for text in texts or [] for measure in split_outside(text)]
