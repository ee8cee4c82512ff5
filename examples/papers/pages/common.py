"""What all pages share: a finished comparison and its statistics, tables, figures, published numbers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert

from pomona.experiments.analysis.pairs import both_ways
from pomona.experiments.findings import Findings, find
from pomona.experiments.results import Results, read_results
from pomona.report.digits import p_value, signed
from pomona.report.encoding import for_file, vega_lite

PUBLISHED = Path(__file__).parents[1] / "published"


class Comparison:
    """A finished comparison: its findings, and how a page writes them."""

    def __init__(self, results: Results) -> None:
        self.results = results

    @cached_property
    def findings(self) -> Findings:
        """Every statistic."""
        return find(self.results)

    def only(self, keep: Callable[[str], bool]) -> Comparison:
        """The same comparison of fewer rankers."""
        spec, kept = self.results.spec, [row for row in self.results.spec.rankers if keep(row.label)]
        labels = [row.label for row in replace(spec, rankers=tuple(kept)).rows()]
        frames = {
            name: getattr(self.results, name).filter(pl.col("ranker").is_in(labels))
            for name in ("runs", "values", "curves")
        }
        return Comparison(replace(self.results, spec=replace(spec, rankers=tuple(kept)), **frames))

    def judged_by(self, tools: Sequence[str]) -> Comparison:
        """The same comparison judged by fewer tools."""
        return Comparison(replace(self.results, spec=replace(self.results.spec, conventions=tuple(tools))))

    def mean(self, dataset: str, ranker: str, measure: str) -> float | None:
        """The mean over all test queries, or None where there is none."""
        found = self.findings.quality.filter(dataset=dataset, ranker=ranker, measure=measure)["mean"]
        return found[0] if len(found) else None

    def cutoff(self, dataset: str, ranker: str, tool: str, k: int) -> float:
        """NDCG@k as a tool computes it."""
        found = self.findings.cutoffs.filter(dataset=dataset, ranker=ranker, convention=tool, k=k)
        return float(found["mean"][0])

    def pair(self, dataset: str, measure: str, a: str, b: str) -> dict[str, Any]:
        """What the tests say of a − b."""
        pairs = both_ways(self.findings.pairs)
        return pairs.filter(dataset=dataset, measure=measure, a=a, b=b).row(0, named=True)

    def seeds(self, dataset: str, ranker: str, measure: str) -> list[float]:
        """The mean over all test queries, of each seed alone."""
        values = self.results.values.filter(dataset=dataset, ranker=ranker, part="test")
        return values.group_by("seed").agg(pl.col(measure).mean()).sort("seed")[measure].to_list()

    def told(self, dataset: str, measure: str, a: str, b: str) -> str:
        """The difference a − b, its interval and whether it is more than chance, in words."""
        pair = self.pair(dataset, measure, a, b)
        verdict = "significant" if pair["is_significant"] else "within chance"
        interval = f"{signed(pair['low'])} to {signed(pair['high'])}"
        chance = f"p {p_value(pair['randomization_p'])}, Holm {p_value(pair['holm_p'])}"
        return f"{signed(pair['difference'])} ({interval}; {chance}: {verdict})"


def shown(chart: Any, folder: Path, stem: str) -> str:
    """A chart of the report as a file, and the Markdown that shows it."""
    if chart is None:
        return "(There is nothing to draw.)"
    spec = vega_lite(chart)
    (folder / "figures").mkdir(exist_ok=True)
    (folder / "figures" / f"{stem}.svg").write_text(
        vl_convert.vegalite_to_svg(for_file(spec)), encoding="utf-8"
    )
    return f"![{spec['description']}](figures/{stem}.svg)"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int = 1) -> str:
    """A Markdown table, its first columns texts and the others numbers."""
    lines = [head, ["---"] * n_texts + ["---:"] * (len(head) - n_texts), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def published(name: str) -> list[dict[str, str]]:
    """The rows of a small file of published numbers."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def finished(directory: Path) -> Comparison | None:
    """The comparison in this directory, if every run of it has ended."""
    if not (directory / "store.sqlite").is_file():
        return None
    results = read_results(directory)
    return Comparison(results) if results.runs["state"].is_in(["done", "failed"]).all() else None


Parts = dict[str, tuple[str, Callable[[Comparison, Path], str]]]
"""What stands between the marks of this name: the comparison it is made of, and how."""
