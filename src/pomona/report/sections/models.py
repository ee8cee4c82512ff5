"""Where are the models, and what was chosen for them?"""

from __future__ import annotations

from typing import Any

from pomona.experiments.findings import Findings
from pomona.report.digits import count, significant
from pomona.report.names import measure_title
from pomona.report.section import Html, Numbers, Parts, Section
from pomona.report.table import Table, in_units, linked, make_table, number, text

MOST_OPEN = 30
"""Models of a dataset whose table stands open."""

_INTRODUCTION = """
<p>Every model of this comparison, one a fold and seed, judged by {{ measure }}.
<em>Chosen</em> are parameters that a search tried, or that the ranker decided by the data because they were
left open. <a href="models/index.csv">models/index.csv</a> has the same;
<code>pomona score</code>, <code>pomona explain</code> and <code>pomona export</code> take these files, and
<code>pomona compare … --refit-best</code> trains the best on all queries.</p>
"""


class ModelsSection(Section):
    """The saved models, and the chosen parameters."""

    name = "models"
    title = "The models"
    order = 68

    def overall(self, findings: Findings) -> Parts:
        if has_files(findings):
            yield Html(_INTRODUCTION, measure=measure_title(findings.main))

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        if has_files(findings):
            table = model_table(findings, dataset)
            yield Numbers(table, f"All {len(table.rows)} models", is_open=len(table.rows) <= MOST_OPEN)


def has_files(findings: Findings) -> bool:
    """Whether the models lie in a directory."""
    return findings.results.directory is not None and not findings.models.is_empty()


def model_table(findings: Findings, dataset: str) -> Table:
    """A row a model."""
    models = findings.models.filter(dataset=dataset)
    optional: list[Any] = []
    if models["steps"].null_count() < len(models):
        optional.append(number("Steps", "steps", count))
    if models["chosen"].str.len_chars().sum():
        optional.append(text("Chosen", lambda row: row["chosen"] or None))
    several_seeds = models["seed"].n_unique() > 1
    columns = [
        text("Ranker", "ranker"),
        number("Fold", "fold", str),
        *([number("Seed", "seed", str)] if several_seeds else []),
        *([number("Validation", "valid")] if models["valid"].null_count() < len(models) else []),
        number("Test", "test"),
        *optional,
        number("Size (kB)", in_units("bytes", 1e3), significant),
        linked("Model", "name", "file"),
    ]
    return make_table("models", f"The models of {dataset}", columns, models.to_dicts())
