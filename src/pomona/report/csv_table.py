"""Any table of texts as one of the report: columns of numbers are found, rounded alike, their best marked."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from pomona.report.digits import MINUS, MISSING, fixed
from pomona.report.table import Cell, Column, Row, Table

ABSENT = ("", "-", "–", "—", "na", "n/a", "nan", "none", "null")
"""What stands for no value, in any case."""


def table_of_texts(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    digits: int = 4,
    lower: Collection[str] = (),
    marks_best: bool = True,
) -> Table:
    """A table of the cells of a file.

    Parameters
    ----------
    digits : the most decimals of a number; a column has no more than its file.
    lower : the columns, by their heads, in which less is better.
    marks_best : mark the best of each column but the first; of equals as printed, all.

    >>> table = table_of_texts(("method", "NDCG"), (("a", "0.48213"), ("b", "0.5"), ("c", "-")))
    >>> [[cell.text for cell in row.cells] for row in table.rows]
    [['a', '0.4821'], ['b', '0.5000'], ['c', '–']]
    >>> [row.cells[1].is_best for row in table.rows]
    [False, True, False]
    """
    columns, cells = [], []
    for place, name in enumerate(head):
        texts = [row[place] for row in rows]
        numbers = _numbers(texts)
        columns.append(Column(name, is_number=numbers is not None))
        if numbers is None:
            cells.append([Cell(text or None, text or MISSING) for text in texts])
            continue
        places = min(digits, max(map(_decimals, texts)))
        printed = [fixed(number, places) for number in numbers]
        shown = [float(text.replace(MINUS, "-")) for text in printed if text != MISSING]
        has_best = marks_best and place > 0 and len(set(shown)) > 1
        best = fixed((min if name in lower else max)(shown), places) if has_best else None
        cells.append(
            [Cell(number, text, is_best=text == best) for number, text in zip(numbers, printed, strict=True)]
        )
    by_row = zip(*cells, strict=True) if cells else ()
    return Table("table", title, tuple(columns), tuple(Row(tuple(row)) for row in by_row))


def _numbers(texts: Sequence[str]) -> list[float | None] | None:
    """The column as numbers, None where one is absent; None where it is no column of numbers."""
    found: list[float | None] = []
    for text in texts:
        if text.lower() in ABSENT:
            found.append(None)
            continue
        try:
            number = float(text)
        except ValueError:
            return None
        if not math.isfinite(number) or "_" in text:
            return None
        found.append(number)
    return found if any(number is not None for number in found) else None


def _decimals(text: str) -> int:
    """How many decimals a number is written with; of one with an exponent nobody knows."""
    return 15 if "e" in text.lower() else len(text.partition(".")[2])
