"""What is odd in a dataset: empty queries, duplicates, constant features, the same query in two splits."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import typer

from pomona.cli.options import DocId, Json, Label, Qid, Sources, named_columns

if TYPE_CHECKING:
    from pomona.data.audit import Finding

_STYLES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
    "note": {"fg": "cyan"},
}


def audit(
    data: Sources,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Look for what makes numbers wrong or hard to compare, and say why and where. Several files, and the
    parts of a fold directory or a collection, are checked one by one and against each other. The exit code
    is 1 when a finding is an error, else 0.

    \b
    Example:
        pomona audit train.txt vali.txt test.txt
        pomona audit mq2008 --json
    """
    from pomona.cli.inputs import distinct
    from pomona.cli.output import print_json
    from pomona.data.audit import audit as audit_parts
    from pomona.data.read import read_parts

    parts = {}
    distinct(data)
    for source in data:
        read = read_parts(source, **named_columns(label, qid, doc_id))
        for name, part in read.items():
            # A file goes by the path it was given as: two of them may have the same name.
            parts[source if len(read) == 1 else name if len(data) == 1 else f"{source} {name}"] = part
    findings = audit_parts(parts)
    with contextlib.suppress(BrokenPipeError):  # the exit code is the same if nobody reads to the end
        if as_json:
            print_json([finding.to_json() for finding in findings])
        else:
            _print_findings(findings, len(parts) > 1)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


def _print_findings(findings: list[Finding], name_parts: bool) -> None:
    previous = None
    for finding in findings:
        if finding.check != previous:
            severity = typer.style(f"{finding.severity:<8}", **_STYLES[finding.severity])
            typer.echo(f"{severity}{typer.style(finding.check, bold=True)}: {finding.why}")
            previous = finding.check
        where = f" in {finding.part}" if name_parts else ""
        typer.echo(f"          {finding.amount}{where}")
        for example in finding.examples:
            typer.echo(typer.style(f"            {example}", dim=True))
    counts = {severity: sum(finding.severity == severity for finding in findings) for severity in _STYLES}
    typer.echo(", ".join(f"{severity}s: {count}" for severity, count in counts.items()))
