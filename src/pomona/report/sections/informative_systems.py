"""Does a measure put systems in the order of their precision, and does what is inferred from it?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.analysis.informative import Informativeness
from pomona.report.digits import count, fixed
from pomona.report.encoding import Chart, Rows, color, panels, tips
from pomona.report.names import measure_title
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, text


class InformativeSystemsSection(Section):
    """Means of systems: a dot each (Yilmaz & Robertson 2009, Figures 1 and 3)."""

    name = "informative-systems"
    title = "Systems"
    order = 30
    report = "informative"

    def of_dataset(self, findings: Informativeness, dataset: str) -> Parts:
        pc = f"PC({findings.n_top})"
        yield Figure(
            "correlation-with-precision",
            system_points(findings, dataset, "value", "pc"),
            f"Every system’s mean of a measure (to the right) and its mean {pc} (up). τ is Kendall’s.",
        )
        yield Figure(
            "inferred-precision",
            system_points(findings, dataset, "pc", "inferred_pc"),
            f"Every system’s actual mean {pc} (to the right) and the mean inferred from the measure (up). "
            "On the line, nothing is lost.",
        )
        yield Numbers(system_table(findings, dataset), "The means of all systems")


def system_points(findings: Informativeness, dataset: str, x: str, y: str) -> Chart | None:
    """A panel a measure, a dot a system; with a diagonal where both axes show the same."""
    inferred = y == "inferred_pc"
    errors = ("rms_of_inferred_pc", "tau_of_inferred_pc") if inferred else ("rms_to_pc", "tau_to_pc")
    rows: Rows = []
    titles = []
    for facts in findings.summary.filter(dataset=dataset).iter_rows(named=True):
        rms, tau = (facts[name] for name in errors)
        title = f"{measure_title(facts['measure'])}: RMS {fixed(rms, 3)}, τ {fixed(tau, 3)}"
        titles.append(title)
        own = findings.systems.filter(dataset=dataset, measure=facts["measure"]).drop_nulls(y).to_dicts()
        rows += [
            {"panel": title, "system": row["system"], "x": row[x], "y": row[y], "slot": "1"} for row in own
        ]
        if inferred and own:
            both = [row[name] for row in own for name in (x, y)]
            rows += [{"panel": title, "end": end, "x": end, "y": end} for end in (min(both), max(both))]
    if not rows:
        return None
    pc = f"PC({findings.n_top})"
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=f"mean {pc}" if inferred else "mean measure", scale=alt.Scale(zero=False)),
        y=alt.Y("y:Q", title=f"inferred {pc}" if inferred else f"mean {pc}", scale=alt.Scale(zero=False)),
    )
    points = base.mark_point(filled=True, size=44, opacity=0.8).encode(
        color=color(), tooltip=tips(system="system", x=("to the right", ".4f"), y=("up", ".4f"))
    )
    layers = [points.transform_filter("isValid(datum.system)")]
    if inferred:
        layers.insert(0, base.mark_line(style="front").transform_filter("isValid(datum.end)"))
    return panels(
        alt.layer(*layers),
        rows,
        "panel",
        titles,
        f"{'Inferred and actual' if inferred else 'Measure and'} mean {pc} of systems on {dataset}. "
        f"{'; '.join(titles)}.",
        is_apart=True,
    )


def system_table(findings: Informativeness, dataset: str) -> Table:
    """Every system's means and errors, by every measure."""
    pc = f"PC({findings.n_top})"
    columns = [
        text("System", "system"),
        measured(),
        number("Mean", "value"),
        number(f"Mean {pc}", "pc"),
        number(f"Inferred {pc}", "inferred_pc"),
        number("RMS", "rms"),
        number("MAE", "mae"),
        number("Queries", "n_queries", count),
    ]
    rows = findings.systems.filter(dataset=dataset).to_dicts()
    return make_table("systems", f"Systems on {dataset}", columns, rows)
