"""Where the folds of a comparison come from, and whether they can be trusted.

Published folds are taken as they are. A single file, or simulated data, is cut into `n_folds` by whole
queries (`QueryKFold`, seed 0): each part is once the test data, and a fifth of the other queries is for
validation. A `FoldSource` is a small record that any process on any machine can load the fold from; the
digest tells whether it got the same data. Where a study varies a dataset, all variants of a fold are made of
the one that was read last, which is kept.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona.data.audit import audit
from pomona.data.catalog import COLLECTIONS, load_folds
from pomona.data.categories import refuse_categories
from pomona.data.concatenation import concatenated
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold, FoldFiles, Folds
from pomona.data.k_fold import QueryKFold
from pomona.data.overlap import shared_query
from pomona.data.read import read
from pomona.data.simulate import simulate
from pomona.data.statistics import describe
from pomona.data.text import TextColumn, offsets
from pomona.errors import InputError, MissingDataError
from pomona.experiments.data_spec import DataSpec, Files, Simulated
from pomona.experiments.spec import Spec
from pomona.experiments.variation import COMPLETE, Variation, pairs_changed
from pomona.measures.judge import judge
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure as parse_measure

VALID_SHARE = 0.2
"""Of the training queries, where a validation part has to be cut from them."""


@dataclass(frozen=True)
class FoldSource:
    """One fold of one dataset, or of a variant of it: enough to load it anywhere."""

    dataset: str
    fold: int
    files: tuple[FoldFiles, ...] = ()
    """Of the fold in each of the collections that are joined, which mostly is one."""
    whole: str | Simulated | None = None
    n_folds: int = 0
    n_features: int | None = None
    columns: tuple[tuple[str, str | None], ...] = ()
    drop_empty: bool = False
    needs_valid: bool = False
    """Whether validation queries are cut from the training queries, where there are none."""
    of: str = ""
    """Of a variant, the name of the dataset."""
    variation: Variation = COMPLETE
    split: tuple[float, ...] = ()
    """Shares of training, perhaps validation, and test queries, by which the whole is cut anew."""

    def load(self) -> Fold:
        """Read the fold, or cut it out of the whole."""
        return self.load_with_digest()[0]

    def load_with_digest(self) -> tuple[Fold, str]:
        """The fold, and a checksum of everything in it that could change a number."""
        complete = replace(self, dataset=self.of or self.dataset, of="", variation=Variation())
        fold, checksum = _complete(complete, self.stamp())
        varied = self.variation.apply(fold, self.fold)
        return varied, self.variation.digest(checksum, fold, varied)

    def read(self) -> Fold:
        """Read the complete fold."""
        fold = self._read_files() if self.files else self._cut_from_whole()
        # Rows of a query may lie apart in a file.
        fold = Fold(*(None if part is None else part.gathered() for part in fold))  # type: ignore[arg-type]
        if self.split:
            fold = self._split_anew([part for part in fold if part is not None])
        if self.drop_empty:
            fold = Fold(*map(_answered, fold))
        if fold.valid is None and self.needs_valid:
            return Fold(*cut(fold.train, seed=0), fold.test)
        return fold

    def parts(self, fold: Fold) -> dict[str, Dataset]:
        """The documents of the dataset, in the parts that an audit looks at: those of any of its folds."""
        if not self.files and not self.drop_empty:
            return {"data": _whole(self.whole, self.columns, self.stamp())}
        return {name: part for name, part in fold._asdict().items() if part is not None}

    def stamp(self) -> tuple[tuple[int, ...], ...]:
        """What tells that a file was written anew since it was read."""
        paths = [path for fold in self.files for part in fold for path in part]
        paths += [Path(self.whole)] if isinstance(self.whole, str) else []
        stats = [path.stat() for path in paths if path.exists()]
        return tuple((stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in stats)

    def _split_anew(self, parts: Sequence[Dataset]) -> Fold:
        """The fold that shares make: test queries of their own, validation queries drawn from the others."""
        whole = concatenated(parts)
        n, has_valid = whole.n_queries, len(self.split) == 3
        begin, end = (round(k * self.split[-1] * n) for k in (self.fold - 1, self.fold))
        n_valid = round(self.split[1] * n) if has_valid else 0
        if min(end - begin, n - (end - begin) - n_valid) < 1 or (has_valid and n_valid < 1):
            raise InputError(
                f"dataset {self.of or self.dataset}: {n} queries are too few for the shares "
                f"{', '.join(f'{share:g}' for share in self.split)}: a part would be empty"
            )
        # By their ids, so that the order of the rows does not count.
        order = np.argsort(whole.qids, kind="stable")[np.random.default_rng(0).permutation(n)]
        in_test = np.zeros(n, np.bool_)
        in_test[begin:end] = True
        rest = np.random.default_rng([0, self.fold]).permutation(order[~in_test])
        valid, train = np.sort(rest[:n_valid]), np.sort(rest[n_valid:])
        test = np.sort(order[in_test])
        return Fold(whole.take(train), whole.take(valid) if has_valid else None, whole.take(test))

    def _cut_from_whole(self) -> Fold:
        data = _whole(self.whole, self.columns, self.stamp())
        if self.split:
            return Fold(data, None, None)  # type: ignore[arg-type]
        splits = QueryKFold(self.n_folds).split_queries(data)
        train, test = next(split for k, split in enumerate(splits, 1) if k == self.fold)
        return Fold(*cut(data.take(train), seed=0), data.take(test))

    def _read_files(self) -> Fold:
        folds = list(Folds(self.files, {}, n_features=self.n_features, columns=dict(self.columns)))
        if len(folds) == 1:
            return folds[0]
        _refuse_shared_ids(self.dataset, folds)
        train, valid, test = (
            [part for part in parts if part is not None] for parts in zip(*folds, strict=True)
        )
        return Fold(concatenated(train), concatenated(valid) if valid else None, concatenated(test))


@lru_cache(maxsize=1)
def _complete(source: FoldSource, stamp: object) -> tuple[Fold, str]:
    """A complete fold and its digest, kept until another is asked for: variants of a fold come together."""
    fold = source.read()
    return fold, digest(fold)


def forget() -> None:
    """Read the data anew when they are next asked for."""
    _complete.cache_clear()
    _whole.cache_clear()


def cut(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training and validation queries, at random: by their ids and the seed, in whatever order they stand."""
    if data.n_queries < 2:
        raise InputError("a single query cannot be cut into training and validation queries")
    order = np.argsort(data.qids, kind="stable")[np.random.default_rng(seed).permutation(data.n_queries)]
    n_valid = max(1, round(VALID_SHARE * data.n_queries))
    return data.take(np.sort(order[n_valid:])), data.take(np.sort(order[:n_valid]))


def teaches(data: Dataset) -> NDArray[np.bool_]:
    """(n_queries,) whether the documents of a query have different labels."""
    starts = data.query_ptr[:-1]
    # A label that is NaN is of a document that was not judged.
    differs: NDArray[np.bool_] = np.fmax.reduceat(data.y, starts) > np.fmin.reduceat(data.y, starts)
    return differs


def _answered(data: Dataset | None) -> Any:
    """The queries with a relevant document."""
    if data is None:
        return None
    return data.take(np.flatnonzero(np.fmax.reduceat(data.y, data.query_ptr[:-1]) > 0))


def numbered(parts: Sequence[Dataset], what: str) -> Dataset:
    """The queries of all parts, each of its own, whatever its id; `what` refuses categories."""
    lengths = np.concatenate([np.diff(part.query_ptr) for part in parts])
    one = parts[0]
    for part in parts:
        refuse_categories(part, what)
    return Dataset.from_parts(
        one.X if len(parts) == 1 else np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        offsets(lengths),
        np.arange(len(lengths)),
        doc_ids=TextColumn.joined([part.doc_ids for part in parts], [part.n_docs for part in parts]),
        feature_names=one.feature_names,
    )


@lru_cache(maxsize=1)
def _whole(
    source: str | Simulated | None, columns: tuple[tuple[str, str | None], ...], stamp: object
) -> Dataset:
    if isinstance(source, Simulated):
        return simulate(
            source.queries,
            docs_per_query=source.docs_per_query,
            n_features=source.features,
            noise=source.noise,
            seed=source.seed,
        )
    assert source is not None
    options: dict[str, Any] = dict(columns)
    return read(source, **options, cache=True).gathered()


def fold_sources(data: DataSpec, n_folds: int) -> list[FoldSource]:
    """The complete folds of a dataset that the comparison wants; nothing is read yet."""
    columns = (("label", data.label), ("qid", data.qid), ("doc_id", data.doc_id))
    is_varied = any(not variant.variation.is_complete for variant in data.variants())
    shared: dict[str, Any] = {"columns": columns, "drop_empty": data.drop_empty, "needs_valid": is_varied}
    source = data.source
    n_split = 0 if data.split is None else int(1 / data.split[-1] + 1e-9)
    shared["split"] = data.split or ()
    if isinstance(source, Files):
        valid = (Path(source.valid),) if source.valid else ()
        files = FoldFiles((Path(source.train),), valid, (Path(source.test),))
        sources = [FoldSource(data.name, 1, (files,), **shared)]
    elif isinstance(source, Simulated) or (isinstance(source, str) and Path(source).is_file()):
        sources = [
            FoldSource(data.name, k, whole=source, n_folds=n_folds, **shared)
            for k in range(1, (n_split or n_folds) + 1)
        ]
    else:
        joined = [load_folds(one) for one in ((source,) if isinstance(source, str) else source)]
        if len({len(folds) for folds in joined}) > 1:
            counts = ", ".join(str(len(folds)) for folds in joined)
            raise InputError(
                f"dataset {data.name}: only equal numbers of folds can be joined, found {counts}"
            )
        widths = {folds.n_features for folds in joined}
        n_features = widths.pop() if len(widths) == 1 else None
        each = list(zip(*(folds.files for folds in joined), strict=True))
        sources = [
            FoldSource(data.name, k, tuple(map(_absolute, files)), n_features=n_features, **shared)
            # The parts of any published fold are the whole collection.
            for k, files in enumerate(n_split * each[:1] or each, 1)
        ]
    for fold in data.folds or ():
        if fold > len(sources):
            raise InputError(f"dataset {data.name} has folds 1 to {len(sources)}, found {fold}")
    return [source for source in sources if data.folds is None or source.fold in data.folds]


def _absolute(files: FoldFiles) -> FoldFiles:
    return FoldFiles(*(tuple(path.resolve() for path in part) for part in files))


def at_hand(spec: Spec) -> tuple[Spec, dict[str, str]]:
    """The spec without the optional datasets that are not here, and why each is left out, by its name."""
    left_out: dict[str, str] = {}
    for data in spec.datasets:
        places = data.source if isinstance(data.source, tuple) else (data.source,)
        for place in places if data.optional else ():
            reason = _absence(str(place))
            if reason is not None:
                left_out.setdefault(data.name, reason)
    kept = tuple(data for data in spec.datasets if data.name not in left_out)
    if not kept:
        raise InputError(f"every dataset is optional and left out: {next(iter(left_out.values()))}")
    return (replace(spec, datasets=kept), left_out) if left_out else (spec, {})


def _absence(place: str) -> str | None:
    """Why a collection or directory is not here; what is here and cannot be read is refused later."""
    if place.lower() not in COLLECTIONS:
        return None if Path(place).exists() else f"{place}: no such file or directory"
    try:
        load_folds(place)
    except MissingDataError as error:
        return str(error)
    return None


@dataclass
class DataFacts:
    """What is known of a dataset before anything is trained on it.

    variants : by the name of each variant and the number of the fold: its `digest`, how many queries, docs
        and features there are to learn from, and of noise the shares of pairs that it turned or made equal.
    """

    digests: dict[int, str] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    largest_bytes: int = 0
    variants: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> DataFacts:
        """The inverse of `dataclasses.asdict` and JSON, which knows neither numbers as keys nor tuples."""
        digests = {int(fold): value for fold, value in facts["digests"].items()}
        warnings = [(check, text) for check, text in facts["warnings"]]
        variants = {
            name: {int(fold): values for fold, values in folds.items()}
            for name, folds in facts.get("variants", {}).items()
        }
        return cls(digests, dict(facts["statistics"]), warnings, facts["largest_bytes"], variants)


def examine(spec: Spec, data: DataSpec, known: Mapping[str, DataFacts]) -> tuple[list[FoldSource], DataFacts]:
    """Read every fold of a dataset and refuse what would make numbers wrong or a run fail.

    `known` has the facts of datasets that were examined before, by their digest: statistics and audit are
    then not made again.
    """
    sources = fold_sources(data, spec.n_folds)
    measures = [parse_measure(*pair) for pair in spec.judged().values()]
    facts, varied = DataFacts(), []
    for source in sources:
        fold, facts.digests[source.fold] = source.load_with_digest()
        _refuse_overlap(source, fold)
        try:
            judge(_any_ranking(fold.test), measures)
        except InputError as error:
            raise InputError(f"dataset {source.dataset}, fold {source.fold}, test: {error}") from None
        facts.largest_bytes = max(facts.largest_bytes, fold.train.X.nbytes)
        for name, variation in data.variants():
            variant = replace(source, dataset=name, of=data.name, variation=variation)
            facts.variants.setdefault(name, {})[source.fold] = _facts_of(variant, fold)
            varied.append(variant)
    key = dataset_digest(facts.digests)
    if key in known:
        facts.statistics, facts.warnings = known[key].statistics, known[key].warnings
        return varied, facts
    parts = source.parts(fold)
    described = describe(*parts.values())
    best = [np.fmax.reduceat(part.y, part.query_ptr[:-1]) for part in parts.values()]
    empty = sum(int((~(one > 0)).sum()) for one in best)
    lengths = Counter(str(n) for part in parts.values() for n in np.diff(part.query_ptr))
    facts.statistics = {**described.to_json(), "empty_queries": empty, "lengths": dict(lengths)}
    facts.warnings = _audit_warnings(parts)
    return varied, facts


def _facts_of(source: FoldSource, complete: Fold) -> dict[str, Any]:
    """What there is to learn from in a variant of a fold."""
    try:
        fold, checksum = source.load_with_digest()
    except InputError as error:
        raise InputError(f"dataset {source.dataset}, fold {source.fold}: {error}") from None
    facts = {
        "digest": checksum,
        "n_train_queries": fold.train.n_queries,
        "n_train_docs": fold.train.n_docs,
        "n_features": fold.train.n_features,
    }
    if source.variation.label_noise > 0:
        quiet = replace(source.variation, label_noise=0.0).apply(complete, source.fold)
        shares = pairs_changed(quiet.train, fold.train)
        facts |= dict(zip(("pairs_turned", "pairs_equal"), shares, strict=True))
    return facts


def dataset_digest(digests: Mapping[int, str]) -> str:
    """One digest for the folds of a dataset."""
    return hashlib.blake2b(
        "".join(f"{fold}:{digests[fold]};" for fold in sorted(digests)).encode(), digest_size=16
    ).hexdigest()


def digest(fold: Fold) -> str:
    """A checksum of everything that could change a number, with the names of features and categories."""
    parts = ["none" if part is None else part.fingerprint() for part in fold]
    return hashlib.blake2b("|".join(parts).encode(), digest_size=16).hexdigest()


def _any_ranking(data: Dataset) -> ScoredQueries:
    """Scores without ties: do the measures take these labels at all?"""
    return ScoredQueries(data.y, np.arange(data.n_docs, dtype=np.float64), data.query_ptr, data.doc_ids)


def _refuse_shared_ids(dataset: str, folds: Sequence[Fold]) -> None:
    """Refuse joined collections that give one id to two queries, which would become one query."""
    seen: set[str] = set()
    for fold in folds:
        ids = {str(qid) for part in fold if part is not None for qid in part.qids.tolist()}
        if shared := seen & ids:
            raise InputError(f"dataset {dataset}: query {min(shared)} stands in both of the collections")
        seen |= ids


def _refuse_overlap(source: FoldSource, fold: Fold) -> None:
    """Refuse a test query that is also, with the same documents, trained or validated on."""
    for name, part in (("train", fold.train), ("valid", fold.valid)):
        if part is not None and (qid := shared_query(part, fold.test)) is not None:
            raise InputError(
                f"dataset {source.dataset}, fold {source.fold}: query {qid} stands in {name} and in test "
                "with the same documents, so the numbers would be too good: take it out of one of them"
            )


def _audit_warnings(parts: Mapping[str, Dataset]) -> list[tuple[str, str]]:
    """What is odd in the data, one line a kind: (check, text)."""
    findings = [finding for finding in audit(dict(parts)) if finding.severity != "note"]
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.check] += finding.count
    first = {finding.check: finding for finding in reversed(findings)}
    return [
        (check, f"{replace(first[check], count=count).amount}: {first[check].why}")
        for check, count in counts.items()
    ]
