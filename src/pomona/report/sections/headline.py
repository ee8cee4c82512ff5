"""Who won, by how much, is that more than chance, and what does it cost?"""

from __future__ import annotations

from typing import Any

from pomona.experiments.findings import Findings
from pomona.report.digits import fixed, microseconds, p_value, seconds, signed
from pomona.report.names import datasets_of, measure_title
from pomona.report.section import Html, Parts, Section

_SENTENCES = """
{% for dataset in datasets %}
{% for sentence in sentences[dataset] %}
<p class="{{ 'answer' if loop.first else 'more-answer' }}">{{ sentence }}</p>
{% endfor %}
{% endfor %}
{% if warnings %}
<aside class="warnings" aria-labelledby="warnings-title">
<h3 id="warnings-title">Before you rely on it</h3>
<ul>{% for warning in warnings %}<li>{{ warning }}</li>{% endfor %}</ul>
</aside>
{% endif %}
"""


_CHOOSING = {
    "valid": "the validation queries",
    "test": "these very test queries (there are no others to choose by, so it is flattered)",
}
"""What chose the best variant of a method."""


class HeadlineSection(Section):
    """Two sentences a dataset, and what to know before relying on them."""

    name = "headline"
    title = "The answer"
    order = 0

    def heading(self, findings: Findings) -> str:
        """What the sentences answer; where a study stands above them, that has the answer to its question."""
        if not findings.study.is_empty():
            return "Which ranker is best on the complete data"
        is_below = not (findings.grid.is_empty() and findings.overfitting.is_empty())
        return "Which ranker is best" if is_below else self.title

    def overall(self, findings: Findings) -> Parts:
        yield Html(
            _SENTENCES,
            datasets=datasets_of(findings),
            sentences=sentences_of(findings),
            warnings=findings.warnings,
        )


def sentences_of(findings: Findings) -> dict[str, tuple[str, ...]]:
    """For each dataset who won, and at what cost."""
    headlines = {row["dataset"]: row for row in findings.headline.iter_rows(named=True)}
    return {
        dataset: (_outcome(headlines[dataset], findings.alpha), _cost(headlines[dataset]))
        if dataset in headlines
        else ("No ranker finished: the table has the reasons.",)
        for dataset in datasets_of(findings)
    }


def _outcome(headline: dict[str, Any], alpha: float) -> str:
    difference = headline["difference"] or 0.0
    winner = f"{headline['winner']}{_choice(headline)}"
    judged = f"{measure_title(headline['measure'])} {fixed(headline['mean'])}"
    start = f"{winner} is best on {headline['dataset']} with {judged}"
    if difference < 0:  # of variants of one method, the test queries like another better
        start = f"{winner} has {judged} on the test queries of {headline['dataset']}"
    if headline["runner_up"] is None:
        return f"{start}; there is no other ranker to compare it with."
    ends = f"{signed(headline['low'])} to {signed(headline['high'])}"
    margin = f"{fixed(abs(difference))} {'below' if difference < 0 else 'above'} {_runner_up(headline)}"
    level = f"{1 - alpha:.0%} interval"
    p = p_value(headline["p"])
    chance = (f"p {p}" if p.startswith("<") else f"p = {p}").replace(" ", "\N{NO-BREAK SPACE}")
    corrected, queries = f"{chance} after Holm’s correction", f"{headline['n_queries']} queries"
    if headline["is_significant"]:
        verdict = f"a significant difference ({corrected}, {queries})"
        return f"{start}, {margin} (uncorrected {level} {ends}): {verdict}."
    if headline["p"] <= alpha and not headline["agree"]:
        corrected += ", and the t, Wilcoxon and sign tests do not agree"
    told = f"{level} of this pair alone {ends}"
    if headline["low"] is not None and (headline["low"] > 0 or headline["high"] < 0):
        told += ", which leaves 0 out; the test, corrected for all pairs, does not"
    return f"{start}, {margin} ({told}): within chance ({corrected}), {queries} cannot tell the two apart."


def _choice(headline: dict[str, Any]) -> str:
    """How the winner was chosen, where it is a variant."""
    if (headline["winner_of"] or 1) == 1:
        return ""
    return f", of {headline['winner_of']} variants the best on {_CHOOSING[headline['chosen_by']]},"


def _runner_up(headline: dict[str, Any]) -> str:
    name, n_variants = headline["runner_up"], headline["runner_up_of"] or 1
    if n_variants == 1:
        return str(name)
    likewise = "likewise" if _choice(headline) else f"on {_CHOOSING[headline['chosen_by']]}"
    return f"{name}, chosen of {n_variants} variants {likewise}"


def _cost(headline: dict[str, Any]) -> str:
    train, score = _times(headline, "winner")
    start = f"It trains in {train} a run and scores a document in {score}"
    if headline["cheaper"] is not None:
        train, score = _times(headline, "cheaper")
        return (
            f"{start}; {headline['cheaper']}, the fastest to train of those not significantly worse, "
            f"needs {train} and {score}."
        )
    if headline["runner_up"] is None:
        return f"{start}."
    train, score = _times(headline, "runner_up")
    return f"{start}, against {train} and {score} for {headline['runner_up']}."


def _times(headline: dict[str, Any], role: str) -> tuple[str, str]:
    train, score = headline[f"{role}_train_seconds"], headline[f"{role}_score_microseconds"]
    return (
        "unknown time" if train is None else seconds(train),
        "unknown time" if score is None else microseconds(score),
    )
