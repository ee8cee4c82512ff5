"""The cut-off that lambda gradients are trained with, which may lie deeper than the measure's own.

Pairs below the cut-off of a discounted measure teach too, and the top is ranked at least as well.
"""

from __future__ import annotations

from dataclasses import replace

from pomona.measures.base import Measure


def deepened(measure: Measure, k: int | None) -> Measure:
    """A discounted measure with its cut-off raised to at least k; any other as it is.

    >>> from pomona.measures.parse import measure
    >>> [str(deepened(measure(text), 30)) for text in ("ndcg@10", "p@10", "letor4:ndcg@10")]
    ['ndcg@30', 'p@10', 'letor4:ndcg@10']
    """
    if k is None or measure.k is None or measure.k >= k or not measure.is_discounted:
        return measure
    if getattr(measure, "short", None) == "zero":  # a deeper cut-off would silence more short queries
        return measure
    return replace(measure, k=k)
