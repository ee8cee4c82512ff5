"""A table of the report, and the formats it is written in: CSV, Markdown, LaTeX and HTML.

CSV has the numbers unrounded, an interval in columns of its own; Markdown and LaTeX (booktabs) have what the
page shows.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, NamedTuple

from pomona.report.digits import MISSING, count, fixed, p_value
from pomona.report.names import measure_title

Value = float | int | str | None


class Cell(NamedTuple):
    """A value and how it is printed; `low` and `high` are its interval, `mark` its significance.

    link : a file of the comparison that the text leads to, from the page.
    """

    value: Value
    text: str
    low: float | None = None
    high: float | None = None
    mark: str = ""
    is_best: bool = False
    link: str = ""

    @property
    def interval(self) -> str:
        """The interval as printed, empty if there is none."""
        return "" if self.low is None or self.high is None else f"{fixed(self.low, 3)}, {fixed(self.high, 3)}"


class Column(NamedTuple):
    """A title; whether numbers stand below it; whether they have intervals and marks."""

    title: str
    is_number: bool = True
    has_interval: bool = False


class Row(NamedTuple):
    """Cells; what kind of row; and a remark on it."""

    cells: tuple[Cell, ...]
    kind: Literal["", "bound", "failed"] = ""
    remark: str = ""


@dataclass(frozen=True)
class Table:
    """A table as all formats print it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


Getter = Callable[[Mapping[str, Any]], Cell]
Key = str | Callable[[Mapping[str, Any]], Any]


def text(title: str, key: Key) -> tuple[Column, Getter]:
    """A column of texts, by their name in a row or by a function of it; a missing one is a dash."""
    return Column(title, is_number=False), lambda row: _cell(_value(row, key), str)


def number(title: str, key: Key, form: Callable[[Any], str] = fixed) -> tuple[Column, Getter]:
    """A column of numbers, printed by `form`."""
    return Column(title), lambda row: _cell(_value(row, key), form)


def measured(title: str = "Measure", key: str = "measure") -> tuple[Column, Getter]:
    """A column of measures, as papers print them."""
    return text(title, lambda row: measure_title(row[key]))


def yes(title: str, key: str, no: str = "no") -> tuple[Column, Getter]:
    """A column of what is true or not."""
    return text(title, lambda row: "yes" if row.get(key) else no)


def rounded(
    title: str, key: Key, digits: int, form: Callable[[Any, int], str] = fixed
) -> tuple[Column, Getter]:
    """A column of numbers with so many digits."""
    return number(title, key, lambda value: form(value, digits))


_P_VALUES = {
    **{"t_p": "t", "wilcoxon_p": "Wilcoxon", "sign_p": "sign", "randomization_p": "randomization"},
    **{"holm_p": "Holm", "bh_p": "BH"},
}


def p_values(*keys: str) -> list[tuple[Column, Getter]]:
    """Columns of p-values, by their names in `pairs`; if none is said, of all tests and Holm's correction."""
    return [number(f"p ({_P_VALUES[key]})", key, p_value) for key in keys or list(_P_VALUES)[:-1]]


def verdict(*keys: str, is_full: bool = False) -> list[tuple[Column, Getter]]:
    """Columns of what is decided of a pair: p-values, whether it is significant, queries won, tied and lost.

    is_full : with Benjamini & Hochberg's p, too, and whether the tests agree.
    """
    return [
        *p_values(*(_P_VALUES if is_full else keys)),
        *([yes("Tests agree", "agree")] if is_full else []),
        yes("Significant", "is_significant"),
        *(number(name.capitalize(), name, count) for name in ("wins", "ties", "losses")),
    ]


def linked(title: str, key: str, link: str) -> tuple[Column, Getter]:
    """A column of texts that lead to files beside the page, `link` of the row."""
    return Column(title, is_number=False), lambda row: Cell(row[key], row[key], link=row[link])


def in_units(key: str, unit: float) -> Key:
    """A number of a row, in multiples of a unit."""
    return lambda row: None if row.get(key) is None else row[key] / unit


def with_interval(title: str, key: str, form: Callable[[Any], str] = fixed) -> tuple[Column, Getter]:
    """A column of numbers with their intervals, `low` and `high` of the row."""
    return Column(title, has_interval=True), lambda row: Cell(
        row[key], form(row[key]), row["low"], row["high"]
    )


def make_table(
    name: str, title: str, columns: Sequence[tuple[Column, Getter]], rows: Iterable[Mapping[str, Any]]
) -> Table:
    """A table of rows that are dictionaries; one may say its `kind` and `remark`."""
    return Table(
        name,
        title,
        tuple(column for column, _ in columns),
        tuple(
            Row(tuple(get(row) for _, get in columns), row.get("kind", ""), row.get("remark", ""))
            for row in rows
        ),
    )


def _value(row: Mapping[str, Any], key: Key) -> Any:
    return row.get(key) if isinstance(key, str) else key(row)


def _cell(value: Any, form: Callable[[Any], str]) -> Cell:
    return Cell(value, MISSING if value is None else form(value))


def bodies(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The rows in groups of one kind, in order: those of a group are sorted among themselves."""
    return [(kind, list(group)) for kind, group in itertools.groupby(rows, key=lambda row: row.kind)]


def to_csv(table: Table) -> str:
    """Unrounded values; intervals and marks in columns of their own."""
    head: list[str] = []
    for column in table.columns:
        head += [
            column.title,
            *((f"{column.title} {part}" for part in ("low", "high", "mark")) if column.has_interval else ()),
        ]
    if has_remarks := any(row.remark for row in table.rows):
        head.append("remark")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_plain, head))
    for row in table.rows:
        line: list[Value] = []
        for column, cell in zip(table.columns, row.cells, strict=True):
            line += [cell.value, *((cell.low, cell.high, cell.mark) if column.has_interval else ())]
        writer.writerow(map(_plain, [*line, row.remark] if has_remarks else line))
    return out.getvalue()


def _plain(value: Value) -> Value:
    """A text that no spreadsheet takes for a formula: what could begin one gets an apostrophe before it.

    >>> _plain("=1+1"), _plain("LambdaMART"), _plain(-0.5)
    ("'=1+1", 'LambdaMART', -0.5)
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # which `csv` does not quote, and which could begin a line
    return f"'{text}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text


def to_markdown(table: Table) -> str:
    """A pipe table; the best of a column is bold."""
    head = [_markdown(column.title) for column in table.columns]
    rules = ["---:" if column.is_number else ":---" for column in table.columns]
    body = [[_markdown_cell(row, i) for i in range(len(row.cells))] for row in table.rows]
    lines = [
        *((f"**{_markdown(table.title)}**", "") if table.title else ()),
        *(f"| {' | '.join(line)} |" for line in (head, rules, *body)),
    ]
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    r"""A booktabs table; the best of a column is bold, marks are arrows."""
    layout = "".join("r" if column.is_number else "l" for column in table.columns)
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        *((rf"\caption{{{_latex(table.title)}}}",) if table.title else ()),
        rf"\begin{{tabular}}{{{layout}}}",
        r"\toprule",
        " & ".join(_latex(column.title) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    kind = table.rows[0].kind if table.rows else ""
    for row in table.rows:
        if row.kind != kind:
            lines.append(r"\midrule")
            kind = row.kind
        if row.kind == "failed":
            cells = [
                _latex(row.cells[0].text),
                rf"\multicolumn{{{len(row.cells) - 1}}}{{l}}{{{_latex(row.remark)}}}",
            ]
        else:
            cells = [_latex_cell(cell) for cell in row.cells]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def to_html(table: Table) -> str:
    """A table alone, without a page; the best of a column is bold."""
    sides = [
        'style="text-align: right"' if c.is_number else 'style="text-align: left"' for c in table.columns
    ]
    lines = ["<table>"]
    lines += [f"<caption>{escape(table.title)}</caption>"] if table.title else []
    heads = (
        f'<th scope="col" {side}>{escape(column.title)}</th>'
        for side, column in zip(sides, table.columns, strict=True)
    )
    lines += ["<thead>", f"<tr>{''.join(heads)}</tr>", "</thead>", "<tbody>"]
    for row in table.rows:
        cells = (f"<td {side}>{_html_cell(row, i)}</td>" for i, side in enumerate(sides))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"]) + "\n"


def _html_cell(row: Row, i: int) -> str:
    cell = row.cells[i]
    text = f"<strong>{escape(cell.text)}</strong>" if cell.is_best else escape(cell.text)
    text += f" {cell.mark}" if cell.mark else ""
    text += f" [{cell.interval}]" if cell.interval else ""
    return f"{text} ({escape(row.remark)})" if i == 0 and row.remark else text


def _markdown_cell(row: Row, i: int) -> str:
    cell = row.cells[i]
    text = _markdown(cell.text)
    text = f"**{text}**" if cell.is_best else text
    text += f" {cell.mark}" if cell.mark else ""
    text += f" [{cell.interval}]" if cell.interval else ""
    return f"{text} ({_markdown(row.remark)})" if i == 0 and row.remark else text


def _markdown(text: str) -> str:
    for special in "\\`*_[]<>|":
        text = text.replace(special, f"\\{special}")
    return " ".join(text.split())


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "µ": r"$\mu$",
    "×": r"$\times$",
    "▲": r"$\uparrow$",
    "▼": r"$\downarrow$",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{_latex(cell.text)}}}" if cell.is_best else _latex(cell.text)
    text += _latex(cell.mark)
    return text + (rf" {{\scriptsize [{_latex(cell.interval)}]}}" if cell.interval else "")
