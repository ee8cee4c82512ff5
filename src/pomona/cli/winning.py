"""Who wins over many datasets and measures: Winning Numbers of a table of results, which may be sparse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pomona.cli.inputs import read_cells
from pomona.cli.options import Json, Measures, split_measures
from pomona.errors import InputError, UnknownNameError
from pomona.report.csv_table import ABSENT

_METHOD = ("method", "algorithm", "ranker", "model", "system")
_DATASET = ("dataset", "data", "collection", "benchmark")
_MEASURE = ("measure", "metric")
_VALUE = ("value", "score", "result", "mean")
_USUAL = ("avg", "average", "mean", "test")


def winning(
    table: Annotated[Path, typer.Argument(help="CSV or TSV file of results.")],
    reading: Annotated[
        str, typer.Option(help="What is ideal: `pairs` won, or the most wins `attained`.")
    ] = "pairs",
    measure: Measures = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="COLUMN=VALUE", help="Take only these rows of a long table; repeat."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw NWN by IWN into this file, .svg or .pdf.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count how many others each method beats (Tax, Bockting & Hiemstra 2015), by measure and over all.

    A wide table has a row for each method and a column for each result, headed `dataset/measure` or
    `dataset measure`. A long table has the columns method, dataset, measure and value, in any order and
    also by other names (algorithm, metric …). Cells may be empty; higher is better; `#` starts a comment.

    WN counts the methods beaten, IWN those that could have been, NWN = WN / IWN. NWN tells how good a
    method is, IWN how sure that is. Pareto: no method is better in one and at least as good in the other.
    Rank 2: exactly one is better in both.

    \b
    Example:  pomona winning results.csv
              pomona winning literature.csv -m MAP,NDCG@10 --reading attained \\
                  --json
              pomona winning runs.csv --where split=test --where fold=fold1
              pomona winning literature.csv --figure winning.svg
    """
    from pomona.cli.output import print_json
    from pomona.stats.winning import READINGS

    if reading not in READINGS:
        raise UnknownNameError("reading", reading, READINGS)
    results = _read(table, where or [])
    measures = _chosen(results, split_measures(measure))
    parts = {name: _rows(results, {name}, reading) for name in measures}
    combined = _rows(results, set(measures), reading)
    if figure is not None:
        _draw(combined, figure)
    if as_json:
        print_json({"reading": reading, "combined": combined, "measures": parts, "notes": results.notes})
        return
    if len(parts) > 1:
        for name, rows in parts.items():
            _print(name or "no measure named", _count(results, {name}), rows)
            typer.echo()
    title = "combined" if len(parts) > 1 else measures[0] or "all results"
    _print(title, _count(results, set(measures)), combined)
    for note in results.notes:
        typer.echo(f"note: {note}")


@dataclass(frozen=True)
class _Results:
    """Values by method, then by (dataset, measure); absent ones are left out."""

    values: dict[str, dict[tuple[str, str], float]]
    notes: list[str]

    @property
    def columns(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys(column for results in self.values.values() for column in results))


def _chosen(results: _Results, wanted: list[str]) -> list[str]:
    known = {measure.lower(): measure for _, measure in results.columns}
    for name in wanted:
        if name.lower() not in known:
            raise UnknownNameError("measure of this table", name, known)
    return [known[name.lower()] for name in wanted] or list(known.values())


def _count(results: _Results, measures: set[str]) -> int:
    return sum(measure in measures for _, measure in results.columns)


def _rows(results: _Results, measures: set[str], reading: Any) -> list[dict[str, Any]]:
    """A record for each method, the best first."""
    import numpy as np

    from pomona.stats.winning import winning_numbers

    columns = [column for column in results.columns if column[1] in measures]
    table = [[values.get(column, math.nan) for column in columns] for values in results.values.values()]
    won = winning_numbers(np.array(table), reading)
    rows: list[dict[str, Any]] = [
        {
            "method": method,
            "winning": int(won.winning[i]),
            "ideal": int(won.ideal[i]),
            "normalized": float(won.normalized[i]) if won.ideal[i] else None,
            "is_pareto": bool(won.is_pareto[i]),
            "is_rank2": bool(won.is_rank2[i]),
        }
        for i, method in enumerate(results.values)
    ]
    return sorted(rows, key=lambda row: (-(row["normalized"] or 0.0), -row["ideal"]))


def _draw(rows: list[dict[str, Any]], path: Path) -> None:
    from pomona.report.draw import draw_file
    from pomona.report.encoding import for_file, vega_lite
    from pomona.report.sections.winning import winning_chart

    compared = [{**row, "ranker": row["method"]} for row in rows if row["normalized"] is not None]
    draw_file(path, for_file(vega_lite(winning_chart(compared, noun="methods"))))


def _print(title: str, n_results: int, rows: list[dict[str, Any]]) -> None:
    from pomona.cli.output import print_table

    typer.echo(f"{title}, {n_results} result{'s' if n_results != 1 else ''} of up to {len(rows)} methods")
    print_table(
        ["method", "WN", "IWN", "NWN", "front"],
        [
            [
                row["method"],
                str(row["winning"]),
                str(row["ideal"]),
                "–" if row["normalized"] is None else f"{row['normalized']:.4f}",
                "Pareto" if row["is_pareto"] else "rank 2" if row["is_rank2"] else "",
            ]
            for row in rows
        ],
    )


def _read(path: Path, where: list[str]) -> _Results:
    names, rows = read_cells(path)
    notes: list[str] = []
    if min(_place(names, group) for group in (_METHOD, _MEASURE, _VALUE)) >= 0:
        cells_of_results = _long(path, names, rows, where, notes)
    elif where:
        raise InputError("--where needs a long table: columns method, dataset, measure and value", path)
    else:
        cells_of_results = _wide(names, rows)
    values: dict[str, dict[tuple[str, str], float]] = {}
    for line, method, column, cell in cells_of_results:
        results = values.setdefault(method, {})
        if column in results:
            raise InputError(f"{method!r} has a second result for {' '.join(column).strip()!r}", path, line)
        results[column] = _number(cell, path, line)
    if len(values) < 2:
        raise InputError(f"found {len(values)} method, expected at least two to compare", path)
    present = {m: {c: v for c, v in results.items() if not math.isnan(v)} for m, results in values.items()}
    if not any(present.values()):
        raise InputError("every cell is empty, expected results", path)
    return _Results(present, notes)


_Cells = Iterator[tuple[int, str, tuple[str, str], str]]


def _wide(names: list[str], rows: list[tuple[int, list[str]]]) -> _Cells:
    """Cells of a table with a row for each method: (line, method, (dataset, measure), cell)."""
    for line, (method, *cells) in rows:
        for name, cell in zip(names[1:], cells, strict=True):
            separator = "/" if "/" in name else " "
            dataset, _, measure = name.rpartition(separator)
            yield line, method, (dataset.strip(), measure.strip()) if dataset else (name, ""), cell


def _long(
    path: Path, names: list[str], rows: list[tuple[int, list[str]]], where: list[str], notes: list[str]
) -> _Cells:
    """Cells of a table with a row for each result; columns that tell more must have one value."""
    for condition in where:
        column, equals, asked = condition.partition("=")
        if not equals:
            raise InputError(f"found --where {condition!r}, expected COLUMN=VALUE")
        place = _place(names, (column.strip().lower(),))
        if place < 0:
            raise UnknownNameError("column", column, names)
        known = {cells[place] for _, cells in rows}
        rows = [row for row in rows if row[1][place].lower() == asked.strip().lower()]
        if not rows:
            raise UnknownNameError(f"value of column {names[place]!r}", asked, known)
    named = [_place(names, group) for group in (_METHOD, _DATASET, _MEASURE, _VALUE)]
    for place in sorted(set(range(len(names))) - set(named)):
        rows = _of_one_value(path, names[place], place, rows, notes)
    method, dataset, measure, value = named
    for line, cells in rows:
        yield line, cells[method], ("" if dataset < 0 else cells[dataset], cells[measure]), cells[value]


def _of_one_value(
    path: Path, name: str, place: int, rows: list[tuple[int, list[str]]], notes: list[str]
) -> list[tuple[int, list[str]]]:
    """The rows if a column that tells more has one value; else those of the usual value, with a note."""
    known = sorted({cells[place] for _, cells in rows})
    if len(known) == 1:
        return rows
    shown = ", ".join(known[:6]) + (" …" if len(known) > 6 else "")
    usual = [value for value in known if value.lower() in _USUAL]
    if len(usual) != 1:
        raise InputError(f"column {name!r} has values {shown}: choose one by --where {name}=…", path)
    notes.append(f"took {name}={usual[0]} of {shown}; --where {name}=… takes another")
    return [row for row in rows if row[1][place] == usual[0]]


def _place(names: list[str], group: tuple[str, ...]) -> int:
    """Where a column of the group stands, or −1."""
    return next((i for i, name in enumerate(names) if name.lower() in group), -1)


def _number(cell: str, path: Path, line: int) -> float:
    if cell.lower() in ABSENT:
        return math.nan
    try:
        value = float(cell)
        if not math.isfinite(value):
            raise ValueError
    except ValueError:
        raise InputError(f"found {cell!r}, expected a number or an empty cell", path, line) from None
    return value
