"""The lines that trec_eval prints: `name, padded to 22 <tab> query or "all" <tab> value`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pomona.data.trec import Path, Qrels, Run, read_qrels, read_run
from pomona.errors import InputError, PomonaError, UnknownNameError
from pomona.tools.trec_eval.measure import MEASURES, NICKNAMES, Measure, Scope, Value
from pomona.tools.trec_eval.ranking import Evaluated, Options, rankings


@dataclass(frozen=True, slots=True)
class Chosen:
    """A measure with its parameters and the names of its lines."""

    names: list[str]
    parameters: Any
    measure: Measure


def trec_eval(
    qrels: Path,
    run: Path,
    *,
    measures: Iterable[str] = (),
    per_query: bool = False,
    summary: bool = True,
    complete: bool = False,
    level: int = 1,
    max_docs: int | None = None,
    judged_only: bool = False,
    version: int = 9,
) -> list[str]:
    """The lines that `trec_eval qrels run` prints, without their newlines.

    Parameters
    ----------
    measures : as after `-m`, e.g. `["map", "ndcg_cut.5,10"]`; the tool's `official` ones when left out.
    per_query : -q, also the lines of every query.
    summary : the lines over all queries, which the tool's -n leaves out.
    complete : -c, also count queries of the judgments that the run does not hold.
    level : -l, the least label of a relevant document.
    max_docs : -M, use no more documents of a query than these.
    judged_only : -J, leave out documents without a judgment.
    version : 9 (scores are float32) or 10.

    Ids that are not UTF-8 come back as surrogates: write the lines with `errors="surrogateescape"`.
    Where the tool stops with an error, so do we, before the first line.
    """
    if version not in (9, 10):
        raise InputError(f"found trec_eval version {version}, expected 9 or 10")
    if level < 0:
        raise InputError(f"found the level {level}, expected 0 or more")
    if max_docs is not None and max_docs < 0:
        raise InputError(f"found a maximum of {max_docs} documents, expected 0 or more")
    options = Options(level, max_docs, judged_only, complete, version)
    chosen = choose(measures, version)
    # Comments came with version 10; to version 9 they are lines like any other.
    judgments = read_qrels(qrels, comments=version == 10)
    answers = read_run(run, comments=version == 10)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _lines(judgments, answers, chosen, options, per_query, summary)


def choose(measures: Iterable[str], version: int) -> list[Chosen]:
    """The measures asked for, in the tool's order; of one asked for twice, the first parameters count."""
    typed: dict[str, str] = {}
    wanted: set[str] = set()
    known = {name for name, measure in MEASURES.items() if measure.since <= version}
    for text in measures or ("official",):
        name, dot, parameters = text.partition(".")
        if name not in known and name not in NICKNAMES:
            raise UnknownNameError(f"trec_eval {version} measure", name, known | set(NICKNAMES))
        if dot and not parameters:
            raise InputError(f"-m {text}: found nothing after the point, expected parameters")
        if dot:
            typed.setdefault(name, parameters)
        wanted.update(NICKNAMES.get(name, (name,)))
    chosen = [name for name in MEASURES if name in wanted & known]
    shared = [name for name in chosen if name in ("dcg", "ideal_dcg", "ndcg")]
    if len(shared) > 1 and any(name in typed for name in shared) and version == 10:
        raise PomonaError(f"trec_eval 10 mixes up the gains of {', '.join(shared)}: ask for one at a time")
    out = []
    for name in chosen:
        names, parameters = MEASURES[name].read(name, typed.get(name), version)
        out.append(Chosen(names, parameters, MEASURES[name]))
    return out


def values_of(chosen: list[Chosen], query: Evaluated) -> list[list[Value]]:
    """The values of one query, measure by measure."""
    values = [one.measure.values(query.ranking, one.parameters) for one in chosen]
    if query.missing:
        for one, given in zip(chosen, values, strict=True):
            given[:] = [_cleaned(name, value) for name, value in zip(one.names, given, strict=True)]
    return values


def _cleaned(name: str, value: Value) -> Value:
    """Version 10 judges a missing query on one unknown document, then clears what that document shows.

    It goes by the printed name, so that a measure with parameters (`utility_2,-1,0,0`) keeps its value.
    """
    if name in ("num_ret", "utility", "rbp_resid") or name.startswith("unj"):
        return 0 if isinstance(value, int) else 0.0
    return "''" if name == "relstring" else value


def _lines(
    qrels: Qrels, run: Run, chosen: list[Chosen], options: Options, per_query: bool, summary: bool
) -> list[str]:
    lines: list[str] = []
    totals: list[list[float]] = [[0] * len(one.names) for one in chosen]  # a sum of counts stays a count
    n_evaluated = 0
    for query in rankings(qrels, run, options):
        n_evaluated += 1
        qid = query.qid.decode(errors="surrogateescape")
        for one, values, total in zip(chosen, values_of(chosen, query), totals, strict=True):
            total[:] = map(_added, total, values)
            if per_query and one.measure.per_query:
                lines += [_line(name, qid, value) for name, value in zip(one.names, values, strict=True)]
    if not n_evaluated:
        raise InputError(f"no query of {run.file} is in {qrels.file}: check that they belong together")
    scope = Scope(
        n_queries=len(qrels.qids) if options.complete else n_evaluated,
        n_evaluated=n_evaluated,
        # Here the tool counts every label above 0, whatever -l says.
        n_rel=int((qrels.labels > 0).sum()) if options.complete else None,
        tag=run.tag.decode(errors="surrogateescape"),
    )
    for one, total in zip(chosen, totals, strict=True):
        if summary and one.measure.summary:
            lines += [
                _line(name, "all", one.measure.summary(value, scope))
                for name, value in zip(one.names, total, strict=True)
            ]
    return lines


def _added(total: float, value: Value) -> float:
    return total if isinstance(value, str) else total + value


def _line(name: str, qid: str, value: Value) -> str:
    return f"{name:<22}\t{qid}\t{_text(value)}"


def _text(value: Value) -> str:
    if isinstance(value, float):
        # The processor's NaN has its sign bit set, and C prints that.
        return "  -nan" if math.isnan(value) else f"{value:6.4f}"
    return str(value)
