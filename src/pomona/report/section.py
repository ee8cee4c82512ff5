"""What a section of a report is, what it is made of, and how sections are put together.

A section is a file of `report/sections` with a subclass of `Section`. It yields parts in the order of the
page: `Html`, `Figure`, `Numbers` and `Side`. Every figure and every table also becomes a file. A figure that
has nothing to draw and a table without rows are left out, and so is a section of which nothing remains.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import jinja2
from altair.utils.schemapi import debug_mode
from markupsafe import Markup

from pomona._registry import entries
from pomona.errors import InputError, UnknownNameError
from pomona.report.encoding import Chart, vega_lite
from pomona.report.names import file_names
from pomona.report.table import Table

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class Html:
    """A Jinja template with its values, which are escaped."""

    def __init__(self, template: str, **values: Any) -> None:
        self.text = Markup(TEMPLATES.from_string(template).render(values))


@dataclass
class Figure:
    """A chart, the sentence below it, and what stands above it; `fold` is the line that opens it, if any.

    paper : the chart as its files have it, where that is another: one that no pointer can change, say.
    stem, number, spec : the name of its files, its place among all figures and the chart as Vega-Lite, which
        `compose` sets.
    """

    name: str
    chart: Chart | None
    caption: str = ""
    title: str = ""
    fold: str = ""
    paper: Chart | None = None
    stem: str = field(default="", init=False)
    number: int = field(default=0, init=False)
    spec: dict[str, Any] = field(default_factory=dict, init=False)


@dataclass
class Numbers:
    """A table; `fold` is the line that opens it, if any, and `style` a class of its own."""

    table: Table
    fold: str = ""
    is_open: bool = False
    style: str = ""
    stem: str = field(default="", init=False)


class Side:
    """Figures beside each other, where the screen is wide enough."""

    def __init__(self, *figures: Figure) -> None:
        self.figures = [figure for figure in figures if figure.chart is not None]


Part = Html | Figure | Numbers | Side
Parts = Iterable[Part]


class Section:
    """A question of the reader, and what answers it.

    Attributes
    ----------
    name, title : its anchor, and what the page calls it.
    order : sections stand in the order of this number.
    report : the kind of report that has it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]
    report: ClassVar[str] = "comparison"

    def heading(self, findings: Any) -> str:
        """What the page calls it, where that depends on what was found."""
        return self.title

    def overall(self, findings: Any) -> Parts:
        """What is said once, above the datasets."""
        return ()

    def of_dataset(self, findings: Any, dataset: str) -> Parts:
        """What is said of each dataset."""
        return ()


@dataclass
class Composed:
    """A section with its title and parts; `panels` are those of each dataset."""

    section: Section
    title: str
    overall: list[Part]
    panels: dict[str, list[Part]]

    @property
    def parts(self) -> Iterator[tuple[str | None, Part]]:
        """Every part with its dataset, figures that stand beside each other one by one."""
        for dataset, parts in ((None, self.overall), *self.panels.items()):
            for part in parts:
                for one in part.figures if isinstance(part, Side) else (part,):
                    yield dataset, one


@dataclass
class Report:
    """A page to be: what it is about, what it answers, of what (in a line), and its sections.

    datasets : those that sections have panels for; of several, the reader chooses one.
    choice : what the reader then chooses, where it is not a dataset.
    """

    title: str
    question: str
    summary: str
    datasets: Sequence[str]
    sections: Sequence[Composed]
    choice: str = "Dataset"

    @property
    def figures(self) -> list[Figure]:
        """Every figure, by its number."""
        return [part for one in self.sections for _, part in one.parts if isinstance(part, Figure)]

    @property
    def tables(self) -> list[Numbers]:
        """Every table."""
        return [part for one in self.sections for _, part in one.parts if isinstance(part, Numbers)]


def sections_of(report: str) -> list[Section]:
    """The sections of a kind of report, in their order."""
    own = Section.report  # of those that name none
    found = [one for one in entries("report/sections").values() if (one.report or own) == report]
    sections: list[Section] = [entry.load()() for entry in found]
    return sorted(sections, key=lambda one: one.order)


def chosen_sections(report: str, only: Sequence[str]) -> list[Section]:
    """The sections of a kind of report that are asked for by name; all if none is."""
    sections = sections_of(report)
    known = [section.name for section in sections]
    for name in only:
        if name not in known:
            raise UnknownNameError("section", name, known)
    return [section for section in sections if not only or section.name in only]


Draw = Callable[[Figure], None]
"""What a figure is handed to as soon as it is composed, to be drawn while others are."""


@debug_mode(False)  # the tests check the charts against Vega-Lite's schema; here it would double the time
def compose(
    sections: Iterable[Section], findings: Any, datasets: Sequence[str], draw: Draw | None = None
) -> list[Composed]:
    """Ask sections for their parts, and give figures and tables the names of their files."""
    composed: list[Composed] = []
    prefixes: dict[str | None, str] = {None: ""}
    prefixes |= {dataset: f"{stem} " for dataset, stem in file_names(datasets).items()}
    figures: dict[str, Figure] = {}
    tables: dict[str, Numbers] = {}
    for section in sections:
        heading, overall = section.heading(findings), _kept(section.overall(findings))
        panels = {dataset: _kept(section.of_dataset(findings, dataset)) for dataset in datasets}
        if not overall and not any(panels.values()):
            continue
        composed.append(Composed(section, heading, overall, panels))
        for dataset, part in composed[-1].parts:
            if isinstance(part, Figure) and part.chart is not None:
                figures[prefixes[dataset] + part.name] = part
                # The names of those before stay as they are.
                part.stem, part.number = [*file_names(figures).values()][-1], len(figures) - 1
                part.spec = vega_lite(part.chart)
                if draw is not None:
                    draw(part)
            elif isinstance(part, Numbers):
                tables[prefixes[dataset] + part.table.name] = part
    for name, stem in file_names(tables).items():
        tables[name].stem = stem
    return composed


def report_of(
    kind: str,
    findings: Any,
    *,
    title: str,
    question: str,
    summary: str,
    datasets: Sequence[str] = (),
    choice: str = "Dataset",
    only: Sequence[str] = (),
    draw: Draw | None = None,
) -> Report:
    """The report of an analysis: every section of that kind, asked what it has to say of the findings.

    only : names of sections; all when left out.
    draw : is given each figure at once.
    """
    wanted = chosen_sections(kind, only)
    sections = compose(wanted, findings, datasets, draw)
    if not sections:
        names = ", ".join(section.name for section in wanted)
        raise InputError(f"there is nothing to say about {names} here: choose other sections")
    return Report(title, question, summary, datasets, sections, choice)


def _kept(parts: Parts) -> list[Part]:
    """The parts that have something to show."""
    return [
        part
        for part in parts
        if not (isinstance(part, Figure) and part.chart is None)
        and not (isinstance(part, Numbers) and not part.table.rows)
        and not (isinstance(part, Side) and not part.figures)
    ]


def as_json(value: Any) -> Markup:
    """JSON for a script element: no character that could end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)
