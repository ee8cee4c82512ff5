"""On which queries do two rankers differ, and what are the documents there?"""

from __future__ import annotations

import json
import math
from typing import Any

import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.encoding import Chart
from pomona.report.names import measure_title, rankers_of
from pomona.report.section import Figure, Html, Parts, Section, as_json
from pomona.report.sections.duel_queries import sorted_differences

_DIGITS = 4  # of a query's value; the page keeps it as an integer
_OF_PAIR = ("difference", "low", "high", "holm_p", "wins", "ties", "losses", "is_significant")

_CHOICE = """
<div class="controls">
{% for name, label in (("a", "Ranker"), ("b", "minus")) %}
<label>{{ label }} <select name="{{ name }}">
{% for ranker in rankers %}
<option value="{{ loop.index0 }}"{{ " selected" if ranker == pair[name] }}>{{ ranker }}</option>
{% endfor %}
</select></label>
{% endfor %}
<button type="button" class="swap">Swap</button>
</div>
<p class="verdict" aria-live="polite"></p>
"""
_LIST = """
<label class="only"><input type="checkbox" name="only"> Only queries whose documents are kept here</label>
<div class="scroll" tabindex="0" role="region" aria-label="Queries of {{ dataset }}">
<table class="list">
<caption>Queries of {{ dataset }} and the {{ measure }} of both rankers</caption>
<thead><tr>
<th scope="col" class="text"><button type="button">Query</button></th>
<th scope="col" aria-sort="ascending"><button type="button">Difference</button></th>
<th scope="col"><button type="button"></button></th>
<th scope="col"><button type="button"></button></th>
<th scope="col"><button type="button">Fold</button></th>
</tr></thead>
<tbody></tbody>
</table>
</div>
<button type="button" class="more">Show more</button>
<noscript><p>The list of queries needs JavaScript.</p></noscript>
<script type="application/json" class="data">{{ data }}</script>
"""


class QueriesSection(Section):
    """A pair of rankers that the reader chooses, query by query."""

    name = "queries"
    title = "Query by query"
    order = 90

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        headline = findings.headline.filter(pl.col("runner_up").is_not_null(), dataset=dataset)
        if headline.is_empty():
            yield Html("<p>There are no two rankers to compare.</p>")
            return
        a, b = headline.select("winner", "runner_up").row(0)
        yield Html(_CHOICE, rankers=rankers_of(findings, dataset), pair={"a": a, "b": b})
        yield Figure("query-differences", query_differences(findings, dataset, a, b))
        data = as_json(query_data(findings, dataset))
        yield Html(_LIST, dataset=dataset, measure=measure_title(findings.main), data=data)


def query_differences(findings: Findings, dataset: str, a: str, b: str) -> Chart:
    """The main measure of one ranker minus that of another, query by query, the worst first."""
    queries = findings.queries.filter(dataset=dataset)
    differences = (queries[a] - queries[b]).drop_nulls().sort().to_list()
    where = f" on {dataset}"
    return sorted_differences(differences, a, b, findings.main, where=where, has_note=False)


def query_data(findings: Findings, dataset: str) -> dict[str, Any]:
    """The main measure of every query, and the documents of some, column by column to keep the page small."""
    frame = findings.queries.filter(dataset=dataset)
    rankers, scale = rankers_of(findings, dataset), 10**_DIGITS
    places = {key: i for i, key in enumerate(frame.select("fold", "qid").rows())}
    documents = findings.documents.filter(dataset=dataset)
    pairs = findings.pairs.filter(dataset=dataset, measure=findings.main)
    return {
        "rankers": rankers,
        "measure": measure_title(findings.main),
        "digits": _DIGITS,
        "level": f"{1 - findings.alpha:.0%}",
        "folds": frame["fold"].to_list(),
        "qids": frame["qid"].to_list(),
        "values": [
            [None if value is None else round(value * scale) for value in frame[ranker]] for ranker in rankers
        ],
        "documents": {
            places[fold, qid]: _documents(part, rankers)
            for (fold, qid), part in documents.group_by("fold", "qid", maintain_order=True)
        },
        "pairs": [
            [rankers.index(pair["a"]), rankers.index(pair["b"]), *(_short(pair[key]) for key in _OF_PAIR)]
            for pair in pairs.iter_rows(named=True)
        ],
    }


def _documents(documents: pl.DataFrame, rankers: list[str]) -> dict[str, Any]:
    features = [json.loads(text) for text in documents["features"]]
    return {
        "ids": documents["doc"].to_list(),
        "labels": documents["label"].to_list(),
        "scores": [[_short(score) for score in documents[f"score:{ranker}"]] for ranker in rankers],
        "ranks": [documents[f"rank:{ranker}"].to_list() for ranker in rankers],
        "features": [[[name, _short(value)] for name, value in row.items()] for row in features],
    }


def _short(value: Any) -> Any:
    """A number with more digits than are shown; NaN and infinity are nothing."""
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value
