"""How much each feature tells: alone, in bits, inside queries, in a forest, and together with others.

Modrý 2014, 3.2.2: the discriminative power of features, one after another and in subsets. What a feature is
worth depends on the question, so there are several answers beside each other: `feature_alone`,
`feature_information`, `feature_forest`, `feature_subsets`, `feature_correlation`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from pomona.data.catalog import is_collection, load_folds
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold, Folds
from pomona.data.k_fold import QueryKFold
from pomona.data.letor import ABSENT
from pomona.data.read import read
from pomona.errors import InputError
from pomona.experiments.analysis.feature_alone import features_alone
from pomona.experiments.analysis.feature_correlation import feature_correlation
from pomona.experiments.analysis.feature_forest import ForestShares
from pomona.experiments.analysis.feature_information import (
    feature_information,
    label_entropy,
    n_queries_with_pairs,
)
from pomona.experiments.analysis.feature_subsets import forward_selection, selection_means
from pomona.experiments.source import cut, numbered
from pomona.measures.base import Measure
from pomona.measures.parse import measure as parse_measure

N_FOLDS = 5
FEWEST_QUERIES = 3
"""For a fold: one each to train on, to validate and to test on."""
STAGES = ("alone", "information", "correlation", "forest", "selection")

Data = Dataset | Fold | Sequence[Fold] | str | os.PathLike[str]
Watch = Callable[[str, float], Any]


@dataclass
class FeatureFindings:
    """What is known of the features of a dataset; after Ctrl-C, what was known then.

    Attributes
    ----------
    features : a row a feature, the best alone first.
    random : the measure of a random order.
    label_entropy : in bits, what no feature can tell more than.
    pair_queries : how many queries have two different labels.
    forest_value : the measure of the forests' test queries.
    interactions, selection, correlation : pairs, steps of each fold, and |Spearman| of the `top` best.
    notes : what could not be done, and why.
    """

    measure: str
    n_queries: int
    n_docs: int
    top: int
    features: pl.DataFrame
    random: float | None = None
    label_entropy: float | None = None
    pair_queries: int = 0
    n_folds: int = 0
    n_trees: int = 0
    forest_value: float | None = None
    interactions: pl.DataFrame = field(default_factory=pl.DataFrame)
    selection: pl.DataFrame = field(default_factory=pl.DataFrame)
    correlation: pl.DataFrame = field(default_factory=pl.DataFrame)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def selection_means(self) -> pl.DataFrame:
        """The steps of the selection, as means over the folds."""
        return selection_means(self.selection) if len(self.selection) else self.selection

    def add(self, table: pl.DataFrame) -> None:
        """Join columns, a row a feature."""
        joined = self.features.join(table.drop("feature", strict=False), on="number", how="left")
        if "alone" in table.columns:
            joined = joined.sort("alone", "number", descending=[True, False])
        self.features = joined


def feature_table(
    data: Data,
    measure: str | Measure = "ndcg@10",
    *,
    bins: int = 20,
    n_trees: int = 100,
    n_shuffles: int = 5,
) -> pl.DataFrame:
    """How much each feature tells of the labels: a row a feature, the best alone first.

    Parameters
    ----------
    data : a dataset, a fold, folds, or the name of a file, a fold directory or a collection. What has no
        folds is cut into five by whole queries.
    measure : judges features alone, and is what the forests are trained for.
    bins : of the information gain.
    n_trees : of each fold's forest; 0 for none.
    n_shuffles : of each permutation importance.

    `examine_features` also gives interactions of pairs, forward selection and correlations.

    >>> data = Dataset([[5.0, 1.0], [5.0, 2.0], [5.0, 3.0]], [2, 1, 0], [7, 7, 7])
    >>> feature_table(data, n_trees=0).select("feature", "alone", "direction").row(0)
    ('f2', 1.0, 'down')
    """
    found = examine_features(
        data,
        measure,
        bins=bins,
        n_trees=n_trees,
        n_shuffles=n_shuffles,
        stages=("alone", "information", "forest"),
    )
    if found.interrupted:
        raise KeyboardInterrupt
    return found.features


def examine_features(
    data: Data,
    measure: str | Measure = "ndcg@10",
    *,
    bins: int = 20,
    n_trees: int = 100,
    n_shuffles: int = 5,
    top: int = 25,
    stages: Sequence[str] = STAGES,
    watch: Watch = lambda stage, share: None,
    **reading: Any,
) -> FeatureFindings:
    """Everything that `pomona features` tells; Ctrl-C ends it early, with what is known by then.

    top : of how many of the best features the correlations are wanted.
    watch : hears which stage is how far (from 0 to 1).
    reading : of data that are read: the columns of `pomona.read`, and `undefined`, the value of what a LETOR
        line leaves out.
    """
    for what, number, least in (
        ("bins", bins, 2),
        ("shuffles", n_shuffles, 1),
        ("trees", n_trees, 0),
        ("top", top, 1),
    ):
        if number < least:
            raise InputError(f"found {number} {what}, expected at least {least}")
    parsed = parse_measure(measure)
    whole, folds = subject_of(data, **reading)
    if whole.n_docs == 0 or whole.n_features == 0:
        raise InputError(f"found {whole.n_docs} documents with {whole.n_features} features, expected some")
    named = pl.DataFrame({"number": range(1, whole.n_features + 1), "feature": whole.feature_names})
    found = FeatureFindings(str(parsed), whole.n_queries, whole.n_docs, top, named, n_trees=n_trees)
    steps = {
        "alone": partial(_add_alone, found, whole, parsed),
        "information": partial(_add_information, found, whole, bins),
        "correlation": partial(_add_correlation, found, whole),
        "forest": partial(_add_forests, found, folds, parsed, n_shuffles),
        "selection": partial(_add_selection, found, folds, parsed),
    }
    if not folds:
        found.notes.append(
            f"{whole.n_queries} queries are too few to train and test on: no forest, no selection"
        )
    try:
        for stage in stages:
            steps[stage](partial(watch, stage))
    except KeyboardInterrupt:
        found.interrupted = True
        found.notes.append("stopped before the end: what is missing was not reached")
    return found


def subject_of(data: Data, **reading: Any) -> tuple[Dataset, list[Callable[[], Fold]]]:
    """All documents together, and the folds, each made when it is called for."""
    if isinstance(data, str | os.PathLike):
        undefined = reading.pop("undefined", ABSENT)
        if not is_collection(data) and Path(data).is_file():
            return subject_of(read(data, **reading, undefined=undefined, cache=True))
        folds = load_folds(os.fspath(data), columns=reading)
        whole = _together(list(folds.parts(undefined=undefined).values()))
        return whole, [partial(_fold_of_files, folds, k, undefined) for k in range(len(folds))]
    if isinstance(data, Dataset):
        whole = data.gathered()
        if whole.n_queries < FEWEST_QUERIES:
            return whole, []
        splits = QueryKFold(min(N_FOLDS, whole.n_queries)).split_queries(whole)
        return whole, [partial(_fold_of_queries, whole, *split) for split in splits]
    folds_given = [data] if isinstance(data, Fold) else list(data)
    if not folds_given:
        raise InputError("found no fold, expected one at least")
    parts = [part for part in folds_given[0] if part is not None]
    return _together(parts), [partial(_with_validation, fold) for fold in folds_given]


def _fold_of_files(folds: Folds, k: int, undefined: float) -> Fold:
    return _with_validation(folds.fold(k, undefined=undefined))


def _fold_of_queries(data: Dataset, train: Any, test: Any) -> Fold:
    return Fold(*cut(data.take(train), seed=0), data.take(test))


def _with_validation(fold: Fold) -> Fold:
    return fold if fold.valid is not None else Fold(*cut(fold.train, seed=0), fold.test)


def _together(parts: Sequence[Dataset]) -> Dataset:
    names = parts[0].feature_names
    return numbered([part.with_features(names).gathered() for part in parts], "the analysis of features")


def _add_alone(
    found: FeatureFindings, whole: Dataset, measure: Measure, watch: Callable[[float], Any]
) -> None:
    alone = features_alone(whole, measure, lambda n_done: watch(n_done / whole.n_features))
    found.random = alone.random
    found.add(alone.table)


def _add_information(
    found: FeatureFindings, whole: Dataset, bins: int, watch: Callable[[float], Any]
) -> None:
    found.label_entropy, found.pair_queries = label_entropy(whole), n_queries_with_pairs(whole)
    table = feature_information(whole, bins, lambda n_done: watch(n_done / whole.n_features))
    found.add(table)
    undefined = float(table["undefined"].mean() or 0.0)  # type: ignore[arg-type]
    if undefined > 0:
        found.notes.append(
            f"{undefined:.1%} of the values are undefined: alone they rank last, for the information they "
            "are a bin of their own, inside queries their pairs count half"
        )


def _add_correlation(found: FeatureFindings, whole: Dataset, watch: Callable[[float], Any]) -> None:
    best = (found.features["number"] - 1).head(found.top).to_list()
    found.correlation = feature_correlation(whole, best)
    watch(1.0)


def _add_forests(
    found: FeatureFindings,
    folds: Sequence[Callable[[], Fold]],
    measure: Measure,
    n_shuffles: int,
    watch: Callable[[float], Any],
) -> None:
    if found.n_trees == 0 or not folds:
        return
    shares: ForestShares | None = None
    try:
        for _, fold, part in _each(folds, watch):
            shares = shares or ForestShares(fold.train.feature_names)
            shares.add_fold(fold, measure, n_trees=found.n_trees, n_shuffles=n_shuffles, watch=part)
    except InputError as error:
        n_done = len(shares.values) if shares else 0
        found.notes.append(f"no forest of fold {n_done + 1}: {error}")
    finally:  # also after Ctrl-C: the folds that are done count
        if shares is not None and shares.values:
            found.n_folds = len(shares.values)
            found.add(shares.table)
            found.interactions, found.forest_value = shares.interaction_table, shares.value


def _add_selection(
    found: FeatureFindings,
    folds: Sequence[Callable[[], Fold]],
    measure: Measure,
    watch: Callable[[float], Any],
) -> None:
    try:
        for k, fold, part in _each(folds, watch):
            selected = forward_selection(fold, measure, k, watch=part)
            found.selection = pl.concat([found.selection, selected]) if len(found.selection) else selected
    except InputError as error:
        found.notes.append(f"no selection on fold {k}: {error}")


def _each(
    folds: Sequence[Callable[[], Fold]], watch: Callable[[float], Any]
) -> Iterator[tuple[int, Fold, Callable[[float], Any]]]:
    """(number, fold, what hears how far it is) of every fold."""
    for k, fold in enumerate(folds):
        yield k + 1, fold(), lambda share, k=k: watch((k + share) / len(folds))  # type: ignore[misc]
