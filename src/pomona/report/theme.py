"""Colours and type of the page and of the figures: two themes, named once.

A ranker keeps one colour and one shape in every chart. Six colours are told apart by readers of any colour
vision (the tests simulate protanopia, deuteranopia and tritanopia) and stand out from the paper by at least
3 : 1; further rankers are grey and told apart by their labels. Charts name colours through Vega's config
only: figures on disk get the light colours, the page gets CSS variables, so that the reader's theme, and
paper, recolour what is already drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LIGHT = {
    "paper": "#ffffff",
    "wash": "#f4f6f8",
    "line": "#d3d9df",
    "soft": "#56606b",
    "ink": "#1b2026",
    "link": "#1f5bab",
    "alert": "#8a3a00",
    "alert-wash": "#fdf3ea",
    "better": "#2563b8",
    "better-wash": "#d6e4f7",
    "worse": "#c23c08",
    "worse-wash": "#fbe1d5",
    "slot1": "#2563b8",
    "slot2": "#e0480e",
    "slot3": "#00917a",
    "slot4": "#d962b4",
    "slot5": "#5c3c00",
    "slot6": "#371a70",
    "other": "#8b939c",
    "share1": "#3d5a80",
    "share2": "#8fb0d3",
    "share3": "#e0a458",
    "share4": "#ccd1d8",
    "grade1": "#bb8966",
    "grade2": "#937b1a",
    "grade3": "#4b6712",
    "grade4": "#004f38",
    "grade5": "#08245e",
}
DARK = {
    "paper": "#15181d",
    "wash": "#1e2329",
    "line": "#3a424b",
    "soft": "#a3adb8",
    "ink": "#e8ebee",
    "link": "#7ebcff",
    "alert": "#ffb784",
    "alert-wash": "#2e2218",
    "better": "#52a8f8",
    "better-wash": "#1d3550",
    "worse": "#f3882e",
    "worse-wash": "#4a2c17",
    "slot1": "#52a8f8",
    "slot2": "#f3882e",
    "slot3": "#3a9a7c",
    "slot4": "#fbb6d6",
    "slot5": "#f5e98a",
    "slot6": "#9b5be0",
    "other": "#7b858f",
    "share1": "#7299c6",
    "share2": "#3f5f86",
    "share3": "#d99a4e",
    "share4": "#4d5660",
    "grade1": "#905845",
    "grade2": "#ad7b3d",
    "grade3": "#a5b148",
    "grade4": "#86df9a",
    "grade5": "#a6fce4",
}
VARIABLES = {name: f"var(--{name})" for name in LIGHT}
GRADES = tuple(f"grade{i}" for i in range(1, 6))
"""Of labels, from the least relevant: further from the paper step by step, so that no hue need be told."""
SLOTS = ("1", "2", "3", "4", "5", "6", "other")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "circle")
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [1, 0])
LABEL, SMALL_LABEL = 11, 9
"""The size of labels, and of those of less weight."""
# Vega measures text with these; the last resort is the one that vl-convert carries.
FONT = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


def slots_of(rankers: list[str], baseline: str) -> dict[str, str]:
    """The slot of each ranker, the best first; when there are too few, the leaders and the baseline have one.

    >>> slots_of(["a", "b", "c"], "c")
    {'a': '1', 'b': '2', 'c': '3'}
    >>> list(slots_of(list("abcdefgh"), "h").values())
    ['1', '2', '3', '4', '5', 'other', 'other', '6']
    """
    n = len(SLOTS) - 1
    named = rankers[:n]
    if baseline in rankers[n:]:
        named = [*named[:-1], baseline]
    numbers = dict(zip(named, SLOTS, strict=False))
    return {ranker: numbers.get(ranker, "other") for ranker in rankers}


def css_variables(colors: Mapping[str, str]) -> str:
    """The theme as CSS declarations."""
    return "".join(f"--{name}:{color};" for name, color in colors.items())


def vega_config(colors: Mapping[str, str], font: str = FONT, strong: int = 600) -> dict[str, Any]:
    """Vega-Lite's config: everything about looks that is not data; `strong` is the weight of titles."""
    text = {"labelColor": colors["soft"], "titleColor": colors["soft"], "titleFontWeight": "normal"}
    return {
        "font": font,
        "background": None,
        "view": {"stroke": None},
        "axis": {
            **text,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "domainColor": colors["line"],
            "tickColor": colors["line"],
            "gridColor": colors["line"],
            "gridOpacity": 0.6,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
        },
        "axisX": {"grid": False, "domain": True, "ticks": True, "tickSize": 4},
        "header": {
            "labelColor": colors["ink"],
            "labelFontSize": 12,
            "labelFontWeight": strong,
            "titleColor": colors["soft"],
        },
        "legend": {
            **text,
            "labelFontSize": 11,
            "labelColor": colors["ink"],
            "symbolStrokeWidth": 2,
            "symbolOpacity": 1,  # also of what is drawn lightly
        },
        "title": {"color": colors["ink"], "fontSize": 13, "fontWeight": strong, "anchor": "start"},
        "range": {
            "category": [colors[f"slot{slot}" if slot != "other" else slot] for slot in SLOTS],
            # Better, leaning to better, the same, leaning to worse, worse.
            "diverging": [
                colors["better"],
                colors["better-wash"],
                colors["wash"],
                colors["worse-wash"],
                colors["worse"],
            ],
            "ordinal": [colors[f"share{i}"] for i in range(1, 5)],
            "ramp": [colors[grade] for grade in GRADES],
        },
        "style": {
            "direct-label": {
                "color": colors["ink"],
                "fontSize": LABEL,
                "align": "left",
                "baseline": "middle",
            },
            "halo": {
                "color": colors["paper"],
                "stroke": colors["paper"],
                "strokeWidth": 3,
                "fontSize": LABEL,
                "baseline": "middle",
            },
            "leader": {"color": colors["other"], "strokeWidth": 0.7},
            "zero": {"color": colors["soft"], "strokeWidth": 1},
            "front": {"color": colors["soft"], "strokeWidth": 1.2, "strokeDash": [4, 3]},
            "on-color": {"color": colors["paper"], "fontSize": 10, "fontWeight": strong},
            "on-paper": {"color": colors["ink"], "fontSize": 10},
            "better": {"color": colors["better"], "fillOpacity": 0.85},
            "worse": {"color": colors["worse"], "fillOpacity": 0.85},
            "interval": {"strokeWidth": 2},
            "dot": {"color": colors["slot1"]},
            "note": {"font": font, "fill": colors["soft"], "fontSize": 11, "fontWeight": 400},
            "tile": {"stroke": colors["paper"], "strokeWidth": 1},
            "moment": {"color": colors["ink"], "strokeWidth": 1, "opacity": 0.55},
            "way": {"color": colors["ink"], "strokeWidth": 2.2, "strokeJoin": "round"},
            "frame": {"color": colors["ink"], "strokeWidth": 2},
            "heat": {"color": colors["share2"]},
        },
    }
