"""Write the tables and figures of docs/results from finished comparisons, beside what the papers print.

    python examples/papers/pages papers-runs docs/results

`papers-runs/NAME` is the directory of `pomona compare examples/papers/NAME.toml`. A page is a Markdown file
in which `<!-- name -->` and `<!-- end -->` enclose what is made here; every other word in it is somebody's
and stays (`pytest tests/results` tells which of them no longer hold). A part whose comparison has not been
run stays as it is.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import brute_force
import busa_fekete
import peers
import studies
import thesis
import winning
import yilmaz_figures
import yilmaz_robertson
from common import Comparison, Parts, finished

PARTS: Parts = {
    name: part
    for page in (busa_fekete, thesis, studies, yilmaz_robertson, yilmaz_figures, brute_force, winning, peers)
    for name, part in page.PARTS.items()
}


_PART = re.compile(r"<!-- (?P<name>[^>]+) -->\n.*?<!-- end -->", re.DOTALL)


def without_parts(text: str) -> str:
    """A page's own words: what is between marks left out."""
    return _PART.sub(lambda match: f"<!-- {match['name']} -->\n<!-- end -->", text)


def write_pages(runs: Path, folder: Path) -> list[str]:
    """Make every part of every page anew whose comparison is there; the names of those that are not."""
    made: dict[str, Comparison | None] = {}

    def part(match: re.Match[str]) -> str:
        source, write = PARTS[match["name"]]
        if source not in made:
            made[source] = finished(runs / source)
        of = made[source]
        return match[0] if of is None else f"<!-- {match['name']} -->\n{write(of, folder)}\n<!-- end -->"

    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(_PART.sub(part, text), encoding="utf-8")
    return sorted(source for source, of in made.items() if of is None)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for name in write_pages(Path(sys.argv[1]), Path(sys.argv[2])):
        print(f"{name} has not been run to the end, its part of the pages stays as it was", file=sys.stderr)
