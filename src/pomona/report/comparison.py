"""The report of a comparison: its title, its summary and all sections of that kind."""

from __future__ import annotations

from collections.abc import Sequence

from pomona.experiments.findings import Findings
from pomona.report.digits import seconds
from pomona.report.names import datasets_of, rankers_of
from pomona.report.section import Draw, Report, report_of

_OF_VARIABLE = {
    "train_fraction": "how much training data is enough",
    "label_noise": "what wrong labels cost",
    "n_features": "how many features are enough",
    "draw": "how much chance there is in the data",
}


def comparison_report(findings: Findings, only: Sequence[str] = (), draw: Draw | None = None) -> Report:
    """Every section that answers a question about a comparison, in order; or `only` those of these names.

    draw : is given each figure at once.
    """
    return report_of(
        "comparison",
        findings,
        title=findings.results.spec.name,
        question=question_of(findings),
        summary=summary_of(findings),
        datasets=datasets_of(findings),
        only=only,
        draw=draw,
    )


def question_of(findings: Findings) -> str:
    """What the comparison asks: of a study, about what it varies."""
    varied = findings.study["variable"].unique(maintain_order=True).to_list()
    if varied:
        return " and ".join(_OF_VARIABLE[variable] for variable in varied)
    if not findings.overfitting.is_empty():
        return "when training goes too far"
    # A study is of nothing but variants of its methods.
    if set(rankers_of(findings)) <= set(findings.grid["ranker"]):
        variables = set(findings.grid["variable"]) | set(findings.grid["variable_2"].drop_nulls())
        return "which measure to train for" if variables == {"measure"} else "which parameters are best"
    return "which ranker is best"


def summary_of(findings: Findings) -> str:
    """What was compared, in a line."""
    runs, spec = findings.results.runs, findings.results.spec
    folds = {part["fold"].n_unique() for part in runs.partition_by("dataset")}
    n_folds = "–".join(f"{n}" for n in sorted({min(folds), max(folds)}))
    facts = [
        _counted(len(rankers_of(findings)), "ranker"),
        _counted(len(datasets_of(findings)), "dataset"),
        f"{sum(len(data.queries) for data in findings.pooled):,} test queries".replace(",", " "),
        f"{n_folds} fold{'s' if n_folds != '1' else ''}",
        _counted(len(spec.seeds), "seed"),
    ]
    spent = findings.results.facts.get("total_seconds")
    return " · ".join([*facts, *([f"{seconds(spent)} in all"] if spent else [])])


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"
