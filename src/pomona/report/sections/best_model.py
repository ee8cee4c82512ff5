"""How good is what was found, and what does it consist of?"""

from __future__ import annotations

from pomona.experiments.analysis.best import BestFindings
from pomona.experiments.best.duration import in_words
from pomona.report.digits import fixed, significant
from pomona.report.names import measure_title
from pomona.report.section import Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, rounded, text

_SUMMARY = """
<p class="lead"><strong>{{ measure }} {{ mean }}</strong>{% if low %}, {{ level }} interval {{ low }} to
{{ high }}{% endif %}: what to expect on new queries like these.</p>
<p>The estimate is the mean over {{ n_queries }} queries, each judged by models that neither learnt from it
nor stopped by it, and chosen and weighed without it: a fifth of the queries at a time is left out of the
whole choice. Which recipes were tried at all was decided with all queries in sight, which flatters it a
little; that each of its models learnt from fewer queries than the model as a whole does the opposite. Test
queries played no part.{% if is_partial %} <strong>The time did not suffice to judge any recipe by all
folds: the estimate is of few queries, and the choice was made by few.</strong>{% endif %}</p>
<p>{{ made }} {% if valid %}All of it learnt from the training queries; the queries of {{ valid }} decided
when to stop, and judged, half by half in turn.{% else %}Queries were cut into {{ n_folds }} folds: each fold
once judges models that learnt from the others but one, by which they stop.{% endif %}</p>
<p>Scoring takes {{ microseconds }} µs a document, measured here. {{ n_tried }} recipes were tried in
{{ spent }}{% if interrupted %}, until it was interrupted{% endif %}.</p>
{% for note in notes %}<p><strong>Not as asked for:</strong> {{ note }}.</p>{% endfor %}
"""
_WAYS = {
    "alone": "No combination of rankers was better than the best one alone.",
    "equal": "The rankers have equal weights, which beat learnt ones on queries that had not taught them.",
    "learnt": "The weights were learnt by Coordinate Ascent on scores of held-out queries.",
}
_SCALES = {
    "none": "Their scores are added as they are",
    "standard": "Their scores are first put on a common scale inside each query",
}
_FORMS = {
    "mean of folds": "each ranker is the mean of its models of all folds.",
    "fitted again": "each ranker was fitted once more, on all queries but one fold.",
    "one fold": "each ranker is its model of one fold.",
}


class BestModelSection(Section):
    """The estimate, and the members of the model."""

    name = "best-model"
    title = "What was found"
    order = 10
    report = "best"

    def overall(self, findings: BestFindings) -> Parts:
        found, estimate = findings.conclusion, findings.conclusion.estimate
        has_interval = estimate.low == estimate.low
        is_one = len(found.members) == 1
        form = _FORMS[found.form]
        scale = f"{_WAYS[found.way]} " + ("" if is_one else f"{_SCALES[found.scale]}; ")
        yield Html(
            _SUMMARY,
            measure=measure_title(findings.measure),
            mean=fixed(estimate.mean),
            low=fixed(estimate.low) if has_interval else "",
            high=fixed(estimate.high) if has_interval else "",
            level=f"{estimate.level:.0%}",
            n_queries=estimate.n_queries,
            is_partial=found.is_partial,
            made=scale + (form[0].upper() + form[1:] if is_one else form),
            valid=findings.valid,
            n_folds=findings.n_folds,
            microseconds=significant(found.microseconds),
            n_tried=findings.trials.height,
            spent=in_words(findings.spent),
            interrupted=findings.was_interrupted,
            notes=found.notes,
        )
        yield Numbers(member_table(findings), "What the model consists of", is_open=True)


def member_table(findings: BestFindings) -> Table:
    """The rankers in the model, the heaviest first."""
    columns = [
        text("Ranker", "recipe"),
        rounded("Weight", "weight", 3),
        number(f"{measure_title(findings.measure)} alone", "value"),
        number("Score (µs/doc)", "microseconds", significant),
        number("All its fits (s)", "seconds", significant),
    ]
    return make_table("members", "What the model consists of", columns, findings.members.to_dicts())
