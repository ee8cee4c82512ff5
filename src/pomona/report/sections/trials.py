"""What did the search for parameters try, and what did it choose?"""

from __future__ import annotations

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.encoding import Chart, data_of, in_order, scale_of, sized, tips
from pomona.report.names import rankers_of
from pomona.report.section import Figure, Html, Numbers, Parts, Section, Side
from pomona.report.table import Table, make_table, number, text
from pomona.report.theme import SHAPES, SLOTS

_LOG_FROM = 20.0
"""Values whose largest is so many times their least are drawn on a logarithmic axis."""

_INTRODUCTION = """
<p>Every dot is a trial: a ranker with other parameters, judged on the validation queries of its fold. The
chosen ones, one a run, are what the rest of this report speaks of. A parameter whose best values lie at an
end of its range may be worth a wider range; one without any slope, none.</p>
"""


class TrialsSection(Section):
    """The trials of every search, and the parameters that were chosen."""

    name = "trials"
    title = "The search"
    order = 65

    def overall(self, findings: Findings) -> Parts:
        if not findings.trials.is_empty():
            yield Html(_INTRODUCTION)

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        trials = findings.trials.filter(dataset=dataset)
        searched = set(trials["ranker"])
        for ranker in (one for one in rankers_of(findings, dataset) if one in searched):
            of_ranker = trials.filter(ranker=ranker)
            names = of_ranker["parameter"].unique(maintain_order=True).to_list()
            yield Html("<h4>{{ ranker }}</h4>", ranker=ranker)
            yield Side(
                *(
                    Figure(
                        f"trials-{ranker}-{name}",
                        trial_chart(of_ranker.filter(parameter=name), dataset, ranker, name),
                    )
                    for name in names
                )
            )
        yield Numbers(chosen_table(trials, dataset), "The chosen parameters, fold by fold", is_open=True)


def trial_chart(trials: pl.DataFrame, dataset: str, ranker: str, name: str) -> Chart | None:
    """The validation value against a parameter, the chosen trials marked."""
    done = trials.filter(pl.col("value").is_not_null())
    if done.is_empty():
        return None
    is_number = done["x"].null_count() == 0
    rows = [
        {**row, "state": "chosen" if row["is_chosen"] else "tried"}
        for row in done.sort("is_chosen")
        .select("x", "setting", "value", "fold", "seed", "trial", "is_chosen")
        .to_dicts()
    ]
    values = [row["value"] for row in rows]
    y = alt.Y("value:Q", title="validation queries", scale=scale_of(values), axis=alt.Axis(tickCount=5))
    if is_number:
        xs = [row["x"] for row in rows]
        is_log = min(xs) > 0 and max(xs) / min(xs) >= _LOG_FROM
        axis = alt.Axis(format=".3~r", labelOverlap=True, tickCount=5)
        x = alt.X("x:Q", title=name, scale=scale_of(xs, log=is_log), axis=axis)
    else:
        x = alt.X("setting:N", title=name, scale=in_order(sorted({row["setting"] for row in rows})))
    # The chosen have a ranker's first colour and the square; those tried are grey circles.
    legend = alt.Legend(title=None, orient="top", values=["chosen", "tried"])
    states = ["chosen", *SLOTS[1:-1], "tried"]
    shapes = [SHAPES[1], *SHAPES[1:-1], SHAPES[0]]
    chart = (
        alt.Chart(data_of(rows))
        .mark_point(filled=True, size=45, opacity=0.75)
        .encode(
            x=x,
            y=y,
            color=alt.Color("state:N", scale=alt.Scale(domain=states, range="category"), legend=legend),
            shape=alt.Shape("state:N", scale=alt.Scale(domain=states, range=shapes), legend=legend),
            tooltip=tips(
                setting=name,
                value=("validation", ".4f"),
                fold=("fold", "d"),
                trial=("trial", "d"),
                state="it was",
            ),
        )
    )
    return sized(
        chart,
        f"Validation values of {len(rows)} trials of {ranker} on {dataset} against {name}, from "
        f"{min(values):.4f} to {max(values):.4f}.",
        height=200,
    )


def chosen_table(trials: pl.DataFrame, dataset: str) -> Table:
    """What was chosen in every run."""
    chosen = trials.filter("is_chosen")
    names = chosen["parameter"].unique(maintain_order=True).to_list()
    keys = ["ranker", "fold", "seed", "trial", "value"]
    rows = [] if chosen.is_empty() else chosen.pivot("parameter", index=keys, values="setting").to_dicts()
    columns = [
        text("Ranker", "ranker"),
        number("Fold", "fold", str),
        number("Seed", "seed", str),
        *(text(name, name) for name in names),
        number("Trial", "trial", str),
        number("Validation", "value"),
    ]
    return make_table("trials", f"Chosen parameters on {dataset}", columns, rows)
