"""Write the tables and figures of docs/results from finished comparisons, beside what the papers print.

    python examples/papers/pages.py papers-runs docs/results

`papers-runs/NAME` is the directory of `pomona compare examples/papers/NAME.toml`. A page is a Markdown file
in which `<!-- name -->` and `<!-- end -->` enclose what is made here; every other word in it is somebody's
and stays. A part whose comparison has not been run stays as it is.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import vl_convert

import pomona as pm
from pomona.experiments.analysis.pairs import both_ways
from pomona.experiments.findings import Findings, find
from pomona.experiments.results import Results, read_results
from pomona.report.digits import fixed, p_value, signed, significant
from pomona.report.encoding import for_file, vega_lite
from pomona.report.sections.conventions import convention_curves, trained_judged
from pomona.report.sections.winning import winning_numbers as winning_chart
from pomona.stats.winning import winning_numbers

HERE = Path(__file__).parent
TOOLS = ("ranklib", "yahoo", "letor4")
DRIVEN = ("AdaRank", "Coordinate Ascent", "LambdaMART", "RankNet")
"""What Busa-Fekete et al. train with the measure of each tool, and draw in their Figure 1."""


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
    with (HERE / "published" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


# Busa-Fekete et al. 2012


def tool_table(of: Comparison, folder: Path) -> str:
    """NDCG@10 of every method, trained with one tool's measure and judged by another's."""
    rows = []
    for data in of.results.spec.datasets:
        for label in (row.label for row in of.results.spec.rankers):
            means = [of.mean(data.name, label, f"{tool}:ndcg@10") for tool in TOOLS]
            rows.append([data.name, label, *map(fixed, means)])
    return table(["dataset", "trained (with ranklib's NDCG@10, if not said)", *TOOLS], rows, n_texts=2)


def tool_claims(of: Comparison, folder: Path) -> str:
    """What the paper found, and what we find."""
    data, measure = "mq2008", "ranklib:ndcg@10"
    labels = [row.label for row in of.results.spec.rankers]
    six = of.only(lambda label: "(" not in label)

    def gap(tool: str, k: int) -> float:
        return float(
            np.mean([of.cutoff(data, r, tool, k) - of.cutoff(data, r, "ranklib", k) for r in labels])
        )

    lifts = [gap("yahoo", k) for k in range(1, 11)]
    rows = [
        ("`yahoo` lifts all by about 0.25", f"{signed(min(lifts))} to {signed(max(lifts))}"),
        (
            "`letor4` falls at k = 8 … 10, by 0.25 and more",
            ", ".join(f"@{k}: {signed(gap('letor4', k))}" for k in (6, 7, 8, 9, 10)),
        ),
    ]
    for method in DRIVEN:
        found = of.told(data, measure, f"{method} (letor4)", method)
        rows.append(
            (f"training with `letor4` hurts {method}" if method != "RankNet" else f"… {method}", found)
        )
    rows += [
        (f"`yahoo` trains as well or better: {method}", of.told(data, measure, f"{method} (yahoo)", method))
        for method in DRIVEN
    ]
    for tool in TOOLS:
        judged = f"{tool}:ndcg@10"
        means = {row.label: six.mean(data, row.label, judged) or 0.0 for row in six.results.spec.rankers}
        order = sorted(means, key=lambda label: -means[label])
        best = next(label for label in order if label != "Coordinate Ascent")
        rows.append(
            (
                f"Coordinate Ascent slightly ahead, judged by `{tool}`",
                f"place {order.index('Coordinate Ascent') + 1}; to {best} "
                + six.told(data, judged, "Coordinate Ascent", best),
            )
        )
    for dataset in (found.name for found in of.results.spec.datasets):
        changes = six.findings.order_changes.filter(dataset=dataset, measure="ndcg@10")
        both = changes.filter(convention_1="ranklib", convention_2="yahoo").height
        rows.append(
            (
                f"the order of the six changes between tools, {dataset}",
                f"{changes.select('better', 'worse').unique().height} of 15 pairs; "
                f"{both} between `ranklib` and `yahoo`",
            )
        )
    return table(["the paper", "here, NDCG@10 judged by `ranklib` if not said"], rows, n_texts=2)


def figure_1(of: Comparison, folder: Path) -> str:
    """Trained with × judged by."""
    return shown(trained_judged(of.findings, "mq2008"), folder, "busa-fekete-1")


def figure_2(of: Comparison, folder: Path) -> str:
    """The six methods, trained with the definition's NDCG, judged by each tool."""
    six = of.only(lambda label: "(" not in label)
    return shown(convention_curves(six.findings, "mq2008"), folder, "busa-fekete-2")


# Modrý 2014


def thesis_table(of: Comparison, folder: Path) -> str:
    """NDCG@20, ERR@20, AVG_Norm and times of every ranker, published numbers beside."""
    data = of.results.spec.datasets[0].name
    ndcg, err = of.findings.measures[:2]
    known = {row["ranker"]: row for row in published("thesis_letor4")} if data == "LETOR 4.0" else {}
    costs = {row["ranker"]: row for row in of.findings.costs.filter(dataset=data).iter_rows(named=True)}
    found = of.findings.quality.filter(dataset=data, measure=ndcg).sort("norm", descending=True)
    rows = []
    for row in found.iter_rows(named=True):
        name, cost = row["ranker"], {} if row["is_bound"] else costs[row["ranker"]]
        theirs = [known.get(name, {}).get(column, "") for column in ("ndcg@20", "err@20", "avg_norm")]
        values = (row["mean"], of.mean(data, name, err), row["norm"])
        ours = [fixed(value) + mark for value, mark in zip(values, (row["mark"] or "", "", ""), strict=True)]
        times = [significant(cost.get("train_seconds")), significant(cost.get("score_microseconds"))]
        both = [cell for pair in zip(theirs, ours, strict=True) for cell in pair] if known else ours
        rows.append([name, *both, *(times if cost else ["", ""])])
    heads = ["NDCG@20", "ERR@20", "AVG_Norm"]
    measured = [f"{head}{who}" for head in heads for who in (" thesis", " ours")] if known else heads
    note = f"▲ ▼: significantly above or below {of.findings.baseline}."
    return table(["ranker", *measured, "training, s", "scoring, µs/doc"], rows) + f"\n\n{note}"


def thesis_times(of: Comparison, folder: Path) -> str:
    """The thesis' times of training and testing, of other data and another machine, and ours normed alike."""
    data, rows = of.results.spec.datasets[0].name, published("thesis_times")
    costs = {row["ranker"]: row for row in of.findings.costs.filter(dataset=data).iter_rows(named=True)}
    columns = []
    for theirs, ours in (("train", "train_seconds"), ("test", "score_microseconds")):
        spent = [costs[row["ranker"]][ours] for row in rows]
        least, most = min(spent), max(spent)
        columns.append([row[f"{theirs}_norm"] for row in rows])
        columns.append([fixed((value - least) / (most - least), 3) for value in spent])
        columns.append([significant(value) for value in spent])
    heads = ["training, AvgNorm thesis", "ours", "s", "testing, AvgNorm thesis", "ours", "µs/doc"]
    return table(["method", *heads], zip([row["method"] for row in rows], *columns, strict=True))


def thesis_claims(of: Comparison, folder: Path) -> str:
    """Does RC-Rank win, and do oblivious trees help LambdaMART?"""
    data, rows = of.results.spec.datasets[0].name, []
    for measure in of.findings.measures[:2]:
        for a, b in (
            ("RC-Rank", "LambdaMART"),
            ("RC-Rank enhanced", "RC-Rank"),
            ("LambdaMART oblivious", "LambdaMART"),
            ("LambdaMART oblivious", "RC-Rank"),
            ("RankNet", "LambdaMART"),
            ("ListNet", "LambdaMART"),
        ):
            rows.append([f"{a} − {b}, {measure}", of.told(data, measure, a, b)])
    return table(
        ["difference", "mean (95 % interval; p of Fisher's test, and by Holm: verdict)"], rows, n_texts=2
    )


# Yilmaz & Robertson 2009

TESTED = {"AP": "ap", "P@10": "p@10", "NDCG@10": "ndcg@10"}


def informative_table(of: Comparison, folder: Path) -> str:
    """Trained for × tested on, both methods, with the paper's marks."""
    parts = []
    theirs = {(row["method"], row["trained for"]): row for row in published("yilmaz_robertson")}
    for data in (found.name for found in of.results.spec.datasets):
        rows = []
        for (method, trained), paper in theirs.items():
            cells = []
            for test, measure in TESTED.items():
                value = of.mean(data, _label(method, trained, test), measure)
                marks = _marks(of, data, method, trained, test)
                cells += [paper[measure], ("" if value is None else fixed(100 * value, 2)) + marks]
            rows.append([method, trained, *cells])
        heads = [f"{test}{who}" for test in TESTED for who in (" paper", " ours")]
        parts.append(f"**{data}**\n\n" + table(["method", "trained for", *heads], rows, n_texts=2))
    return "\n\n".join(parts)


def _label(method: str, trained: str, test: str) -> str:
    return f"{method} {trained.lower()}|{test.lower()}"


def _marks(of: Comparison, data: str, method: str, trained: str, test: str) -> str:
    """• ▾: three tests put it above or below training for the test measure; °: the better of AP and NDCG."""
    mine, marks = _label(method, trained, test), ""
    if trained != test:
        pair = of.pair(data, TESTED[test], mine, _label(method, test, test))
        marks += ("•" if pair["difference"] > 0 else "▾") if pair["agree"] else ""
    if other := {"AP": "NDCG", "NDCG": "AP"}.get(trained):
        pair = of.pair(data, TESTED[test], mine, _label(method, other, test))
        marks += "°" if pair["agree"] and pair["difference"] > 0 else ""
    return marks


# Hiemstra, Tax & Bockting 2017


def winning_table(of: Comparison, folder: Path) -> str:
    """Winning Numbers over all datasets and measures at hand."""
    found = of.findings.winning.sort("normalized", descending=True, nulls_last=True)
    rows = [
        [row["ranker"], str(row["winning"]), str(row["ideal"]), fixed(row["normalized"]), _front(row)]
        for row in found.iter_rows(named=True)
    ]
    return table(["ranker", "WN", "IWN", "NWN", "front"], rows)


def _front(row: dict[str, Any]) -> str:
    return "Pareto" if row["is_pareto"] else "rank 2" if row["is_rank2"] else ""


def winning_figure(of: Comparison, folder: Path) -> str:
    """NWN by IWN."""
    return shown(winning_chart(of.findings), folder, "winning-numbers")


LETOR = {"MAP": "ap", "NDCG@3": "ndcg@3", "NDCG@5": "ndcg@5", "NDCG@10": "ndcg@10"}


def literature_table(of: Comparison, folder: Path) -> str:
    """Our rankers on MQ2008 beside the official baselines, all judged as LETOR 4.0 did: a sparse table.

    It is also written as a file, `literature.csv`, for `pomona winning`.
    """
    results = of.results
    rows = [(row["method"], row["measure"], float(row["value"])) for row in published("letor_baselines")]
    done = results.runs.filter(dataset="mq2008", state="done", is_bound=False)
    for (ranker,), runs in done.group_by("ranker", maintain_order=True):
        by_fold = [_as_letor(results, str(ranker), run) for run in runs.iter_rows(named=True)]
        rows += [(f"{ranker} (Pomona)", name, float(np.mean([of[name] for of in by_fold]))) for name in LETOR]
    lines = ["method,dataset,measure,value", *(f"{m},MQ2008,{name},{value:.4f}" for m, name, value in rows)]
    (folder / "literature.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = {(method, name): value for method, name, value in rows}
    methods = list(dict.fromkeys(method for method, _, _ in rows))
    grid = np.array([[values.get((method, name), np.nan) for name in LETOR] for method in methods])
    won = winning_numbers(grid)
    order = np.argsort(-won.normalized, kind="stable")
    shown = [
        [
            methods[i],
            *(fixed(None if np.isnan(value) else float(value)) for value in grid[i]),
            *(str(won.winning[i]), str(won.ideal[i]), fixed(float(won.normalized[i]))),
        ]
        for i in order
    ]
    return table(["method", *LETOR, "WN", "IWN", "NWN"], shown)


def _as_letor(results: Results, ranker: str, run: dict[str, Any]) -> dict[str, float]:
    """A run judged by the rules of the LETOR 4.0 script."""
    scores = results.scores("mq2008", run["fold"], ranker, run["seed"])
    found = pm.evaluate(_mq2008(run["fold"]), scores, [f"letor4:{text}" for text in LETOR.values()])
    return {name: found[f"letor4:{text}"] for name, text in LETOR.items()}


@cache
def _mq2008(fold: int) -> pm.Dataset:
    return pm.load("mq2008", fold).test


# Against the living


def peers_table(of: Comparison, folder: Path) -> str:
    """Quality and cost of every ranker on every dataset."""
    rows = []
    for data in (found.name for found in of.results.spec.datasets):
        costs = {row["ranker"]: row for row in of.findings.costs.filter(dataset=data).iter_rows(named=True)}
        cells = {
            (row["ranker"], row["measure"]): f"{fixed(row['mean'])}{row['mark'] or ''}"
            for row in of.findings.quality.filter(dataset=data).iter_rows(named=True)
        }
        for row in of.results.spec.rankers:
            cost = costs[row.label]
            memory = None if cost["peak_memory"] is None else cost["peak_memory"] / 1e6
            spent = map(significant, (cost["train_seconds"], cost["score_microseconds"], memory))
            quality = [cells.get((row.label, measure), "") for measure in of.findings.measures]
            rows.append([data, row.label, *quality, *spent, fixed(cost["best_iteration"], 0)])
    heads = ["training, s", "scoring, µs/doc", "memory, MB", "trees"]
    note = f"▲ ▼: significantly above or below {of.findings.baseline}."
    return table(["dataset", "ranker", *of.findings.measures, *heads], rows, n_texts=2) + f"\n\n{note}"


PARTS: dict[str, tuple[str, Callable[[Comparison, Path], str]]] = {
    "busa-fekete figure 1": ("busa_fekete", figure_1),
    "busa-fekete figure 2": ("busa_fekete", figure_2),
    "busa-fekete table": ("busa_fekete", tool_table),
    "busa-fekete claims": ("busa_fekete", tool_claims),
    "thesis letor4": ("thesis_letor4", thesis_table),
    "thesis letor4 times": ("thesis_letor4", thesis_times),
    "thesis letor4 claims": ("thesis_letor4", thesis_claims),
    "thesis ohsumed": ("thesis_ohsumed", thesis_table),
    "thesis ohsumed claims": ("thesis_ohsumed", thesis_claims),
    "yilmaz-robertson": ("yilmaz_robertson", informative_table),
    "yilmaz-robertson simulated": ("yilmaz_simulated", informative_table),
    "winning table": ("winning", winning_table),
    "winning figure": ("winning", winning_figure),
    "winning literature": ("winning", literature_table),
    "peers table": ("peers", peers_table),
}
"""What stands between the marks of this name: the comparison it is made of, and how."""


_PART = re.compile(r"<!-- (?P<name>[^>]+) -->\n.*?<!-- end -->", re.DOTALL)


def without_parts(text: str) -> str:
    """A page's own words: what is between marks left out."""
    return _PART.sub(lambda match: f"<!-- {match['name']} -->\n<!-- end -->", text)


def finished(directory: Path) -> Comparison | None:
    """The comparison in this directory, if every run of it has ended."""
    if not (directory / "store.sqlite").is_file():
        return None
    results = read_results(directory)
    return Comparison(results) if results.runs["state"].is_in(["done", "failed"]).all() else None


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
    for name in write_pages(Path(sys.argv[1]), Path(sys.argv[2])):
        print(f"{name} has not been run to the end, its part of the pages stays as it was", file=sys.stderr)
