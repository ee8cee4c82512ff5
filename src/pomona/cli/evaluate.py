"""Judge scores: any measure, under any tool's rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option
from pomona.errors import InputError, UnknownMeasureError, UnknownNameError

if TYPE_CHECKING:
    from pomona.measures.judge import Judgement
    from pomona.measures.lists import ScoredQueries

_DEFAULT_MEASURES = ("ndcg@1", "ndcg@5", "ndcg@10", "p@10", "ap", "rr")

_OF_TOOLS = {
    "letor": "per_query",
    "ranklib": "qrels measure per_query gmax",
    "yahoo": "measure per_query",
    "trec_eval": "qrels run measure per_query complete level max_docs judged_only",
}
"""Of the options, those that have an effect with `--as` a tool."""
_OURS = "measure convention all_conventions ties per_query as_json"


def evaluate(
    context: typer.Context,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA|QRELS", help="LETOR text or a table with labels; or judgments.", show_default=False
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCORES|RUN", help="One score a line, in input order; or a TREC run.", show_default=False
        ),
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
              pomona evaluate qrels.txt run.txt -m ap,ndcg@10
              pomona evaluate run.csv -m ap   (with a column score)
              pomona evaluate --qrels qrels.txt --run run.txt --as trec_eval \\
                  -q -m map -m ndcg_cut.5,10
    """
    _refuse_options_of_others(
        (as_tool or "").lower(),
        trec_eval={"-c": complete, "-l": level != 1, "-M": max_docs is not None, "-J": judged_only},
        ranklib={"--gmax": gmax != 4},
    )
    if as_tool is not None:
        used = _used_by(as_tool)
        if as_json:
            raise typer.BadParameter("--as prints what the tool prints, which is no JSON: leave --json out")
        if measure and "measure" not in used:
            raise typer.BadParameter(f"--as {as_tool} always prints the same measures: leave --measure out")
        option.refuse_unused(context, f"with --as {as_tool}", f"as_tool data scores {used}")
        if as_tool.lower().startswith("trec_eval"):
            _, _, qrels, run = _files(context, data, scores, qrels, run)
        options = {"complete": complete, "level": level, "max_docs": max_docs, "judged_only": judged_only}
        lines = _as_tool(as_tool, data, scores, qrels, run, measure or [], per_query, gmax, options)
        # As bytes: a query id need not be valid UTF-8 to come out as it went in.
        typer.echo("".join(f"{line}\n" for line in lines).encode(errors="surrogateescape"), nl=False)
        return
    data, scores, qrels, run = _files(context, data, scores, qrels, run)
    wanted = option.split_measures(measure) or list(_DEFAULT_MEASURES)
    option.refuse_unused_convention("--convention", convention, wanted)
    if all_conventions:
        used = "measure all_conventions ties as_json data scores qrels run label qid doc_id"
        option.refuse_unused(context, "with --all-conventions", used)
    judged, qids, missing = _read(data, scores, qrels, run, option.named_columns(label, qid, doc_id))
    if all_conventions:
        _print_conventions(judged, wanted, ties, missing, as_json)
    else:
        _print_means(judged, qids, wanted, convention, ties, per_query, missing, as_json)


def _used_by(tool: str) -> str:
    """The options that have an effect with `--as` a tool."""
    if tool.lower() not in option.TOOLS:
        raise UnknownNameError("tool", tool, option.TOOLS)
    return next((used for name, used in _OF_TOOLS.items() if tool.lower().startswith(name)), "per_query")


def _files(
    context: typer.Context, data: Path | None, scores: Path | None, qrels: Path | None, run: Path | None
) -> tuple[Path | None, Path | None, Path | None, Path | None]:
    """DATA and SCORES, or judgments and a run, the others None; what does not go with them is refused."""
    tool = "as_tool complete level max_docs judged_only gmax"
    if qrels is not None and run is not None:
        option.refuse_unused(context, "with --qrels and --run", f"qrels run {_OURS} {tool}")
        return None, None, qrels, run
    from pomona.cli.inputs import are_trec
    from pomona.data.convert import has_scores

    if data is not None and scores is None and has_scores(data):
        option.refuse_unused(context, "with a table of scores", f"data label qid doc_id {_OURS}")
        return data, None, None, None
    if data is None or scores is None:
        raise typer.BadParameter(
            "give DATA and SCORES, or QRELS and RUN, or --qrels and --run, or a table with a column score"
        )

    if are_trec([data, scores]):
        option.refuse_unused(context, "with TREC judgments and a run", f"data scores {_OURS} {tool}")
        return None, None, data, scores
    option.refuse_unused(context, "with DATA and SCORES", f"data scores label qid doc_id {_OURS} {tool}")
    return data, scores, None, None


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
    if name.startswith("trec_eval"):
        if qrels is None or run is None:
            raise typer.BadParameter(f"--as {tool} needs TREC judgments and a run: QRELS RUN")
        from pomona.tools.trec_eval import trec_eval

        version = 10 if name.endswith("-10") else 9
        return trec_eval(qrels, run, measures=measures, per_query=per_query, version=version, **trec_options)
    if data is None or scores is None:
        raise typer.BadParameter(f"--as {tool} needs two files: DATA SCORES")
    if name == "ranklib":
        from pomona.tools.ranklib import ranklib

        asked = option.split_measures(measures) or ["ERR@10"]
        if gmax != 4 and not any(text.upper().startswith("ERR") for text in asked):
            raise typer.BadParameter("--gmax has no effect on measures other than ERR: leave it out")
        if qrels is not None and all(text.upper().startswith(("ERR", "P@", "RR")) for text in asked):
            raise typer.BadParameter(f"--qrels has no effect on {', '.join(asked)}: leave it out")
        return ranklib(data, scores, asked, per_query=per_query, max_grade=gmax, qrels=qrels)
    if name.startswith("yahoo"):
        from pomona.tools.yahoo import yahoo

        half = name.endswith("half")
        cutoffs = _cutoffs(option.split_measures(measures)) or (
            (10,) if half else (10, 5) if per_query else (10, 5, 1, 1000)
        )
        return yahoo(data, scores, per_query=per_query, cutoffs=cutoffs, empty=0.5 if half else 1.0)
    from pomona.tools.letor import letor

    return letor(name, data, scores, per_query=per_query)


def _cutoffs(measures: list[str]) -> tuple[int, ...]:
    from pomona.measures.parse import measure

    parsed = [measure(text, "yahoo") for text in measures]
    for text, one in zip(measures, parsed, strict=True):
        if one.k is None or one != measure(f"ndcg@{one.k}", "yahoo"):
            raise typer.BadParameter(f"--measure {text} with --as yahoo: it has ERR, and NDCG as ndcg@K")
    return tuple(dict.fromkeys(one.k for one in parsed if one.k is not None))


def _read(
    data: Path | None, scores: Path | None, qrels: Path | None, run: Path | None, columns: dict[str, Any]
) -> tuple[ScoredQueries, list[str], dict[str, int]]:
    """The documents with scores, the ids of their queries, and of runs what has no counterpart."""
    if scores is not None:
        from pomona.cli.inputs import read_judged

        assert data is not None
        of_data, qids = read_judged(data, scores, columns)
        return of_data, qids, {"n_not_judged": _n_not_judged(of_data)}
    from pomona.data.convert import read_judged_table
    from pomona.data.trec import dataset_of_trec, read_qrels, read_run
    from pomona.measures.lists import ScoredQueries

    if qrels is None or run is None:
        assert data is not None
        trec = read_judged_table(data, **columns)
        left_out = trec.n_without_scores, trec.n_without_labels
    else:
        judgments, answers = read_qrels(qrels), read_run(run)
        trec = dataset_of_trec(judgments, answers)
        judged, answered = set(judgments.qids), set(answers.qids)
        left_out = len(judged - answered), len(answered - judged)
    documents = trec.data.y, trec.scores, trec.data.query_ptr, trec.data.doc_ids
    queries = ScoredQueries(*documents, trec.pool_labels, trec.pool_ptr)
    names = ("n_judged_queries_without_run", "n_queries_without_judgments")
    missing = {**dict(zip(names, left_out, strict=True)), "n_not_judged": _n_not_judged(queries)}
    return queries, [str(qid) for qid in trec.data.qids], missing


def _judgements(
    judged: ScoredQueries, wanted: list[str], convention: str | None, ties: str | None
) -> tuple[dict[str, Judgement], list[str]]:
    """What comes of every measure, by its name in the answer, and what to know of it all."""
    from pomona.measures.judge import asked_for, judge, with_ties

    parsed, notes = asked_for(wanted, convention)
    found = judge(judged, [with_ties(one, ties) if ties else one for one in parsed.values()])
    notes += [f"{one.measure}: {note}" for one in found for note in one.notes]
    return dict(zip(parsed, found, strict=True)), notes


def _print_means(
    judged: ScoredQueries,
    qids: list[str],
    wanted: list[str],
    convention: str | None,
    ties: str | None,
    per_query: bool,
    missing: dict[str, int],
    as_json: bool,
) -> None:
    from pomona.cli.output import print_json, print_table

    by_name, notes = _judgements(judged, wanted, convention, ties)
    judgements = list(by_name.values())
    names = [str(judgement.measure) for judgement in judgements]
    if as_json:
        counts = {"n_queries": len(qids), "n_empty": judgements[0].n_empty, **missing}
        means = {
            asked: {"measure": str(j.measure), "mean": j.mean, "n_empty": j.n_empty, "n_short": j.n_short}
            for asked, j in by_name.items()
        }
        values = {asked: j.values.tolist() for asked, j in by_name.items()}
        more = {"qids": qids, "per_query": values} if per_query else {}
        print_json({**counts, "measures": means, "notes": notes, **more})
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
    for note in (*_left_out(missing), *(f"note: {note}" for note in notes)):
        typer.echo(note)


def _n_not_judged(judged: ScoredQueries) -> int:
    """How many documents have no label, or one below 0."""
    import numpy as np

    return int((~(np.asarray(judged.labels) >= 0)).sum())


def _left_out(missing: dict[str, int]) -> list[str]:
    """The queries of TREC files that are in no mean, and documents that are not judged."""
    lines = []
    if n := missing.get("n_judged_queries_without_run"):
        what = "1 judged query is" if n == 1 else f"{n} judged queries are"
        lines.append(f"note: {what} not in the run, and in no mean (--as trec_eval -c counts 0)")
    if n := missing.get("n_queries_without_judgments"):
        what = "1 query of the run has" if n == 1 else f"{n} queries of the run have"
        lines.append(f"note: {what} no judgments, and {'is' if n == 1 else 'are'} in no mean")
    if n := missing["n_not_judged"]:
        what = "1 document is" if n == 1 else f"{n} documents are"
        lines.append(f"note: {what} not judged, and not relevant for these measures")
    return lines


def _print_conventions(
    judged: ScoredQueries, wanted: list[str], ties: str | None, missing: dict[str, int], as_json: bool
) -> None:
    from pomona.cli.output import print_json, print_table
    from pomona.measures.conventions import CONVENTIONS

    table: dict[str, dict[str, float | None]] = {}
    reasons: dict[str, str] = {}
    notes: list[str] = []
    counts: Judgement | None = None
    for name in CONVENTIONS:
        row: dict[str, float | None] = {}
        for text in wanted:
            row[text] = None
            try:
                found, said = _judgements(judged, [text], name, ties)
            except UnknownMeasureError:
                continue  # a dash
            except InputError as error:
                reasons[name] = str(error)
                continue
            (counts,) = found.values()
            row[text] = counts.mean
            notes += said
        table[name] = row
    n_queries, n_empty = len(judged.query_ptr) - 1, counts.n_empty if counts else 0
    if as_json:
        counts_too = {"n_queries": n_queries, "n_empty": n_empty, **missing}
        print_json({**counts_too, "conventions": table, "not_computed": reasons, "notes": notes})
        return
    rows = [[name, *("–" if v is None else f"{v:.4f}" for v in row.values())] for name, row in table.items()]
    print_table(["convention", *wanted], rows)
    typer.echo(f"{n_queries} queries, {n_empty} of them empty; – : that tool has no such measure")
    lines = [f"{name}: {reason}" for name, reason in reasons.items()] + [f"note: {note}" for note in notes]
    for line in (*_left_out(missing), *lines):
        typer.echo(line)
