"""A page of docs/results as its reader sees it: its own sentences, and the tables between its marks.

A claim ends in a footnote that names its test. The test computes the claim anew from the tables of the page;
where the claim has numbers, it writes the sentence from them and looks for it (`Page.says`), so that tables
with other numbers fail, and the failure reads as the sentence should.
"""

import re
import tomllib
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
PART = re.compile(r"<!-- (?P<name>[^>]+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
FOOTNOTE = re.compile(r"^\[\^(?P<label>[^\]]+)\]: (?P<text>.+)$", re.MULTILINE)
MARK = re.compile(r"\[\^([^\]]+)\]")
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
WORDS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()


class Page:
    """A page by its name."""

    def __init__(self, name):
        self.text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")

    @cached_property
    def own(self):
        """What is written by hand, footnotes left out."""
        return FOOTNOTE.sub("", PART.sub("", self.text))

    @cached_property
    def footnotes(self):
        """What each footnote says, by its label."""
        return {found["label"]: found["text"] for found in FOOTNOTE.finditer(self.text)}

    def says(self, sentence):
        """Fail where these words are not on the page, whatever its lines, footnotes and emphasis."""
        assert plain(sentence) in plain(self.own), f"the tables say: {sentence}"

    def tables(self, part):
        """The tables of a part by the title above each, as rows of texts by column."""
        (text,) = (found["text"] for found in PART.finditer(self.text) if found["name"] == part)
        found, title, head = {}, "", None
        for line in text.splitlines():
            if not line.startswith("|"):
                title, head = (line.strip("*# ") if line else title), None
            elif head is None:
                head = cells(line)
            elif not line.startswith(("| ---", "| :--")):
                found.setdefault(title, []).append(dict(zip(head, cells(line), strict=True)))
        return found

    def table(self, part):
        """The only table of a part."""
        (rows,) = self.tables(part).values()
        return rows


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def plain(text):
    return " ".join(re.sub(r"[*`]", "", MARK.sub("", text)).split())


def number(cell):
    """The first number of a cell, whatever marks stand around it.

    >>> number("−0.0056 (−0.0101 to …)"), number("0.4374▲"), number("< 0.001")
    (-0.0056, 0.4374, 0.001)
    """
    return float(NUMBER.search(cell.replace("−", "-"))[0].replace(",", ""))


def column(rows, name, by):
    """The numbers of a column, by the text of another."""
    return {row[by]: number(row[name]) for row in rows if row[name]}


def chosen(rows, **wanted):
    """The rows whose columns have these texts."""
    return [row for row in rows if all(row[name] == text for name, text in wanted.items())]


def signed(value, digits=4):
    """As pages write a difference.

    >>> signed(-0.00561), signed(0.02, 2)
    ('−0.0056', '+0.02')
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def is_significant(cell):
    """What a cell's verdict is.

    >>> is_significant("+0.1 (…; p 0.001, Holm 0.010: significant)")
    True
    """
    verdict = re.search(r": (significant|within chance)\)", cell)
    return verdict[1] == "significant"


def ordinal(n):
    """
    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '22nd']
    """
    ending = "th" if 10 < n % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def spec(name):
    """A spec of examples/papers."""
    return tomllib.loads((ROOT / "examples" / "papers" / f"{name}.toml").read_text(encoding="utf-8"))
