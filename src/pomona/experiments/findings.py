"""What the numbers of a comparison mean: every statistic of the report, computed once, as named tables.

One file of `experiments/analysis` computes one table, or a few that belong together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from pomona._registry import entries
from pomona._types import Values
from pomona.errors import InputError
from pomona.experiments.analysis.pooled import Pooled, pooled
from pomona.stats.paired import PairedTests, compare_pairs

if TYPE_CHECKING:
    from pomona.experiments.results import Results

_FOLDER = "experiments/analysis"


@dataclass
class Findings:
    """A comparison, read by a statistician: a table for each file of `experiments/analysis`, by its name.

    `findings.pairs` is the table of that name; its class says what the columns are. Null is: unknown.
    Queries are the unit: seeds are averaged for each query first, the queries of all test folds are pooled.
    Of a dataset that a study varies, all tables but those of the study speak of the complete data alone.
    The best and the worst possible ranking (bounds) are in `quality` only. A ranker that misses queries of
    others (some run failed) is in no ranking: not in `fronts`, `winning` and `headline`, and without a rank.

    Attributes
    ----------
    alpha : tests reject at this level, and intervals cover 1 − alpha.
    n_resamples, seed : of bootstrap and randomization.
    tables : the tables computed so far. warnings : sentences.
    varied : the results with every variant of the datasets; None where there are no variants.
    by : what queries are sliced by, besides their numbers of documents: a value a query id, by name.
    """

    results: Results
    alpha: float = 0.05
    n_resamples: int = 10_000
    seed: int = 0
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    varied: Results | None = None
    by: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __getattr__(self, name: str) -> pl.DataFrame:
        """The table of this name, computed when it is first asked for."""
        if name.startswith("_") or name not in entries(_FOLDER):
            raise AttributeError(f"the findings have no table {name!r}")
        if name not in self.tables:
            self.tables[name] = entries(_FOLDER)[name].load().compute(self)
        return self.tables[name]

    @cached_property
    def measures(self) -> list[str]:
        """Every measure under every convention, the main one first."""
        spec = self.results.spec
        columns = self.results.columns
        judged = (columns[text, name] for name in spec.conventions for text in spec.measures)
        return list(dict.fromkeys(judged))

    @property
    def main(self) -> str:
        """The measure that decides."""
        return self.measures[0]

    @property
    def baseline(self) -> str:
        """The ranker that all are compared with."""
        spec = self.results.spec
        return spec.baseline or spec.rankers[0].label

    @cached_property
    def pooled(self) -> list[Pooled]:
        """The test values of every dataset with a finished run."""
        return pooled(self.results)

    @property
    def ranked(self) -> pl.DataFrame:
        """The rows of `quality` whose means can be ranked: no bounds, and all of the same queries."""
        return self.quality.filter(pl.col("is_comparable") & ~pl.col("is_bound"))

    def compared(
        self, values: Values, first: ArrayLike = (0,), second: ArrayLike = (1,), *, n_resamples: int = 0
    ) -> list[PairedTests]:
        """The tests of pairs of rows of (series × queries) values; of the first two, if no pairs are named.

        n_resamples : as many at the least.
        """
        return compare_pairs(
            values,
            np.asarray(first, np.intp),
            np.asarray(second, np.intp),
            alpha=self.alpha,
            n_resamples=max(self.n_resamples, n_resamples),
            seed=self.seed,
        )


class Analysis(ABC):
    """A table that answers one question about a comparison.

    A subclass in a file of `experiments/analysis` is found by its `name`, which the table has in findings.
    """

    name: ClassVar[str]
    schema: ClassVar[Mapping[str, Any]]
    """Columns and their types. More may follow: one for each ranker, say."""

    @classmethod
    @abstractmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        """The table. Other tables that it needs are asked of the findings, which compute each once."""

    @classmethod
    def table(cls, rows: Iterable[Any]) -> pl.DataFrame:
        """Rows, tuples or dictionaries, as a table of the schema; what is not finite, or missing, is null.

        What a dictionary has beyond the schema is left out.
        """
        frame = pl.DataFrame(list(rows), schema=cls.schema, orient="row")
        numbers = pl.col(pl.Float64)
        return frame.with_columns(pl.when(numbers.is_finite()).then(numbers))


def columns(kind: Any, *names: str) -> dict[str, Any]:
    """Several columns of one type, for a schema.

    >>> columns(pl.String, "dataset", "ranker")
    {'dataset': String, 'ranker': String}
    """
    return dict.fromkeys(names, kind)


def complete_results(results: Results) -> Results:
    """The results on the complete data alone; of a study without them, on the variant that comes nearest."""
    variants = results.runs.filter(pl.col("dataset").n_unique().over("of") > 1)
    if variants.is_empty():
        return results
    done = variants.filter((pl.col("state") == "done").any().over("dataset"))
    nearest = (
        (variants if done.is_empty() else done)
        .sort(
            *(pl.col("dataset") != pl.col("of"), "label_noise", -pl.col("train_fraction")),
            *(-pl.col("n_features"), "draw"),
            maintain_order=True,
        )
        .unique("of", keep="first", maintain_order=True)["dataset"]
    )
    left_out = set(variants["dataset"]) - set(nearest)

    def kept(table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(~pl.col("dataset").is_in(left_out))

    return replace(
        results,
        runs=kept(results.runs),
        values=kept(results.values),
        curves=kept(results.curves),
        stages=kept(results.stages),
        trials=kept(results.trials),
        queries=kept(results.queries),
        importance=kept(results.importance),
    )


def find(
    results: Results,
    *,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    by: Mapping[str, Mapping[str, Any]] | None = None,
) -> Findings:
    """Apply every statistic to the results of a comparison; the same seed gives the same findings.

    by : what queries are also sliced by: for each name, a value by query id.
    """
    from pomona.experiments.analysis.warning import warnings_of  # which imports this file

    complete = complete_results(results)
    findings = Findings(complete, alpha, n_resamples, seed, by=by or {})
    findings.varied = None if complete is results else results
    if not findings.pooled:
        raise InputError("no run is finished, so there is nothing to compare")
    findings.warnings.extend(warnings_of(findings))
    for name in entries(_FOLDER):
        getattr(findings, name)
    return findings
