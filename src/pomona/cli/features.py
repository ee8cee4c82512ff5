"""How much each feature tells: alone, in bits, inside queries, in a forest, and in subsets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from pomona.experiments.analysis.feature_importance import FeatureImportance
    from pomona.experiments.analysis.features import FeatureFindings

_COLUMNS = {
    "feature": "feature",
    "alone": "alone",
    "low": "from",
    "high": "to",
    "direction": "dir.",
    "corrected_gain": "IG corr.",
    "symmetric_uncertainty": "symm. unc.",
    "a": "A",
    "gain_share": "gain share",
    "splits": "splits",
    "drop_within": "drop within",
    "drop_across": "across",
    "constant": "constant",
    "undefined": "undefined",
}
"""What the terminal has room for, and its titles."""


def features(
    context: typer.Context,
    data: option.Sources,
    measure: option.Measure = "",
    bins: Annotated[int, typer.Option(max=65_536, help="Bins of the information gain.")] = 20,
    trees: option.Trees = 100,
    shuffles: Annotated[int, typer.Option(help="Shuffles of each permutation importance.")] = 5,
    top: Annotated[int, typer.Option(help="How many features are printed and drawn.")] = 25,
    model: Annotated[
        Path | None,
        typer.Option(help="A model file: tell what its features do on DATA instead, by shuffling them."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="With --model: name=f1,f2,… are shuffled together, too; repeatable."),
    ] = None,
    undefined: option.Undefined = None,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    out: option.ReportDirectory = None,
    as_json: option.Json = False,
) -> None:
    """Tell how much each feature says of the labels, the best by itself first.

    alone: the mean measure when documents are ranked by the feature, from its highest value (up) or its
    lowest (down), with its interval. IG corr.: information gain in bits, less what chance gives. A: how
    often the better of two documents of a query has the higher value. gain share, splits: of LambdaMART. drop
    within, across: how much its measure of the test queries falls when the feature's values are shuffled
    inside queries, and across all. Then: pairs of features that work together in trees, and the best subsets
    of up to ten for linear regression.

    Collections and fold directories are tested on their own folds, a file is cut into five by whole queries.
    The measure is ndcg@10 if none is named, of --model its own; --trees 0 leaves forests out. Ctrl-C ends it
    with what is known so far.

    --model asks another question: what features do in a model that is there, whoever trained it. Printed is
    how much its measure falls when a feature’s values are shuffled inside queries (within) and over all of
    them (across), with intervals over queries, and of groups also what their features lose one by one.

    \b
    Example:  pomona features mq2008
              pomona features train.csv -m err@20 --label grade --out report
              pomona features Fold1 --trees 0 --json
              pomona features test.txt --model model.pomona --group text=f1,f2,f3
    """
    from pomona.cli.inputs import distinct
    from pomona.cli.output import finish_analysis, progress_bars, report_for
    from pomona.data.table import is_table
    from pomona.experiments.analysis.features import STAGES, examine_features

    distinct(data)
    used = "data measure shuffles top label qid doc_id undefined out as_json"
    if undefined is not None and all(map(is_table, data)):
        raise typer.BadParameter("--undefined has no effect on a table, whose empty cells are undefined")
    if model is not None:
        option.refuse_unused(context, "with --model", f"{used} model group")
        if as_json:
            option.refuse_unused(context, "with --json", f"{used} model group".replace(" top", ""))
        columns = option.named_columns(label, qid, doc_id)
        of_file: dict[str, Any] = {"columns": columns, "undefined": undefined}
        _importance(data, model, measure or None, shuffles, group or [], top, of_file, out, as_json=as_json)
        return
    if group:
        raise InputError("--group goes with --model: name the model whose features are to be shuffled")
    if trees == 0:
        option.refuse_unused(context, "with --trees 0", f"{used} bins trees".replace(" shuffles", ""))
    measure = measure or "ndcg@10"
    reading = option.named_columns(label, qid, doc_id)
    reading |= {} if undefined is None else {"undefined": undefined}
    found: dict[str, FeatureFindings] = {}
    for source in data:
        with progress_bars(source, STAGES, is_quiet=as_json) as watch:
            options: dict[str, Any] = {"bins": bins, "n_trees": trees, "n_shuffles": shuffles, "top": top}
            found[source] = examine_features(source, measure, **options, watch=watch, **reading)
        if not as_json:
            _print(source, found[source])
        if found[source].interrupted:
            break
    report = report_for(
        out,
        "features",
        found,
        title="How much each feature tells",
        question="Which features rank documents, alone and together?",
        summary=f"{', '.join(found)} · judged by {measure}",
        datasets=list(found),
    )
    finish_analysis(_tables(found), report, out, as_json=as_json)
    _end(found)


def _end(found: Mapping[str, FeatureFindings | FeatureImportance]) -> None:
    if any(one.interrupted for one in found.values()):
        typer.echo("pomona: interrupted; what was done by then is above", err=True)
        raise typer.Exit(130)


def _importance(
    data: list[str],
    model: Path,
    measure: str | None,
    shuffles: int,
    groups: list[str],
    top: int,
    reading: dict[str, Any],
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """What features do in a model, on each of the files."""
    import polars as pl

    from pomona.cli.inputs import read_for_model
    from pomona.cli.output import finish_analysis, print_frame, progress_bars, report_for
    from pomona.experiments.analysis.feature_importance import FeatureImportance, examine_importance
    from pomona.rankers.loading import load_model

    ranker, found = load_model(model), dict[str, FeatureImportance]()
    named = dict(_group(text) for text in groups)
    for source in data:
        if not Path(source).is_file():
            raise InputError("is no file: give one of queries that the model was not trained on", source)
        rows = read_for_model(Path(source), ranker, **reading, labelled=True)
        with progress_bars(source, ("shuffled",), is_quiet=as_json) as watch:
            told = partial(watch, "shuffled")
            one = examine_importance(ranker, rows, measure, groups=named, n_shuffles=shuffles, watch=told)
        found[source] = one
        if not as_json:
            typer.echo(
                f"{source}: {one.measure} of {model.name} on {one.n_queries} queries: {one.value:.4f}\n"
            )
            shown = one.table if named else one.table.drop("n_features", "separate")
            print_frame(shown.head(top))
        if one.interrupted:
            break
    report = report_for(
        out,
        "importance",
        found,
        title=f"What features do in {model.name}",
        question="Which features does this model lean on?",
        summary=f"{', '.join(found)} · {model.name} ({type(ranker).__name__})",
        datasets=list(found),
    )
    tables = [one.table.select(pl.lit(source).alias("data"), pl.all()) for source, one in found.items()]
    facts = {"data": list(found), "measure": [one.measure for one in found.values()]}
    values = pl.DataFrame({**facts, "value": [one.value for one in found.values()]})
    finish_analysis({"facts": values, "importance": pl.concat(tables)}, report, out, as_json=as_json)
    _end(found)


def _group(text: str) -> tuple[str, list[str]]:
    name, equals, members = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"found --group {text}, expected name=f1,f2,…")
    return name.strip(), [member.strip() for member in members.split(",") if member.strip()]


def _print(source: str, found: FeatureFindings) -> None:
    from pomona.cli.output import print_frame

    shown = [name for name in _COLUMNS if name in found.features.columns]
    typer.echo(
        f"{source}: {found.n_queries} queries, {found.n_docs} documents, {len(found.features)} features"
    )
    if found.random is not None:
        typer.echo(f"{found.measure} of a random order: {found.random:.4f}")
    if found.label_entropy is not None:
        typer.echo(f"entropy of the labels: {found.label_entropy:.4f} bits")
    if found.forest_value is not None:
        typer.echo(f"{found.measure} of the forests on test queries: {found.forest_value:.4f}")
    typer.echo()
    print_frame(found.features.select(shown).rename({name: _COLUMNS[name] for name in shown}).head(found.top))
    for title, table in (
        ("pairs of features: summed gain of splits on one below a split on the other", found.interactions),
        (f"forward selection: {found.measure} by the number of features", found.selection_means),
    ):
        if len(table):
            typer.echo(f"\n{title}")
            print_frame(table)
    for note in found.notes:
        typer.echo(f"\nnote: {note}")


def _tables(found: dict[str, FeatureFindings]) -> dict[str, pl.DataFrame]:
    """Every table, with the name of the data first."""
    import polars as pl

    facts = [
        {
            "measure": one.measure,
            "queries": one.n_queries,
            "documents": one.n_docs,
            "random": one.random,
            "label_entropy": one.label_entropy,
            "pair_queries": one.pair_queries,
            "folds": one.n_folds,
            "forest_value": one.forest_value,
            "interrupted": one.interrupted,
            "notes": one.notes,
        }
        for one in found.values()
    ]
    tables = {"facts": [pl.DataFrame([row]) for row in facts]}
    for name in ("features", "interactions", "selection", "correlation"):
        tables[name] = [getattr(one, name) for one in found.values()]
    return {
        name: pl.concat(
            [
                table.select(pl.lit(source).alias("data"), pl.all())
                for source, table in zip(found, parts, strict=True)
                if len(table)
            ],
            how="diagonal_relaxed",
        )
        if any(len(table) for table in parts)
        else pl.DataFrame()
        for name, parts in tables.items()
    }
