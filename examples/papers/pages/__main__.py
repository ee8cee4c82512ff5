"""Write the tables and figures of docs/results from finished comparisons, beside what the papers print.

    python examples/papers/pages papers-runs docs/results

`papers-runs/NAME` is the directory of `pomona compare examples/papers/NAME.toml`. A page is a Markdown file
in which `<!-- name -->` and `<!-- end -->` enclose what is made here; every other word in it is somebody's
and stays (`pytest tests/results` tells which of them no longer hold). A part whose comparison has not been
run stays as it is. The part `commits` names the commit at which the numbers of each comparison were made.
What is said below it of changes since then goes when all comparisons of the page have been run anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Set
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


COMMITS = "commits"
"""The part that says at which commit the numbers of a page were made."""
_MADE = re.compile(r"`(?P<source>\w+)` at (?P<commit>[^,\n]+)")


def commit_of_today() -> str:
    """The commit that is checked out, with its date."""
    command = ["git", "-C", str(Path(__file__).parent)]
    found = subprocess.run(
        [*command, "log", "-1", "--format=%h (%cs)"], capture_output=True, text=True, check=True
    )
    changed = subprocess.run([*command, "diff", "--quiet", "HEAD", "--", "../../../src"], check=False)
    return found.stdout.strip() + " with changes" * bool(changed.returncode)


def with_commits(text: str, remade: Set[str], commit: str) -> str:
    """A page whose part `commits` names the commit at which the numbers of each comparison were made.

    remade : the comparisons whose numbers were made anew.
    """

    def part(match: re.Match[str]) -> str:
        made, _, since = (
            match[0].removeprefix(f"<!-- {COMMITS} -->\n").removesuffix("<!-- end -->").partition("\n\n")
        )
        commits = {one["source"]: one["commit"] for one in _MADE.finditer(made)}
        is_all = commits.keys() <= remade
        commits |= dict.fromkeys(sorted(remade), commit)
        told = ", ".join(f"`{source}` at {one}" for source, one in commits.items())
        kept = "" if is_all or not since else f"\n{since}"
        return f"<!-- {COMMITS} -->\nCommits at which the numbers were made: {told}\n{kept}<!-- end -->"

    if not remade:
        return text
    return re.sub(rf"<!-- {COMMITS} -->\n(?P<text>.*?)<!-- end -->", part, text, flags=re.DOTALL)


def write_pages(runs: Path, folder: Path) -> list[str]:
    """Make every part of every page anew whose comparison is there; the names of those that are not."""
    made: dict[str, Comparison | None] = {}

    def part(match: re.Match[str]) -> str:
        if match["name"] == COMMITS:
            return match[0]
        source, write = PARTS[match["name"]]
        if source not in made:
            made[source] = finished(runs / source)
        of = made[source]
        return match[0] if of is None else f"<!-- {match['name']} -->\n{write(of, folder)}\n<!-- end -->"

    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        own = {PARTS[match["name"]][0] for match in _PART.finditer(text) if match["name"] != COMMITS}
        written = _PART.sub(part, text)
        remade = {source for source in own if made[source] is not None}
        page.write_text(with_commits(written, remade, commit_of_today()), encoding="utf-8")
    return sorted(source for source, of in made.items() if of is None)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for name in write_pages(Path(sys.argv[1]), Path(sys.argv[2])):
        print(f"{name} has not been run to the end, its part of the pages stays as it was", file=sys.stderr)
