"""What MkDocs runs while it builds the site: the reference is made of the public names and their docstrings.

A ranker or measure that is dropped into its folder stands there without further ado.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import pomona
from pomona._registry import entries

HEADS = {
    "data": "# Data\n\nReading, making, converting and writing datasets.",
    "measures": "# Measures\n\nWritten as text everywhere, `ndcg@10`, or made of these classes.",
    "rankers": "# Rankers\n\nWhat all share is told at `Ranker`; types, ranges and defaults of all "
    "parameters by [the rankers](../rankers.md).",
    "transformers": "# Transformers\n\nscikit-learn's, that know what a query is.",
    "experiments": "# Analyses\n\nWhat verbs of the command do, as functions; and the search for the best.",
    "errors": "# Errors\n\nEvery message says what was found, what was expected, and what to do.",
}
ROOT = Path(__file__).parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in `docs`: the reference, a page a room, and the changes."""
    methods = [*entries("measures").values(), *entries("rankers").values()]
    homes = pomona._homes() | {method.class_name: method.module for method in methods}
    # Of a method only its parameters are told: whatever it overrides is told by its base.
    alone = {method.class_name: "\n    options:\n      members: false" for method in methods}
    for room, head in HEADS.items():
        names = sorted((name for name in homes if homes[name].split(".")[1] == room), key=str.lower)
        page = [head, *(f"::: {homes[name]}.{name}{alone.get(name, '')}" for name in names)]
        files.append(File.generated(config, f"reference/{room}.md", content="\n\n".join(page)))
    files.append(File.generated(config, "changelog.md", content=(ROOT / "CHANGELOG.md").read_text("utf-8")))
    return files


class Docstrings(griffe.Extension):
    """Docstrings as Markdown; numpydoc would take the text of `name : text` for a type."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of whatever has one."""
        if obj.docstring:
            obj.docstring.value = "\n".join(_markdown(obj.docstring.value.splitlines()))


def _markdown(lines: list[str]) -> Iterator[str]:
    in_section = in_example = False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if in_example and not line.strip():
            in_example = False
            yield "```"
        if line.startswith(">>>") and not in_example:
            in_example = True
            yield "\n```pycon"
        if line.startswith("---") and in_section:
            yield ""
        elif below.startswith("---"):
            in_section = True
            yield f"**{line}**"
        elif in_section and (item := re.match(r"(\*{0,2}\w[\w, *]*) : (.*)", line)):
            yield f"- `{item[1]}`: {item[2]}"
        else:
            yield line
    if in_example:
        yield "```"
