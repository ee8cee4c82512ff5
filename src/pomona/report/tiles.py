"""Differences as tiles: who is better, by how much, and is that more than chance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from pomona.report.digits import p_value, signed
from pomona.report.encoding import Chart, Rows, data_of, names_across, names_down, sized, tips

MOST_WITH_NUMBERS = 12
"""Columns whose tiles still have room for numbers."""

# In the order of the config's diverging colours.
_VERDICTS = (
    "significantly better",
    "better, within chance",
    "the same",
    "worse, within chance",
    "significantly worse",
)


def tile_of(row: str, column: str, tested: Mapping[str, Any]) -> dict[str, Any]:
    """A tile: a difference with its interval, its p and whether it `is_significant`."""
    difference, is_significant = tested["difference"], tested["is_significant"]
    side = "better" if difference > 0 else "worse"
    verdict = f"significantly {side}" if is_significant else f"{side}, within chance"
    return {
        "row": row,
        "column": column,
        "verdict": verdict if difference else "the same",
        "points": signed(100 * difference, 1),
        "difference": signed(difference),
        "interval": f"{signed(tested['low'])} to {signed(tested['high'])}",
        "p": p_value(tested["holm_p"]),
        "is_significant": is_significant,
    }


def tiles(
    rows: Rows,
    down: Sequence[str],
    across: Sequence[str],
    description: str,
    *,
    better: str,
    wide: int = 130,
    note: str = "",
) -> Chart:
    """Tiles in rows and columns of these orders.

    better : what the verdict is of, in a tip. wide : the most pixels that names of rows take.
    """
    is_small = len(across) <= MOST_WITH_NUMBERS
    base = alt.Chart(data_of(rows)).encode(
        x=names_across("column", across, labelAngle=-45 if is_small else -90, domain=False, ticks=False),
        y=names_down("row", down, wide),
    )
    legend = alt.Legend(
        title=None,
        orient="bottom",
        columns=1,
        symbolType="square",
        labelLimit=260,
        values=[verdict for verdict in _VERDICTS if any(row["verdict"] == verdict for row in rows)],
    )
    verdicts = alt.Scale(domain=list(_VERDICTS), range="diverging")
    names = {"row": "row", "column": "column", "verdict": better, "difference": "difference"}
    layers = [
        base.mark_rect(style="tile").encode(
            color=alt.Color("verdict:N", scale=verdicts, legend=legend),
            tooltip=tips(**names, interval="interval (uncorrected)", p="p (Holm)"),
        )
    ]
    if is_small:
        numbers = base.encode(text="points:N")
        seen = alt.expr(f"width >= {36 * len(across)} ? 1 : 0")
        for chosen, style in (("datum.is_significant", "on-color"), ("!datum.is_significant", "on-paper")):
            layers.append(numbers.transform_filter(chosen).mark_text(style=style, opacity=seen))
    height = max(90, (26 if is_small else 17) * len(down))
    return sized(alt.layer(*layers), description, height=height, note=note)
