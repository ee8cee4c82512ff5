"""The report of a comparison: its title, its summary and all sections of that kind."""

from __future__ import annotations

from pomona.experiments.findings import Findings
from pomona.report.digits import seconds
from pomona.report.names import datasets_of, rankers_of
from pomona.report.section import Report, report_of


def comparison_report(findings: Findings) -> Report:
    """Every section that answers a question about a comparison, in order."""
    return report_of(
        "comparison",
        findings,
        title=findings.results.spec.name,
        question="which ranker is best",
        summary=summary_of(findings),
        datasets=datasets_of(findings),
    )


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
