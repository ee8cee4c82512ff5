"""Judge scores: any measure, under any tool's rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from pomona.measures.judge import Judgement
    from pomona.measures.lists import ScoredQueries

_DEFAULT_MEASURES = ("ndcg@1", "ndcg@5", "ndcg@10", "p@10", "ap", "rr")


def evaluate(
    data: Annotated[
        Path | None, typer.Argument(help="LETOR text or a table with labels.", show_default=False)
    ] = None,
    scores: Annotated[
        Path | None, typer.Argument(help="One score a line, in input order.", show_default=False)
    ] = None,
    measure: option.Measures = None,
    convention: option.Convention = None,
    all_conventions: Annotated[bool, typer.Option("--all-conventions", help="A row for every tool.")] = False,
    as_tool: option.AsTool = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", "-q", help="Every query, not only the mean.")
    ] = False,
    ties: option.Ties = None,
    qrels: option.Qrels = None,
    run: Annotated[Path | None, option.RUN] = None,
    complete: option.Complete = False,
    level: Annotated[int, typer.Option("-l", help="trec_eval -l: smallest relevant label.")] = 1,
    max_docs: Annotated[
        int | None, typer.Option("-M", help="trec_eval -M: documents judged per query.")
    ] = None,
    judged_only: Annotated[
        bool, typer.Option("-J", help="trec_eval -J: leave out unjudged documents.")
    ] = False,
    gmax: Annotated[int, typer.Option("--gmax", help="RankLib -gmax: the highest label, for ERR.")] = 4,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    as_json: option.Json = False,
) -> None:
    """Judge scores against labels.

    Means are over all queries; the numbers of empty queries (no relevant document) and of queries
    shorter than the cut-off stand beside them, since tools treat those differently. With --as everything is
    printed as the tool prints it, byte for byte.

    \b
    Example:  pomona evaluate test.txt scores.txt -m ndcg@10,ap --all-conventions
              pomona evaluate test.txt scores.txt --as letor4 --per-query
              pomona evaluate --qrels qrels.txt --run run.txt --as trec_eval \\
                  -q -m map -m ndcg_cut.5,10
    """
    _refuse_options_of_others(
        (as_tool or "").lower(),
        trec_eval={"-c": complete, "-l": level != 1, "-M": max_docs is not None, "-J": judged_only},
        ranklib={"--gmax": gmax != 4},
    )
    if as_tool is not None:
        if as_json:
            raise typer.BadParameter("--as prints what the tool prints, which is no JSON: leave one out")
        options = {"complete": complete, "level": level, "max_docs": max_docs, "judged_only": judged_only}
        lines = _as_tool(as_tool, data, scores, qrels, run, measure or [], per_query, gmax, options)
        # As bytes: a query id need not be valid UTF-8 to come out as it went in.
        typer.echo("".join(f"{line}\n" for line in lines).encode(errors="surrogateescape"), nl=False)
        return
    judged, qids = _read(data, scores, qrels, run, option.named_columns(label, qid, doc_id))
    wanted = option.split_measures(measure) or list(_DEFAULT_MEASURES)
    if all_conventions:
        _print_conventions(judged, wanted, ties, as_json)
    else:
        _print_means(judged, qids, wanted, convention, ties, per_query, as_json)


def _refuse_options_of_others(asked: str, **given: dict[str, bool]) -> None:
    """An option of one tool would change nothing elsewhere, and the number not be the one that is meant."""
    for tool, options in given.items():
        wrong = [option for option, is_given in options.items() if is_given]
        if wrong and not asked.startswith(tool):
            raise typer.BadParameter(f"{wrong[0]} is an option of {tool}: add --as {tool}, or leave it out")


def _as_tool(
    tool: str,
    data: Path | None,
    scores: Path | None,
    qrels: Path | None,
    run: Path | None,
    measures: list[str],
    per_query: bool,
    gmax: int,
    trec_options: dict[str, Any],
) -> Iterable[str]:
    name = tool.lower()
    if name not in option.TOOLS:
        raise UnknownNameError("tool", tool, option.TOOLS)
    if name.startswith("trec_eval"):
        if qrels is None or run is None:
            raise typer.BadParameter("--as trec_eval needs --qrels FILE and --run FILE")
        from pomona.tools.trec_eval import trec_eval

        version = 10 if name.endswith("-10") else 9
        return trec_eval(qrels, run, measures=measures, per_query=per_query, version=version, **trec_options)
    if data is None or scores is None:
        raise typer.BadParameter(f"--as {tool} needs two files: DATA SCORES")
    if name == "ranklib":
        from pomona.tools.ranklib import ranklib

        asked = option.split_measures(measures) or ["ERR@10"]
        return ranklib(data, scores, asked, per_query=per_query, max_grade=gmax, qrels=qrels)
    if name.startswith("yahoo"):
        from pomona.tools.yahoo import yahoo

        half = name.endswith("half")
        cutoffs = _cutoffs(option.split_measures(measures)) or (
            (10,) if half else (10, 5) if per_query else (10, 5, 1, 1000)
        )
        return yahoo(data, scores, per_query=per_query, cutoffs=cutoffs, empty=0.5 if half else 1.0)
    from pomona.tools.letor import letor

    if measures:
        raise typer.BadParameter(f"--as {tool} always prints the same measures: leave --measure out")
    return letor(name, data, scores, per_query=per_query)


def _cutoffs(measures: list[str]) -> tuple[int, ...]:
    from pomona.measures.parse import measure

    parsed = [measure(text, "yahoo") for text in measures]
    return tuple(dict.fromkeys(one.k for one in parsed if one.k is not None))


def _read(
    data: Path | None, scores: Path | None, qrels: Path | None, run: Path | None, columns: dict[str, Any]
) -> tuple[ScoredQueries, list[str]]:
    if qrels is not None and run is not None:
        from pomona.data.trec import dataset_of_trec, read_qrels, read_run
        from pomona.measures.lists import ScoredQueries

        trec = dataset_of_trec(read_qrels(qrels), read_run(run))
        documents = trec.data.y, trec.scores, trec.data.query_ptr, trec.data.doc_ids
        queries = ScoredQueries(*documents, trec.pool_labels, trec.pool_ptr)
        return queries, [str(qid) for qid in trec.data.qids]
    if data is None or scores is None:
        raise typer.BadParameter("give DATA and SCORES, or --qrels and --run")
    from pomona.cli.inputs import read_judged

    return read_judged(data, scores, columns)


def _judgements(
    judged: ScoredQueries, wanted: list[str], convention: str | None, ties: str | None
) -> list[Judgement]:
    from dataclasses import replace

    from pomona.measures.judge import judge
    from pomona.measures.parse import measure

    parsed = [measure(text, convention) for text in wanted]
    return judge(judged, [replace(one, ties=ties) for one in parsed] if ties else parsed)


def _print_means(
    judged: ScoredQueries,
    qids: list[str],
    wanted: list[str],
    convention: str | None,
    ties: str | None,
    per_query: bool,
    as_json: bool,
) -> None:
    from pomona.cli.output import print_json, print_table

    judgements = _judgements(judged, wanted, convention, ties)
    names = [str(judgement.measure) for judgement in judgements]
    if as_json:
        counts = {"n_queries": len(qids), "n_empty": judgements[0].n_empty}
        means = {
            asked: {"measure": name, "mean": j.mean, "n_short": j.n_short}
            for asked, name, j in zip(wanted, names, judgements, strict=True)
        }
        values = {asked: j.values.tolist() for asked, j in zip(wanted, judgements, strict=True)}
        print_json(
            {**counts, "measures": means, **({"qids": qids, "per_query": values} if per_query else {})}
        )
        return
    if per_query:
        rows = [[qid, *(f"{j.values[q]:.4f}" for j in judgements)] for q, qid in enumerate(qids)]
        print_table(["query", *names], [*rows, ["mean", *(f"{j.mean:.4f}" for j in judgements)]])
    else:
        rows = [
            [name, f"{j.mean:.4f}", str(len(qids)), str(j.n_empty), str(j.n_short) if j.measure.k else "–"]
            for name, j in zip(names, judgements, strict=True)
        ]
        print_table(["measure", "mean", "queries", "empty", "short"], rows)
    for note in _notes(judgements):
        typer.echo(note)


def _notes(judgements: list[Judgement]) -> list[str]:
    """Where a tool has no such measure of its own."""
    return [
        f"note: {j.measure.convention} has no {type(j.measure).__name__}; "
        "computed by its definition, with that tool's ties"
        for j in judgements
        if j.measure.convention != "definition" and j.measure.convention not in j.measure.conventions
    ]


def _print_conventions(judged: ScoredQueries, wanted: list[str], ties: str | None, as_json: bool) -> None:
    from pomona.cli.output import print_json, print_table
    from pomona.measures.conventions import CONVENTIONS
    from pomona.measures.parse import measure

    table: dict[str, dict[str, float | None]] = {}
    reasons: dict[str, str] = {}
    counts: Judgement | None = None
    for name in CONVENTIONS:
        row: dict[str, float | None] = {}
        for text in wanted:
            known = measure(text, name)
            row[text] = None
            if known.convention == "definition" or known.convention in known.conventions:
                try:
                    (counts,) = _judgements(judged, [text], name, ties)
                    row[text] = counts.mean
                except InputError as error:
                    reasons[name] = str(error)
        table[name] = row
    n_queries, n_empty = len(judged.query_ptr) - 1, counts.n_empty if counts else 0
    if as_json:
        print_json(
            {"n_queries": n_queries, "n_empty": n_empty, "conventions": table, "not_computed": reasons}
        )
        return
    rows = [[name, *("–" if v is None else f"{v:.4f}" for v in row.values())] for name, row in table.items()]
    print_table(["convention", *wanted], rows)
    typer.echo(f"{n_queries} queries, {n_empty} of them empty; – : that tool has no such measure")
    for name, reason in reasons.items():
        typer.echo(f"{name}: {reason}")
