"""Write docs/datasets.md: what the collections hold, the thesis' Table 3.1 beside what `pomona stats` counts.

    POMONA_DATA=/your/data python examples/datasets.py

A row of ours is made anew where the collection is at hand, and stays as it was where it is not.
"""

import csv
from math import nan
from pathlib import Path

from pomona.data.catalog import COLLECTIONS
from pomona.data.read import read_parts
from pomona.data.statistics import describe

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "datasets.md"
HEAD = (
    "",
    "queries",
    "documents",
    "features",
    "mean docs",
    "mode",
    "least",
    "most",
    "mean label",
    "max label",
)
OPENING = """# The datasets

Table 3.1 of the thesis beside what `pomona stats` counts in the same collections. Documents are those of a
query: their mean number, the most frequent, the least and the most; the mean label is divided by the largest.
*Ours* are rows of collections that were at hand when this page was made (`python examples/datasets.py`). A
test compares them with the data, where these are, and with the catalogue.

"""
CLOSING = """
Where the two differ, or cannot be compared:

- Yahoo's second set has 596 features by its publishers, as in our catalogue; the thesis' 595 is one short.
- Yandex: a "query" of 31,907 documents, a third of all, beside a mean of 4.48 and a mode of 1 shows that the
  thesis counted something else as a query. `pomona audit` warns of queries of more than 10,000 documents.
- Seznam's data were never published.
- MSLR-WEB10K, the six .gov collections, Yahoo's and WCL2R are in the catalogue, and were not at hand.
"""


def thesis():
    """The rows of the published table."""
    with (HERE / "papers" / "published" / "thesis_datasets.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def ours(name):
    """A collection's row as `pomona stats` has it; None where it is not at hand."""
    if name not in COLLECTIONS or COLLECTIONS[name].directory() is None:
        return None
    return list(describe(*read_parts(name, undefined=nan).values()).row().values())


def rows_of(page):
    """The rows that are already on the page, by the name that opens them."""
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in page.splitlines()]
    return {row[0]: row[1:] for row in cells if len(row) == len(HEAD) + 1}


def page(before):
    """The page; `before` is what it was."""
    known = rows_of(before)
    lines = ["| | " + " | ".join(HEAD[1:]) + " | undefined |", "|---|" + "---:|" * len(HEAD)]
    named = thesis()
    for row in named:
        name = row["name"]
        lines.append(line(f"{row['dataset']}, thesis", list(row.values())[2:]))
        if found := ours(name) or known.get(f"{row['dataset']}, ours"):
            lines.append(line(f"{row['dataset']}, ours", found))
    others = sorted(set(COLLECTIONS) - {row["name"] for row in named})
    counted = {f"`{name}`, ours": ours(name) or known.get(f"`{name}`, ours") for name in others}
    lines += [line(name, cells) for name, cells in counted.items() if cells]
    return OPENING + "\n".join(lines) + "\n" + CLOSING


def line(name, cells):
    """A row of the page."""
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    PAGE.write_text(page(before), encoding="utf-8")
