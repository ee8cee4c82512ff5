"""Variants of one method (`each` of a spec): the validation queries choose one, the test queries judge it.

To call the best of many variants by the test queries the winner would be to choose by the test queries, whose
mean then flatters it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from pomona.experiments.findings import Findings


@dataclass(frozen=True)
class Contender:
    """A ranker that may be called best.

    Attributes
    ----------
    n_variants : of how many variants it was chosen; 1 where it is no variant.
    chosen_by : `valid`, or `test` where there are no validation queries; None where it is no variant.
    """

    ranker: str
    n_variants: int = 1
    chosen_by: str | None = None


def variants(findings: Findings) -> dict[str, dict[str, dict[str, Any]]]:
    """By the name of a method: its rows, by their label, with the values of the parameters that vary."""
    groups: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {}
    for row in findings.results.spec.rankers:
        varied = getattr(row, "varied", ())
        if varied:
            fixed = {key: value for key, value in row.parameters.items() if key not in varied}
            key = json.dumps([row.ranker, varied, fixed], sort_keys=True, default=str)
            members = groups.setdefault(key, (row.ranker, {}))[1]
            members[row.label] = {name: row.parameters[name] for name in varied}
    kinds = dict(findings.results.runs.select("ranker", "kind").iter_rows())
    named: dict[str, dict[str, dict[str, Any]]] = {}
    for kind, members in groups.values():
        name = kinds.get(next(iter(members)), kind)
        same = sum(other.partition(" (")[0] == name for other in named)
        named[f"{name} ({same + 1})" if same else name] = members
    return {name: members for name, members in named.items() if len(members) > 1}


def valid_means(findings: Findings, dataset: str) -> dict[str, float]:
    """The mean of the main measure over the validation queries, of the rankers that were judged on some."""
    valid = findings.results.values.filter(pl.col("part") == "valid", dataset=dataset)
    return dict(valid.group_by("ranker").agg(pl.col(findings.main).mean()).iter_rows())


def contenders(findings: Findings, dataset: str, means: Mapping[str, float]) -> list[Contender]:
    """The rankers by their test means, the best first, one for all variants of a method.

    Where there are only the variants of one method, the one that is second on the validation queries follows.
    """
    valid, left, found = valid_means(findings, dataset), dict(means), []
    for members in variants(findings).values():
        known = [label for label in members if label in left]
        if len(known) < 2:
            continue
        chosen_by = "valid" if all(label in valid for label in known) else "test"
        by = valid if chosen_by == "valid" else means
        first, second, *_ = sorted(known, key=lambda label: -by[label])
        found.append(Contender(first, len(known), chosen_by))
        left = {label: mean for label, mean in left.items() if label not in known}
    if len(found) == 1 and not left:
        return [*found, Contender(second)]
    found += [Contender(label) for label in left]
    order = list(means)  # of equal means, the first
    return sorted(found, key=lambda one: (-means[one.ranker], order.index(one.ranker)))
