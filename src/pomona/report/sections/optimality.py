"""Is anything around a model better than the model?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from pomona.experiments.analysis.optimality import LocalOptimality
from pomona.report.digits import count, signed, significant
from pomona.report.encoding import Chart, data_of, sized, tips
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, rounded, text, yes

_INTRODUCTION = """
<p>{{ points }} points around the {{ found.n_parameters }} {{ found.what }} of the model
({{ found.values | length }} random directions, {{ found.steps | length }} steps each). ‖w‖ = {{ norm }}{%
if found.was_scaled %}; the ranking does not depend on it, so the {{ found.what }} were scaled to ‖w‖ = 1{%
elif found.is_relative %}; steps are shares of it{% endif %}.</p>
<p>{% if found.is_optimal %}<strong>ε-optimal</strong>: no point is better by more than
ε = {{ found.epsilon }}. With a confidence of {{ confidence }} at most 1 % of all directions have one.{%
else %}<strong>Not ε-optimal</strong>: {{ found.n_clearly_better }} points are better by more than
ε = {{ found.epsilon }}.{% endif %}</p>
"""


class OptimalitySection(Section):
    """How the measure changes around a model."""

    name = "optimality"
    title = "Around the model"
    order = 10
    report = "optimality"

    def of_dataset(self, findings: Mapping[str, Mapping[str, LocalOptimality]], dataset: str) -> Parts:
        yield Numbers(optimality_table(findings[dataset].values()), "By measure", is_open=True)
        for found in findings[dataset].values():
            norm, confidence = significant(found.norm), f"{found.confidence:.1%}"
            yield Html(f"<h3>{{{{ found.measure }}}}</h3>{_INTRODUCTION}", found=found, norm=norm,
                       confidence=confidence, points=found.values.size)  # fmt: skip
            yield Figure(
                f"optimality-{found.measure}",
                change_by_step(found),
                f"How {found.measure} changes when the parameters are moved by a step in a random direction: "
                "median (points), the middle half (bars) and all (lines) of the directions. Dashed: ε above "
                "the model.",
            )
            yield Numbers(step_table(found), "The numbers by step")


def change_by_step(found: LocalOptimality) -> Chart | None:
    """The spread of the measure's change, by the length of the step."""
    rows = found.by_step.to_dicts()
    if not rows:
        return None
    spread = {
        name: (name.replace("_", " "), "+.4f")
        for name in ("lowest", "lower_quartile", "median", "upper_quartile", "highest")
    }
    counts = {"better": ("better", "d"), "better_by_epsilon": ("better by ε", "d")}
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("step:O", title="step η", axis=alt.Axis(labelAngle=0)),
        tooltip=tips(step="step", **counts, **spread),
    )
    title = f"change of {found.measure}"
    limits = alt.Chart(
        data_of([{"limit": 0.0, "kind": "model"}, {"limit": found.epsilon, "kind": "epsilon"}])
    )
    at = limits.encode(y="limit:Q")
    chart = alt.layer(
        base.mark_rule(style="zero").encode(y=alt.Y("lowest:Q", title=title), y2="highest:Q"),
        base.mark_bar(style="better", width=14).encode(y="lower_quartile:Q", y2="upper_quartile:Q"),
        base.mark_point(filled=True, size=60, opacity=1, style="direct-label").encode(y="median:Q"),
        at.transform_filter("datum.kind == 'model'").mark_rule(style="zero"),
        at.transform_filter("datum.kind == 'epsilon'").mark_rule(style="front"),
    )
    return sized(
        chart,
        f"Change of {found.measure} around the model by the length of the step. {found.n_better} of "
        f"{found.values.size} points are better, {found.n_clearly_better} by more than {found.epsilon}.",
        height=260,
    )


def optimality_table(found: Any) -> Table:
    """A row a measure."""
    columns = [
        text("Measure", "measure"),
        number("Model", "value"),
        number("Points", "points", count),
        number("Better", "better", count),
        number("Better by ε", "better_by_epsilon", count),
        number("Highest", "highest"),
        yes("ε-optimal", "epsilon_optimal"),
        rounded("Confidence", "confidence", 3),
    ]
    return make_table("optimality", "Points around the model", columns, [one.row() for one in found])


def step_table(found: LocalOptimality) -> Table:
    """A row a step."""
    columns = [
        number("Step", "step", significant),
        number("Better", "better", count),
        number("Better by ε", "better_by_epsilon", count),
        number("Lowest", "lowest", signed),
        number("Median", "median", signed),
        number("Highest", "highest", signed),
    ]
    name = f"optimality-{found.measure}"
    return make_table(name, f"Change of {found.measure} by step", columns, found.by_step.to_dicts())
