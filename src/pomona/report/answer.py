"""The answer in two sentences: who won, by how much, and whether that is more than chance; what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from pomona.report.digits import fixed, microseconds, p_value, seconds, signed
from pomona.report.names import comparable_of, datasets_of, measure_title

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings


def answers(findings: Findings) -> dict[str, tuple[str, ...]]:
    """The sentences for each dataset."""
    found = {dataset: headline_of(findings, dataset) for dataset in datasets_of(findings)}
    return {
        dataset: ("No ranker finished: the table has the reasons.",)
        if headline is None
        else (_outcome(findings, headline), _cost(findings, headline))
        for dataset, headline in found.items()
    }


def headline_of(findings: Findings, dataset: str) -> dict[str, Any] | None:
    """Winner, runner-up and what is between them on a dataset; None when no ranker finished there."""
    found = findings.headline.filter(dataset=dataset)
    return found.row(0, named=True) if found.height else None


def _outcome(findings: Findings, headline: dict[str, Any]) -> str:
    winner, second = headline["winner"], headline["runner_up"]
    where = {"dataset": headline["dataset"], "measure": headline["measure"]}
    row = findings.table.filter(ranker=winner, **where).row(0, named=True)
    measure = measure_title(headline["measure"])
    start = f"{winner} is best on {headline['dataset']} with {measure} {fixed(row['mean'])}"
    if second is None:
        return f"{start}; there is no other ranker to compare it with."
    interval = f"{1 - findings.alpha:.0%} interval {signed(headline['low'])} to {signed(headline['high'])}"
    margin = f"{fixed(headline['difference'])} above {second} ({interval})"
    p = p_value(headline["p"])
    chance = (f"p {p}" if p.startswith("<") else f"p = {p}").replace(" ", "\N{NO-BREAK SPACE}")
    queries = f"{row['n_queries']} queries"
    if headline["is_significant"]:
        return f"{start}, {margin}: a significant difference ({chance} after Holm’s correction, {queries})."
    return (
        f"{start}, {margin}: within chance ({chance} after Holm’s correction), "
        f"{queries} cannot tell the two apart."
    )


def _cost(findings: Findings, headline: dict[str, Any]) -> str:
    costs = findings.costs.filter(dataset=headline["dataset"])
    spent = {row["ranker"]: row for row in costs.iter_rows(named=True)}
    train, score = _times(spent[headline["winner"]])
    start = f"It trains in {train} a run and scores a document in {score}"
    cheaper = _cheapest_equal(findings, headline, spent)
    if cheaper is not None:
        train, score = _times(spent[cheaper])
        return (
            f"{start}; {cheaper}, the fastest to train of those not significantly worse, "
            f"needs {train} and {score}."
        )
    if headline["runner_up"] is None:
        return f"{start}."
    train, score = _times(spent[headline["runner_up"]])
    return f"{start}, against {train} and {score} for {headline['runner_up']}."


def _times(cost: dict[str, Any]) -> tuple[str, str]:
    train, score = cost["train_seconds"], cost["score_microseconds"]
    return "unknown time" if train is None else seconds(
        train
    ), "unknown time" if score is None else microseconds(score)


def _cheapest_equal(findings: Findings, headline: dict[str, Any], spent: dict[str, Any]) -> str | None:
    """The fastest to train of those that the winner does not beat significantly; None if it is itself."""
    winner = headline["winner"]
    pairs = findings.pairs.filter(
        (pl.col("a") == winner) | (pl.col("b") == winner),
        dataset=headline["dataset"],
        measure=headline["measure"],
    )
    full = comparable_of(findings, headline["dataset"])
    times = {
        other: spent[other]["train_seconds"]
        for pair in pairs.iter_rows(named=True)
        for other in (pair["a"], pair["b"])
        if other in full
        and not is_significant(pair, findings.alpha)
        and spent[other]["train_seconds"] is not None
    }
    fastest = min(times, key=lambda ranker: float(times[ranker]), default=winner)
    return None if fastest == winner else fastest


def is_significant(pair: dict[str, Any], alpha: float) -> bool:
    """Whether a difference counts: t, Wilcoxon and sign test agree, and it survives Holm's correction."""
    return bool(pair["agree"]) and pair["holm_p"] is not None and pair["holm_p"] <= alpha
