"""Is the gain real? Two or more systems on the same queries, tested pair by pair and by slice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from pomona.experiments.analysis.duel import Duel


def duel(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA SCORES… | RUN…",
            help="Labelled data and a file of scores a system, the old one first; with --qrels TREC runs.",
        ),
    ],
    measure: option.Measures = None,
    qrels: option.Qrels = None,
    by: option.By = None,
    queries: option.QueryTable = None,
    convention: option.Convention = None,
    as_tool: option.AsTool = None,
    ties: option.Ties = None,
    complete: option.Complete = False,
    alpha: option.Alpha = 0.05,
    seed: option.Seed = 0,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    out: option.ReportDirectory = None,
    as_json: option.Json = False,
) -> None:
    """Compare systems that ranked the same queries: is the later one better, by how much, and where?

    Each pair is tested by Fisher's randomization test of the mean (Holm's correction over all pairs), and t,
    Wilcoxon and sign test must agree. Intervals are corrected for all pairs, too. Queries are also sliced by
    their number of documents, of relevant documents, and what --by names.

    \b
    Example:  pomona duel test.txt old.txt new.txt
              pomona duel test.csv old.txt new.txt -m ndcg@10,ap --by market \\
                  --out duel
              pomona duel --qrels qrels.txt bm25.run dense.run hybrid.run \\
                  --as trec_eval -m ndcg,ap
    """
    from pomona.cli.inputs import are_trec, check_runs, named_files
    from pomona.cli.output import finish_analysis, report_for
    from pomona.experiments.analysis.duel import duel as compare
    from pomona.experiments.analysis.duel import duel_of_runs

    if as_tool is not None and convention is not None:
        raise typer.BadParameter("--as and --convention both say whose rules hold: give one")
    wanted = option.split_measures(measure) or ["ndcg@10"]
    option.refuse_unused_convention(
        "--convention" if as_tool is None else "--as", convention or as_tool, wanted
    )
    convention, empty = (convention, None) if as_tool is None else _judge(as_tool)
    measures = _measures(wanted, convention, empty)
    options: dict[str, Any] = {"ties": ties, "alpha": alpha, "seed": seed}
    if qrels is None and are_trec(files):
        qrels, *files = files
    used = "files measure by queries convention as_tool ties alpha seed out as_json"
    if qrels is not None:
        used += f" qrels complete {'qid' if queries is not None else ''}"
        option.refuse_unused(context, "with runs" if queries else "with runs and no --queries", used)
        check_runs(files)
        systems, source = named_files(files), qrels.name
        from pomona.cli.inputs import query_columns

        values = query_columns(queries, by or [], qid) if by or queries else {}
        found = duel_of_runs(qrels, systems, measures, by=values, complete=complete, **options)
    else:
        if complete:
            raise typer.BadParameter("-c is about TREC runs: give --qrels")
        option.refuse_unused(context, "with DATA and SCORES", f"{used} label qid doc_id")
        from pomona.cli.inputs import read_scores

        source = files[0].name
        data, values = _data(files[0], queries, by or [], label, qid, doc_id)
        scores = {name: read_scores(path, data.n_docs) for name, path in named_files(files[1:]).items()}
        found = compare(data, scores, measures, by=values, **options)
    if not as_json:
        _print(found)
    report = report_for(
        out,
        "duel",
        found,
        title="Is the gain real?",
        question="Which system is better, and where?",
        summary=f"{', '.join(found.systems)} on {len(found.queries)} queries of {source}",
        datasets=list(found.duels),
        choice="Pair",
    )
    finish_analysis(found.tables, report, out, as_json=as_json)


def _judge(tool: str) -> tuple[str, float | None]:
    """Whose rules a tool follows, and the value of an empty query where it differs."""
    if tool.lower() not in option.TOOLS:
        raise UnknownNameError("tool", tool, option.TOOLS)
    rules, _, variant = tool.lower().partition("-")
    return rules, 0.5 if variant == "half" else None


def _measures(texts: list[str], convention: str | None, empty: float | None) -> list[Any]:
    """The measures under a tool's rules, where those differ from a convention's, too."""
    import dataclasses

    from pomona.measures.parse import measure

    parsed: list[Any] = [measure(text, convention) for text in texts]
    if empty is not None:
        parsed = [dataclasses.replace(one, empty=empty) if hasattr(one, "empty") else one for one in parsed]
    return parsed


def _data(
    path: Path,
    queries: Path | None,
    by: list[str],
    label: str | None,
    qid: str | None,
    doc_id: str | None,
) -> tuple[Any, Any]:
    """The data, and what their queries are sliced by."""
    from pomona.cli.inputs import query_columns
    from pomona.data.read import read
    from pomona.data.table import dataset_of_frame, is_table, read_frame

    if queries is not None:
        return read(path, **option.named_columns(label, qid, doc_id)), query_columns(queries, by, qid)
    if not is_table(path) or not by:
        return read(path, **option.named_columns(label, qid, doc_id)), by
    from pomona.experiments.analysis.query_slice import one_a_query

    # Columns of texts are no features, and nothing is scored here: only what is judged is looked at.
    names = {"label": "label", "qid": "qid", **option.named_columns(label, qid, doc_id)}
    frame = read_frame(path, names["qid"], doc_id)
    missing = [name for name in (*names.values(), *by) if name not in frame.columns]
    if missing:
        raise InputError(f"no column {missing[0]!r}: found {', '.join(frame.columns[:8])} …", path)
    data = dataset_of_frame(frame.select(list(dict.fromkeys(names.values()))), **names)
    order = slice(None) if data.input_order is None else data.input_order
    ptr, qids = data.gathered().query_ptr.tolist(), data.qids.tolist()
    return data, {name: one_a_query(name, frame[name][order].to_list(), ptr, qids) for name in by}


def _print(found: Duel) -> None:
    from pomona.cli.output import print_frame

    left = f", {found.n_left_out} that some run lacks left out" if found.n_left_out else ""
    typer.echo(f"{len(found.queries)} queries ({found.n_empty} without a relevant document{left})\n")
    print_frame(found.means)
    for sentence in found.verdicts:
        typer.echo(f"\n{sentence}")
    tests = ("t_p", "wilcoxon_p", "sign_p", "randomization_p", "holm_p", "effect", "wins", "ties", "losses")
    typer.echo()
    print_frame(found.pairs.select("a", "b", "measure", *tests))
    if len(found.slices):
        columns = ("slice", "group", "n_queries", "difference", "low", "high", "holm_p", "is_significant")
        for name, (a, b) in found.duels.items():
            typer.echo(f"\n{name} by slice ({found.main})")
            print_frame(found.slices.filter(a=a, b=b).select(columns))
        typer.echo("\nis the difference the same in all groups? (Kruskal & Wallis)")
        print_frame(found.dependence)
    first = found.pairs.row(0, named=True)
    _print_extremes(found, first["a"], first["b"])


def _print_extremes(found: Duel, a: str, b: str) -> None:
    """The queries where the later system loses and gains most."""
    import polars as pl

    from pomona.cli.output import print_frame

    rows = found.differences(a, b).rename({"a": a, "b": b})
    for title, chosen in (
        ("worst", rows.filter(pl.col("difference") < 0).head(5)),
        ("best", rows.filter(pl.col("difference") > 0).tail(5).reverse()),
    ):
        if len(chosen):
            typer.echo(f"\n{title} queries of {a} ({found.main})")
            print_frame(chosen)
