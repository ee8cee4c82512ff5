"""Small tables for notebooks, in whatever style the notebook has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A table as HTML, without a style of its own.

    >>> print(html_table(["ap"], [["0.5"]], "n < 3").replace("<t", "\\n<t"))
    <BLANKLINE>
    <table><caption>n &lt; 3</caption>
    <thead>
    <tr>
    <th>ap</th></tr></thead>
    <tbody>
    <tr>
    <td>0.5</td></tr></tbody></table>
    """
    body = "".join(_row("td", row) for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead>{_row('th', head)}</thead><tbody>{body}</tbody></table>"
    )


def _row(cell: str, texts: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{cell}>{escape(text)}</{cell}>' for text in texts)}</tr>"
