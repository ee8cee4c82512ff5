"""What things are called in print: measures, rankers in their order, files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pomona.report.digits import fixed

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings

_CAPITALS = {"ap", "dcg", "err", "ndcg", "p", "rbp", "rr", "sr", "wta"}


def measure_title(measure: str) -> str:
    """A measure as papers print it, the convention after it.

    >>> measure_title("ndcg@10"), measure_title("letor4:rbp(p=0.8)"), measure_title("seznam_rank")
    ('NDCG@10', 'RBP(p=0.8) (letor4)', 'seznam_rank')
    """
    convention, _, plain = measure.rpartition(":")
    name, rest = re.fullmatch(r"([a-z_]*)(.*)", plain, re.DOTALL | re.IGNORECASE).groups()  # type: ignore[union-attr]
    title = (name.upper() if name.lower() in _CAPITALS else name) + rest
    return f"{title} ({convention})" if convention else title


def datasets_of(findings: Findings) -> list[str]:
    """The datasets, in the order of the spec; also one on which every run failed."""
    names: list[str] = findings.costs["dataset"].unique(maintain_order=True).to_list()
    return names


def rankers_of(findings: Findings, dataset: str | None = None) -> list[str]:
    """The rankers that were judged on a dataset (on any, when left out), the best first, without the bounds.

    Those judged on fewer queries than others stand last: their means cannot be ranked among the others'.
    """
    if dataset is None:
        every = (rankers_of(findings, name) for name in datasets_of(findings))
        return list(dict.fromkeys(ranker for rankers in every for ranker in rankers))
    real = findings.table.filter(dataset=dataset, measure=findings.main, is_bound=False)
    ranked = real.sort("n_queries", "mean", descending=True, maintain_order=True)
    return [str(ranker) for ranker in ranked["ranker"]]


def comparable_of(findings: Findings, dataset: str) -> list[str]:
    """The rankers that were judged on all queries, the best first."""
    own = findings.table.filter(dataset=dataset, measure=findings.main)
    judged = dict(own.select("ranker", "n_queries").iter_rows())
    ranked = rankers_of(findings, dataset)
    return [ranker for ranker in ranked if judged[ranker] == judged[ranked[0]]]


def close_of(findings: Findings, dataset: str) -> tuple[list[str], str]:
    """The rankers worth comparing by eye, the best first, and a note on the others.

    Rankers so far below (random order, say) that they would press the others together are left out of plots:
    those below a gap that is twice the spread of the better half or more, and whose intervals end below all
    others'.
    """
    ranked = rankers_of(findings, dataset)
    rows = findings.table.filter(dataset=dataset, measure=findings.main, is_bound=False)
    found = {row["ranker"]: row for row in rows.iter_rows(named=True)}
    order = sorted(ranked, key=lambda ranker: -found[ranker]["mean"])
    for n in range(max(3, (len(order) + 1) // 2), len(order)):
        best, last, next_ = (found[order[i]] for i in (0, n - 1, n))
        is_far = last["mean"] - next_["mean"] > 2 * (best["mean"] - last["mean"])
        ends = [found[ranker]["low"] for ranker in order[:n]] + [
            found[ranker]["high"] for ranker in order[n:]
        ]
        if is_far and None not in ends and max(ends[n:]) < min(ends[:n]):
            told = ", ".join(f"{ranker} ({fixed(found[ranker]['mean'], 3)})" for ranker in order[n:])
            return [ranker for ranker in ranked if ranker in order[:n]], f"not shown, far below: {told}"
    return ranked, ""


def file_names(titles: list[str]) -> dict[str, str]:
    """A name for files and anchors for each title: letters, digits and dashes, no two the same.

    >>> file_names(["MQ 2008", "mq/2008", "…"])
    {'MQ 2008': 'mq-2008', 'mq/2008': 'mq-2008-2', '…': 'data'}
    """
    taken: dict[str, str] = {}
    for title in titles:
        stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "data"
        name, number = stem, 1
        while name in taken.values():
            number += 1
            name = f"{stem}-{number}"
        taken[title] = name
    return taken
