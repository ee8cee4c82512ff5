"""What is in a file or directory: a model, data, a comparison, TREC files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pomona.cli import options as option
from pomona.cli.options import DocId, Json, Label, Qid, named_columns


def inspect(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="MODEL|DATA|DIR", help="A file or directory.")],
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Tell what a file or directory is, how it was made, and how large it is.

    Known by content are models (Pomona's, LightGBM's, XGBoost's, CatBoost's, RankLib's), labelled data,
    tables, scores, TREC judgments and runs, comparisons and directories with folds. Nothing in a file is run.

    \b
    Example:  pomona inspect model.pomona
              pomona inspect results/mq2008
              pomona inspect lightgbm.txt --json
    """
    from pomona.cli.output import print_json
    from pomona.data.table import is_table
    from pomona.experiments.inspection import inspect as look

    if not is_table(Path(path)):
        option.refuse_unused(context, "with what is no table", "path as_json")
    facts = look(path, **named_columns(label, qid, doc_id))
    if as_json:
        print_json(facts)
        return
    for line in _lines(facts, 0):
        typer.echo(line)


def _lines(facts: dict[str, Any], depth: int) -> list[str]:
    """Facts, one a line, those of a fact below it."""
    width = max(len(name) for name in facts)
    lines = []
    for name, value in facts.items():
        shown = name.replace("_", " ") if depth == 0 else name
        start = f"{'  ' * depth}{shown.ljust(width)}"
        if isinstance(value, dict) and value:
            lines += [start.rstrip(), *_lines(value, depth + 1)]
        else:
            lines.append(f"{start}  {_text(name, value)}")
    return lines


def _text(name: str, value: Any) -> str:
    if name == "bytes":
        return f"{value:,} ({value / 1e6:.1f} MB)" if value >= 1e5 else f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
