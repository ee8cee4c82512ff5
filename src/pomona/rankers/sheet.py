"""All there is to know of a ranker, from its class: paper, parameters with their ranges, departures.

`pomona list rankers NAME` prints it, and docs/rankers.md is made of it: `pomona list rankers --markdown`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pomona import _registry
from pomona._docstring import parameters_of
from pomona.rankers.parameter import types_of, words

OPTIMIZES = {
    "direct": "the measure itself, also by its lambdas or made smooth",
    "bound": "a bound of the measure",
    "surrogate": "a loss of its own",
    "nothing": "nothing",
}

_PAGE = """# The rankers

What each optimizes, its parameters, and where it departs from its paper. This page is written by
`pomona list rankers --markdown > docs/rankers.md`; a test fails when it is not as the classes say.

| ranker | family | optimizes | paper |
|---|---|---|---|
"""


@dataclass(frozen=True)
class ParameterSheet:
    """One parameter: what it can be, and what it means."""

    name: str
    default: Any
    admits: str
    searched: str
    """The range that a search goes through; empty where it is left alone."""
    text: str

    @property
    def range(self) -> str:
        """What it can be, and what is searched."""
        return f"{self.admits}; searched {self.searched}" if self.searched else self.admits


@dataclass(frozen=True)
class RankerSheet:
    """A ranker: `own` are the parameters that its class tells of, `inherited` the others, of its `base`."""

    entry: _registry.Entry
    own: tuple[ParameterSheet, ...]
    inherited: tuple[ParameterSheet, ...]
    base: str


def sheet_of(name: str) -> RankerSheet:
    """The sheet of a ranker, by any of its names."""
    entry = _registry.find("rankers", name, "ranker")
    cls: type = entry.load()
    declared = {**vars(cls).get("__annotations__", {}), **parameters_of(cls, bases=False)}
    parameters = _parameters(cls)
    return RankerSheet(
        entry,
        tuple(one for one in parameters if one.name in declared),
        tuple(one for one in parameters if one.name not in declared),
        cls.__mro__[1].__name__,
    )


def _parameters(cls: Any) -> list[ParameterSheet]:
    """In the order of the docstrings: what a class tells of before what its bases do."""
    texts, types = parameters_of(cls), types_of(cls)
    order = [*texts, *types]
    return [
        ParameterSheet(
            name,
            getattr(cls, name, None),
            words(types[name]),
            _range(cls.search_space.get(name)),
            texts[name],
        )
        for name in sorted(types, key=order.index)
    ]


def _range(values: Any) -> str:
    if values is None:
        return ""
    if isinstance(values, list):
        return ", ".join(map(str, values))
    least, most, scale = values
    return f"{least:g} … {most:g}" + (" (log)" if "log" in scale else "")


def text_of(sheet: RankerSheet) -> str:
    """A sheet for the terminal."""
    entry = sheet.entry
    lines = [
        entry.summary,
        "",
        f"class      pomona.{entry.class_name}",
        f"names      {', '.join((entry.name, *entry.aliases))}",
        f"family     {entry.family}",
        f"optimizes  {_optimized(entry)}",
        f"paper      {entry.paper}",
        "",
        "departures from it",
        *(f"  {line}".rstrip() for line in entry.departures.splitlines()),
        "",
        "parameters",
    ]
    for parameter in (*sheet.own, *sheet.inherited):
        lines += [f"  {parameter.name} = {parameter.default!r}"]
        for text in (parameter.range, parameter.text):
            lines += textwrap.wrap(text, 100, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines)


def json_of(sheet: RankerSheet) -> dict[str, Any]:
    """A sheet for machines."""
    entry = sheet.entry
    fields = ("default", "admits", "searched", "text")
    parameters = {
        parameter.name: {field: getattr(parameter, field) for field in fields}
        for parameter in (*sheet.own, *sheet.inherited)
    }
    names = ("name", "aliases", "summary", "family", "optimizes", "paper", "departures")
    return {**{name: getattr(entry, name) for name in names}, "parameters": parameters}


def markdown_of(sheets: Iterable[RankerSheet]) -> str:
    """The page of docs/rankers.md; the parameters of a base are told once, at the end."""
    sheets = list(sheets)
    parts = [_PAGE.rstrip("\n")]
    parts += [
        f"| [{one.entry.class_name}](#{one.entry.class_name.lower()}) | {one.entry.family} "
        f"| {one.entry.optimizes} | {one.entry.paper} |"
        for one in sheets
    ]
    parts += ["", *(f"- *{name}*: {text}." for name, text in OPTIMIZES.items())]
    listed = {one.entry.class_name for one in sheets}
    for one in sheets:
        entry = one.entry
        parts += ["", f"## {entry.class_name}", "", entry.summary, ""]
        paper = entry.paper[0].upper() + entry.paper[1:]
        parts += [f"`{entry.name}`, {entry.family}, optimizes {_optimized(entry)}. {paper}."]
        parts += ["", "**Departures.**", "", entry.departures, ""]
        parts += _table(one.own)
        if one.inherited:
            parts += ["", f"The others are those of every [{one.base}](#{one.base.lower()})."]
    for name in sorted({one.base for one in sheets if one.inherited} - listed):
        parts += ["", f"## {name}", "", *_table(_of_base(name, sheets))]
    return "\n".join(parts) + "\n"


def _of_base(name: str, sheets: Iterable[RankerSheet]) -> list[ParameterSheet]:
    """The parameters of a base class, with the defaults that it gives them."""
    of_base = next(one.entry for one in sheets if one.base == name)
    return _parameters(next(cls for cls in of_base.load().__mro__ if cls.__name__ == name))


def _optimized(entry: _registry.Entry) -> str:
    meaning = OPTIMIZES.get(entry.optimizes, entry.optimizes)
    return meaning if entry.optimizes == "nothing" else f"{meaning} ({entry.optimizes})"


def _table(parameters: Iterable[ParameterSheet]) -> list[str]:
    rows = [
        f"| `{one.name}` | `{one.default!r}` | {_cell(one.range)} | {_cell(one.text)} |" for one in parameters
    ]
    return ["| parameter | default | can be | meaning |", "|---|---|---|---|", *rows] if rows else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
