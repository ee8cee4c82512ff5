"""Yilmaz & Robertson 2009: which measure to train for?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from common import Comparison, Parts, published, table

from pomona.report.digits import fixed

TESTED = {"AP": "ap", "P@10": "p@10", "NDCG@10": "ndcg@10"}
FOOTNOTES = (
    ("ap(relevant=2)", None, "AP"),
    ("ap(relevant=2)", "ap(relevant=2)", "AP"),
    ("ap", "ap", "AP"),
    ("ndcg", "ndcg", "NDCG"),
)
"""What is trained for and what picks the epoch (None: the measure of the test), and what it is set beside."""


def informative_table(of: Comparison, folder: Path, paper: str = "yilmaz_robertson") -> str:
    """Trained for × tested on, the methods of a table of the paper, with its marks."""
    parts = []
    theirs = {(row["method"], row["trained for"]): row for row in published(paper)}
    for data in (found.name for found in of.results.spec.datasets):
        rows = []
        for (method, trained), known in theirs.items():
            cells = []
            for test, measure in TESTED.items():
                value = of.mean(data, _label(method, trained, test), measure)
                marks = _marks(of, data, method, trained, test)
                cells += [known[measure], ("" if value is None else fixed(100 * value, 2)) + marks]
            rows.append([method, trained, *cells])
        heads = [f"{test}{who}" for test in TESTED for who in (" paper", " ours")]
        parts.append(f"**{data}**\n\n" + table(["method", "trained for", *heads], rows, n_texts=2))
    return "\n\n".join(parts)


def _label(method: str, trained: str, test: str) -> str:
    return f"{method} {trained.lower()}|{test.lower()}"


def _marks(of: Comparison, data: str, method: str, trained: str, test: str) -> str:
    """• ▾: three tests put it above or below training for the test measure; °: the better of AP and NDCG."""
    mine, marks = _label(method, trained, test), ""
    if trained != test:
        pair = of.pair(data, TESTED[test], mine, _label(method, test, test))
        marks += ("•" if pair["difference"] > 0 else "▾") if pair["agree"] else ""
    if other := {"AP": "NDCG", "NDCG": "AP"}.get(trained):
        pair = of.pair(data, TESTED[test], mine, _label(method, other, test))
        marks += "°" if pair["agree"] and pair["difference"] > 0 else ""
    return marks


def footnote_table(of: Comparison, folder: Path) -> str:
    """The paper's footnotes 2 and 3: AP of the second grade on, and the training measure picks the epoch."""
    rows = []
    for data in (found.name for found in of.results.spec.datasets):
        for method in ("LambdaRank", "SoftRank"):
            for trained, picked, plain in FOOTNOTES:
                cells = []
                for test, measure in TESTED.items():
                    mine = f"{method} {trained}|{picked or test.lower()}"
                    other = _label(method, plain, test)
                    value = of.mean(data, mine, measure)
                    pair = of.pair(data, measure, mine, other) if mine != other else {"agree": False}
                    mark = ("▲" if pair["difference"] > 0 else "▼") if pair["agree"] else ""
                    cells.append(("" if value is None else fixed(100 * value, 2)) + mark)
                rows.append([data, method, trained, picked or "the measure of the test", *cells])
    note = (
        "▲ ▼: three tests put it above or below training for AP, or for NDCG, with the epoch picked by the "
        "measure of the test."
    )
    heads = ["dataset", "method", "trained for", "epoch picked by", *TESTED]
    return table(heads, rows, n_texts=4) + f"\n\n{note}"


def spread_table(of: Comparison, folder: Path) -> str:
    """How far the seeds of one setting lie apart, beside how far the settings do."""
    rows = []
    trained = dict.fromkeys((row["method"], row["trained for"]) for row in published("yilmaz_robertson"))
    for data in (found.name for found in of.results.spec.datasets):
        for method in dict.fromkeys(method for method, _ in trained):
            for test, measure in TESTED.items():
                seeds = [
                    of.seeds(data, _label(method, aim, test), measure)
                    for of_method, aim in trained
                    if of_method == method
                ]
                within = [100 * (max(values) - min(values)) for values in seeds]
                means = [100 * sum(values) / len(values) for values in seeds]
                between = fixed(max(means) - min(means), 2)
                spread = f"{fixed(min(within), 2)} to {fixed(max(within), 2)}"
                rows.append([data, method, test, str(len(seeds[0])), spread, between])
    heads = ["seeds", "span of the seeds of one setting", "span of the means of the four"]
    return table(["dataset", "method", "tested on", *heads], rows, n_texts=3)


PARTS: Parts = {
    "yilmaz-robertson": ("yilmaz_robertson", informative_table),
    "yilmaz-robertson footnotes": ("yilmaz_robertson", footnote_table),
    "yilmaz-robertson seeds": ("yilmaz_robertson", spread_table),
    "yilmaz-robertson simulated": ("yilmaz_simulated", informative_table),
    "yilmaz-robertson large": ("yilmaz_large", partial(informative_table, paper="yilmaz_large")),
}
