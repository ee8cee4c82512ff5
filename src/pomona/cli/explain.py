"""Why is document A above document B? The scores of a list, taken apart by feature."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pomona.cli.options import QUERY, Data, DocId, Json, Label, Model, Qid, ReportDirectory, named_columns

if TYPE_CHECKING:
    from pomona.experiments.analysis.explain import ExplainedQuery

_SHOWN = 10


def explain(
    model: Model,
    data: Data,
    query: Annotated[str, QUERY],
    docs: Annotated[
        str | None,
        typer.Option(
            help="Two documents, A,B, by their ids (or numbers in the query, from 1, where there are none); "
            "the first two of the list if left out."
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Of forests: path (as LightGBM’s pred_contrib) or interventional.")
    ] = None,
    background: Annotated[
        Path | None,
        typer.Option(
            help="Data that tell what is expected [what a forest knows of its training; else DATA]."
        ),
    ] = None,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    out: ReportDirectory = None,
    as_json: Json = False,
) -> None:
    """Tell why one document stands above another: what each feature adds to their scores.

    Forests: exact Shapley values (TreeSHAP). Linear models: weight times feature, from its mean. Networks:
    gradient times input. What carried the swap are the fewest features without which A would not be above B.

    \b
    Example:  pomona explain model.pomona test.txt --query 18219
              pomona explain lightgbm.txt test.csv --query q7 --docs d3,d9 \\
                  --doc-id url --out why
    """
    from pomona.cli.inputs import read_for_model
    from pomona.cli.output import finish_analysis, report_for
    from pomona.experiments.analysis.explain import explain as take_apart
    from pomona.rankers.loading import load_model

    ranker = load_model(model)
    columns = named_columns(label, qid, doc_id)
    documents = read_for_model(data, ranker, columns)
    others = None if background is None else read_for_model(background, ranker, columns)
    pair = None if docs is None else [part.strip() for part in docs.split(",")]
    found = take_apart(ranker, documents, query, pair, background=others, method=method)
    if not as_json:
        _print(found)
    report = report_for(
        out,
        "explain",
        found,
        title=f"Why is A above B? Query {found.query}",
        question="Which features made the order?",
        summary=f"{model.name} ({found.ranker}) on {data.name}",
    )
    finish_analysis(found.tables, report, out, as_json=as_json)


def _print(found: ExplainedQuery) -> None:
    from pomona.cli.output import print_frame

    typer.echo(f"{found.answer}\n({found.ranker}, {found.method}; expected of any: {found.expected:.4f})\n")
    print_frame(found.difference.head(_SHOWN).rename({"value_a": found.a, "value_b": found.b}))
    typer.echo(f"\nthe first of {len(found.documents)} documents")
    shown = found.documents.head(_SHOWN)
    print_frame(shown if found.method == "gradient" else shown.drop("gap"))
