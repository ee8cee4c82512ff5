"""The options that several verbs have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def _report_directory(path: Path | None) -> Path | None:
    """Refuse a directory whose files a report would replace, before the work, not after."""
    if path is not None:
        from pomona.report.file import refuse_foreign

        refuse_foreign(path)
    return path


TOOLS = ("letor3", "letor4", "mslr", "ranklib", "yahoo", "yahoo-half", "trec_eval", "trec_eval-10")
"""Whose numbers `--as` gives."""

Json = Annotated[bool, typer.Option("--json", help="For machines.")]
Data = Annotated[Path, typer.Argument(help="LETOR text or a table (CSV, Parquet …), compressed or not.")]
Sources = Annotated[list[str], typer.Argument(help="Files, fold directories or names of collections.")]
Scores = Annotated[Path, typer.Argument(help="One score a line, in input order.")]
Model = Annotated[
    Path,
    typer.Argument(help="A model file: what `pomona train` wrote, or LightGBM, XGBoost, CatBoost, RankLib."),
]

# What is read.
Label = Annotated[str | None, typer.Option(help="The label column of a table [label].")]
Qid = Annotated[str | None, typer.Option(help="The query column of a table [qid].")]
DocId = Annotated[str | None, typer.Option(help="The document id column of a table.")]
Valid = Annotated[Path | None, typer.Option(help="Validation data, by which training stops.")]
Undefined = Annotated[
    float | None,
    typer.Option(help="The value of what a line [0] or a log [as served] leaves out."),
]
Unjudged = Annotated[
    float | None,
    typer.Option(help="Label of documents without a judgment [of a log: left out; of data: not judged]."),
]
UnjudgedInTraining = Annotated[
    str | None,
    typer.Option(help="Documents without a label: `ignored` (weight 0) or `irrelevant` (label 0) [ignored]."),
]
Qrels = Annotated[Path | None, typer.Option(help="TREC judgments; what is judged are runs.")]
QUERY = typer.Option(help="The id of a query.")
RUN = typer.Option(help="A TREC run, with --qrels.")
QueryTable = Annotated[
    Path | None, typer.Option(help="A table with a row a query (column qid) and what --by names.")
]
By = Annotated[
    list[str] | None,
    typer.Option(help="Slice queries by a column of --queries; in a duel also of the table, or a feature."),
]

# How it is judged.
_EXAMPLES = "e.g. ndcg@10, letor4:ndcg@10, rbp(p=0.8)"
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help=f"{_EXAMPLES}; repeat or separate by commas."),
]
Measure = Annotated[str, typer.Option("--measure", "-m", help=f"{_EXAMPLES}: one.")]
Convention = Annotated[str | None, typer.Option(help="Whose rules: `pomona list conventions`.")]
AsTool = Annotated[
    str | None, typer.Option("--as", metavar="TOOL", help=f"Judge as a tool does: {', '.join(TOOLS)}.")
]
Ties = Annotated[str | None, typer.Option(help="stable, docid, expected, worst or best.")]
Complete = Annotated[bool, typer.Option("-c", help="trec_eval -c: a judged query that a run lacks counts 0.")]
Alpha = Annotated[float, typer.Option(help="How often a false claim is accepted, at the most.")]

# What is trained, and how.
Rankers = Annotated[
    str | None,
    typer.Option(help="Names of `pomona list rankers`, with parameters if you like: mart(n_trees=50)."),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="A parameter; repeat.")
]
Trees = Annotated[int, typer.Option(help="Trees of each forest.")]
Folds = Annotated[str | None, typer.Option(help="Which folds, as in 1,2,3; all when left out.")]
FoldCount = Annotated[int | None, typer.Option("--n-folds", help="How many folds to cut a file into [5].")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")]
Seeds = Annotated[str | None, typer.Option(help="As in 0,1,2: train everything once for each.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Processes; 1 gives the fairest times.")
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="The scheduler of a Dask cluster to work on.")
]

# Where it goes.
Output = Annotated[
    Path | None, typer.Option("--out", "-o", help="Where to write; standard output if left out.")
]
ReportDirectory = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        callback=_report_directory,
        help="A directory for report, tables, figures: new, empty, or of an earlier report.",
    ),
]
WorkDirectory = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Working directory. Run the same command again to resume."),
]
NewModel = Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")]
FORMAT = typer.Option(
    "--format", "-f", help="What to write: `pomona list formats`; of data also by OUT's name."
)

# What engines want of a model.
EngineVersion = Annotated[
    str | None, typer.Option(help="Of the engine, where versions differ, e.g. 3.5 [the newest known].")
]
FeatureMap = Annotated[
    Path | None, typer.Option(help="CSV: a feature of the model, its name in the engine; checked.")
]
Nonnegative = Annotated[bool, typer.Option("--nonnegative", help="Shift scores so that none is below 0.")]
ModelName = Annotated[str, typer.Option(help="Of plugins and Solr: the model's name.")]
Store = Annotated[str | None, typer.Option(help="Of Solr: the feature store.")]
Raw = Annotated[bool, typer.Option("--raw", help="For the plugins: XGBoost's own JSON (xgboost+json+raw).")]


def named_columns(label: str | None, qid: str | None, doc_id: str | None) -> dict[str, Any]:
    """The columns that were named, as `pomona.read` takes them."""
    columns = {"label": label, "qid": qid, "doc_id": doc_id}
    return {key: name for key, name in columns.items() if name is not None}


def split_measures(texts: list[str] | None) -> list[str]:
    """The measures of all the options; commas inside parentheses belong to a measure."""
    from pomona._parameters import split_outside

    measures = [measure for text in texts or [] for measure in split_outside(text)]
    if texts and not measures:
        raise typer.BadParameter("--measure names no measure: as in --measure ndcg@10 (pomona list measures)")
    return measures


def shares(name: str, text: str) -> list[float]:
    """The shares of a split, of which there are two or three that add up to 1."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) not in (2, 3) or not all(0 < one < 1 for one in found) or abs(sum(found) - 1) > 1e-9:
        raise typer.BadParameter(
            f"--{name} {text}: expected the shares of training, perhaps validation, and test queries, which "
            "add up to 1, as 0.6,0.2,0.2"
        )
    return found


def refuse_unused(context: typer.Context, how: str, used: str) -> None:
    """Refuse what was given and has no effect when a verb works in this way.

    `used` names the parameters of the verb that have one. What is not named there is refused, so that an
    option that is added later is refused, too, until it is named.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name not in used.split() and source is not None and source.name == "COMMANDLINE":
            is_option = parameter.param_type_name == "option"
            name = parameter.opts[0] if is_option else str(parameter.name).upper()
            raise typer.BadParameter(f"{name} has no effect {how}: leave it out")


def refuse_unused_convention(option: str, convention: str | None, measures: list[str]) -> None:
    """Refuse a convention where every measure names its own, which holds."""
    prefixes = [text.partition("(")[0].rpartition(":")[0].strip() for text in measures]
    if convention is not None and all(prefix and not prefix.endswith(".py") for prefix in prefixes):
        raise typer.BadParameter(
            f"{option} has no effect: every measure names its own convention, as {measures[0]}"
        )
