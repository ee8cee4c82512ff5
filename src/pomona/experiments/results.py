"""The results of a comparison as tables: its runs, the value of every query, learning curves, datasets."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.data.folds import Fold
from pomona.errors import InputError, UnknownNameError
from pomona.experiments.data_spec import DataSpec, Files, Simulated
from pomona.experiments.execute import versions
from pomona.experiments.run import VERSION, RunSpec
from pomona.experiments.source import DataFacts, dataset_digest, fold_sources, forget
from pomona.experiments.spec import Spec, ranker_class, read_spec
from pomona.experiments.store import Store
from pomona.measures.parse import measure as parse_measure

_KEYS = {"dataset": pl.String, "fold": pl.Int64, "ranker": pl.String, "seed": pl.Int64}
_CURVE_COLUMNS = {
    **_KEYS,
    "part": pl.String,
    "measure": pl.String,
    "iteration": pl.Int64,
    "value": pl.Float64,
}
_STAGE_COLUMNS = {
    **_KEYS,
    "measure": pl.String,
    "iteration": pl.Int64,
    **dict.fromkeys(("is_chosen", "is_last"), pl.Boolean),
    "qid": pl.String,
    "value": pl.Float64,
}
_QUERY_COLUMNS = {
    **{name: _KEYS[name] for name in ("dataset", "fold")},
    "qid": pl.String,
    **dict.fromkeys(("n_docs", "n_relevant"), pl.Int64),
}
_IMPORTANCE_COLUMNS = {**_KEYS, "feature": pl.String, "share": pl.Float64}
_TRIAL_COLUMNS = {
    **_KEYS,
    "trial": pl.Int64,
    **dict.fromkeys(("parameters", "reason"), pl.String),
    **dict.fromkeys(("value", "train_seconds"), pl.Float64),
    "is_chosen": pl.Boolean,
}
_VARIANT_COLUMNS = {
    "of": pl.String,
    **dict.fromkeys(("train_fraction", "label_noise"), pl.Float64),
    **dict.fromkeys(("n_features", "draw", "n_train_queries", "n_train_docs"), pl.Int64),
    **dict.fromkeys(("pairs_turned", "pairs_equal"), pl.Float64),
}
_RUN_COLUMNS = {
    "run": pl.String,
    **_KEYS,
    **_VARIANT_COLUMNS,
    **dict.fromkeys(("state", "reason", "kind", "family"), pl.String),
    "is_bound": pl.Boolean,
    **dict.fromkeys(("trained_for", "parameters", "chosen"), pl.String),
    **dict.fromkeys(("train_seconds", "train_cpu_seconds", "score_seconds", "search_seconds"), pl.Float64),
    **dict.fromkeys(("n_trials", "n_test_queries", "n_test_docs", "peak_memory", "process_memory"), pl.Int64),
    **dict.fromkeys(("best_iteration", "model_bytes", "threads"), pl.Int64),
    "worker": pl.String,
    "attempts": pl.Int64,
    **dict.fromkeys(("started", "finished"), pl.Float64),
}

_MEASURED = ("train", "valid", "train_valid_measure")
"""The curves of a training that are of a measure; a loss, or the penalties that were tried, are none."""

_Row = dict[str, Any]
"""A row of the store."""


@dataclass
class Results:
    """The runs of a comparison and what they gave; queries are the unit, nothing is averaged yet.

    Attributes
    ----------
    runs : one row a run: what it is, its state (done, failed, or queued where the comparison was cut short),
        why it failed, and what it cost. A ranker without chance is run once for all seeds. Of a study,
        `dataset` is a variant of the dataset `of`, and the columns after it say which.
    values : the value of every query (`part` is train, valid or test) by every measure; of runs that are
        done.
    curves : the training measure after each iteration, where the ranker has them.
    stages : of test queries that were judged after each iteration, their values after some.
    trials : what searches tried, and which of it they kept.
    queries : how many documents, and relevant ones, the test queries have; unknown in old comparisons.
    importance : the share of the features in each model, where its ranker tells.
    columns : the column of `values` of every measure, by its text in the spec and its convention.
    lengths : of a dataset, how many of its queries have how many documents; none in old comparisons.
    examined : what was found out of each dataset, the digests of its folds among it.
    is_current : whether the digests are of today's kind, which know the names of features and categories.
    datasets : the dataset table. warnings : what is odd about data or runs. facts : everything else worth
        knowing to repeat it.
    """

    spec: Spec
    runs: pl.DataFrame
    values: pl.DataFrame
    curves: pl.DataFrame
    datasets: pl.DataFrame
    warnings: pl.DataFrame
    facts: dict[str, Any] = field(default_factory=dict)
    directory: Path | None = None
    columns: dict[tuple[str, str], str] = field(default_factory=dict)
    lengths: dict[str, dict[int, int]] = field(default_factory=dict)
    stages: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_STAGE_COLUMNS))
    trials: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_TRIAL_COLUMNS))
    queries: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_QUERY_COLUMNS))
    importance: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_IMPORTANCE_COLUMNS))
    examined: dict[str, DataFacts] = field(default_factory=dict)
    is_current: bool = True

    def scores(self, dataset: str, fold: int, ranker: str, seed: int) -> Scores:
        """The test scores of a run, in the order of `test_data`."""
        runs = self.runs.filter(dataset=dataset, fold=fold, ranker=ranker, seed=seed, state="done")["run"]
        if self.directory is None or runs.is_empty():
            raise InputError(f"there are no scores of {ranker}, {dataset} fold {fold}, seed {seed}")
        with Store(self.directory, to_write=False) as store:
            scores: Scores = _frame(store, runs[0], "scores")["score"].to_numpy()
        return scores

    def test_data(self, dataset: str, fold: int) -> Dataset:
        """The test part of a fold, read again, which must be what was judged."""
        return self.fold_data(dataset, fold).test

    def fold_data(self, dataset: str, fold: int | None = None, *, is_complete: bool = False) -> Fold:
        """A fold of a dataset (or of a variant of one), read again: the very data of the comparison.

        Kept scores and values say nothing of other data: if the data changed since, they are refused.

        fold : its number; None is the first that the comparison has.
        is_complete : read the dataset itself, also where `dataset` is a variant of it.
        """
        named = [(one, v) for one in self.spec.datasets for v in one.variants() if v.name == dataset]
        if not named:
            raise UnknownNameError("dataset", dataset, self.runs["dataset"].unique().to_list())
        data, variant = named[0]
        self._refuse_missing(data)
        sources = fold_sources(data, self.spec.n_folds)
        source = next(one for one in sources if fold in (None, one.fold))
        facts = self.examined.get(data.name, DataFacts())
        expected = facts.digests.get(source.fold)
        if not is_complete:
            source = replace(source, variation=variant.variation)
            expected = facts.variants.get(dataset, {}).get(source.fold, {}).get("digest")
        found, digest = source.load_with_digest()
        if digest != expected:  # perhaps of files as this process read them before they were edited
            forget()
            found, digest = source.load_with_digest()
        if digest != expected:
            reason = f"the data of {data.name}, fold {source.fold}, changed since the comparison"
            if not self.is_current:
                reason = f"an earlier version of Pomona compared on {data.name}, without names of features"
            raise InputError(f"{reason}: its scores are not of these data. Run the comparison again")
        return found

    def _refuse_missing(self, data: DataSpec) -> None:
        """Refuse data that are not where the comparison had them."""
        source = data.source
        if isinstance(source, Simulated):
            return
        if isinstance(source, Files):
            places = [source.train, source.test, *filter(None, [source.valid])]
        else:
            places = [source] if isinstance(source, str) else list(source)
        lost = [place for place in places if Path(place).is_absolute() and not Path(place).exists()]
        if lost:
            file = (self.directory or Path()) / "spec.toml"
            raise InputError(
                f"the data of {data.name} are not at {lost[0]}: write their place into {file}, "
                f"and run pomona compare {file}"
            )


def read_results(directory: str | Path) -> Results:
    """The results of the comparison that was last run in a directory.

    No data are read, and no code is run: rankers and measures in files of a user's are known by what the
    comparison wrote down of them. Nothing is written.
    """
    with Store(directory, to_write=False) as store:
        spec = _spec_of(store)
        data = {name: DataFacts.of_json(facts) for name, facts in store.fact("data", {}).items()}
        rows, wanted = store.rows(), store.fact("runs", [])
        now = _places_now(store)
        columns = {
            (_at_its_place(text, now), convention): column
            for text, convention, column in store.fact("columns", ())
        }
        names = [variant.name for one in spec.datasets for variant in one.variants()]
        asked = {(name, row.label) for name in names for row in spec.rows()}
        variants = {name: folds for facts in data.values() for name, folds in facts.variants.items()}
        if {(run["dataset"], run["ranker"]) for run in wanted} != asked or any(
            run["run"] not in rows for run in wanted
        ):
            raise InputError("was stopped before its first run: run the comparison again", directory)
        runs = [(run, rows[run["run"]]) for run in wanted]
        done = [(run, row) for run, row in runs if row["state"] == "done"]
        values: dict[str, pl.DataFrame] = {}
        for run, _ in done:
            store.read(run["run"], "record")
            values[run["run"]] = _frame(store, run["run"], "values")
        is_current = store.fact("version", 1) == VERSION
        return Results(
            spec=spec,
            runs=pl.DataFrame([_run_row(run, row, variants) for run, row in runs], schema=_RUN_COLUMNS),
            values=_table(
                {**_KEYS, "part": pl.String, "qid": pl.String, **dict.fromkeys(columns.values(), pl.Float64)},
                ((run, values[run["run"]]) for run, _ in done),
            ),
            curves=_table(_CURVE_COLUMNS, ((run, curve) for run, row in done for curve in _curves(run, row))),
            datasets=pl.DataFrame([_dataset_row(name, facts) for name, facts in data.items()]),
            warnings=pl.DataFrame(
                _warnings(data, done, is_current=is_current),
                schema=dict.fromkeys(("dataset", "check", "text"), pl.String),
                orient="row",
            ),
            facts=_facts(store, spec, runs),
            directory=store.directory,
            columns=columns,
            lengths={name: _lengths(facts) for name, facts in data.items() if "lengths" in facts.statistics},
            stages=_table(
                _STAGE_COLUMNS,
                ((run, one) for run, row in done for one in _stages(values[run["run"]], run, row)),
            ),
            trials=_table(_TRIAL_COLUMNS, ((run, one) for run, row in done for one in _trials(row))),
            queries=_queries(values, done),
            importance=_table(_IMPORTANCE_COLUMNS, ((run, _importance(row)) for run, row in done)),
            examined=data,
            is_current=is_current,
        )


def _spec_of(store: Store) -> Spec:
    """The spec that the store keeps; an earlier version kept it in a file of the directory only."""
    from pomona.experiments.spec_reader import read_text

    path, text = store.directory / "spec.toml", store.fact("spec")
    if text is None:
        return read_spec(path, needs_data=False)
    return read_text(text, path, needs_data=False, places=store.fact("places", {}))


def _places_now(store: Store) -> dict[str, str]:
    """Where the files of a comparison are that may have moved with it, by where they were."""
    places: dict[str, str] = store.fact("places", {})
    here = {old: (store.directory / told).resolve() for told, old in places.items()}
    return {old: str(new) for old, new in here.items() if new.exists()}


def _at_its_place(text: str, places: Mapping[str, str]) -> str:
    """The text of a measure, that of a file with the place where the file is now."""
    path, colon, name = text.rpartition(":")
    return f"{places.get(path, path)}{colon}{name}"


def run_facts(run: RunSpec) -> _Row:
    """What is worth knowing of a run without its code."""
    cls, aim = ranker_class(run.kind), run.parameters.get("measure")
    return {
        "run": run.id,
        **run.keys,
        "kind": cls.__name__,
        "family": cls.family,
        "is_bound": cls.is_bound,
        "trained_for": None if aim is None else str(parse_measure(aim)),
        "parameters": dict(run.parameters),
        "of": run.of,
        **{name: getattr(run.variation, name) for name in ("train_fraction", "label_noise", "draw")},
    }


def _frame(store: Store, run: str, kind: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(store.read(run, kind)))


def _table(columns: Mapping[str, Any], frames: Iterable[tuple[_Row, pl.DataFrame]]) -> pl.DataFrame:
    """The frames of all runs, each with the keys of its run, one below the other."""
    with_keys = (
        frame.with_columns(**{name: pl.lit(run[name], kind) for name, kind in _KEYS.items()})
        for run, frame in frames
    )
    return pl.concat([pl.DataFrame(schema=columns), *(frame.select(*columns) for frame in with_keys)])


def _run_row(run: _Row, row: _Row, variants: Mapping[str, Mapping[int, _Row]]) -> _Row:
    record, variant = row["record"], variants.get(run["dataset"], {}).get(run["fold"], {})
    whole = {"of": run["dataset"], "train_fraction": 1.0, "label_noise": 0.0, "draw": 0}  # earlier versions
    return {
        **{name: {**whole, **record, **row, **variant, **run}.get(name) for name in _RUN_COLUMNS},
        # A search ends with other parameters than it began with.
        "parameters": json.dumps(record.get("parameters", run["parameters"])),
        "chosen": json.dumps(record.get("chosen", {})),
    }


def _curves(run: _Row, row: _Row) -> list[pl.DataFrame]:
    record = row["record"]
    curves = {
        part: {"iteration": range(1, len(curve) + 1), "value": curve}
        for part, curve in record.get("curves", {}).items()
        if part in _MEASURED
    }
    if "test_curve" in record:
        curves["test"] = record["test_curve"]
    kinds = {"iteration": pl.Int64, "value": pl.Float64}
    return [
        pl.DataFrame(curve, schema=kinds).with_columns(
            part=pl.lit(part), measure=pl.lit(run["trained_for"], pl.String)
        )
        for part, curve in curves.items()
    ]


def _stages(values: pl.DataFrame, run: _Row, row: _Row) -> list[pl.DataFrame]:
    """The values of the test queries after some iterations."""
    stages = row["record"].get("stages")
    if stages is None:
        return []
    qids = values.filter(pl.col("part") == "test")["qid"]
    return [
        pl.DataFrame({"qid": qids, "value": values}, schema_overrides={"value": pl.Float64}).with_columns(
            measure=pl.lit(run["trained_for"], pl.String),
            iteration=pl.lit(iteration, pl.Int64),
            is_chosen=pl.lit(iteration == stages["chosen"]),
            is_last=pl.lit(iteration == stages["last"]),
        )
        for iteration, values in zip(stages["iteration"], stages["values"], strict=True)
    ]


def _queries(values: Mapping[str, pl.DataFrame], done: Sequence[tuple[_Row, _Row]]) -> pl.DataFrame:
    """What the test queries of every fold are like, as the first of its runs tells that knows."""
    found: dict[tuple[str, int], pl.DataFrame] = {}
    for run, _ in done:
        key = (run["dataset"], run["fold"])
        if key not in found:
            frame = values[run["run"]].filter(pl.col("part") == "test")
            if "n_docs" in frame.columns:
                found[key] = frame
    runs = (({**dict.fromkeys(_KEYS), "dataset": d, "fold": f}, frame) for (d, f), frame in found.items())
    return _table(_QUERY_COLUMNS, runs)


def _importance(row: _Row) -> pl.DataFrame:
    shares = row["record"].get("importance", {})
    kinds = {"feature": pl.String, "share": pl.Float64}
    return pl.DataFrame({"feature": list(shares), "share": list(shares.values())}, schema=kinds)


def _trials(row: _Row) -> list[pl.DataFrame]:
    """What a search tried; the first of those with the best value was kept."""
    trials = row["record"].get("trials")
    if not trials:
        return []
    values = [trial["value"] for trial in trials]
    chosen = values.index(max(value for value in values if value is not None))
    rows = [
        {
            "trial": number + 1,
            "parameters": json.dumps(trial["parameters"]),
            "reason": trial.get("reason"),
            "value": trial["value"],
            "train_seconds": trial.get("train_seconds"),
            "is_chosen": number == chosen,
        }
        for number, trial in enumerate(trials)
    ]
    kinds = {name: kind for name, kind in _TRIAL_COLUMNS.items() if name not in _KEYS}
    return [pl.DataFrame(rows, schema=kinds)]


def _dataset_row(name: str, facts: DataFacts) -> dict[str, Any]:
    statistics = facts.statistics
    return {
        "dataset": name,
        "queries": statistics["queries"],
        "documents": statistics["documents"],
        "features": statistics["features"],
        "mean_docs": statistics["mean_documents_per_query"],
        "min_docs": statistics["min_documents_per_query"],
        "max_docs": statistics["max_documents_per_query"],
        "mean_label": statistics["normalized_mean_label"],
        "max_label": statistics["max_label"],
        "empty_queries": statistics["empty_queries"],
        "undefined": statistics["undefined_values"],
        "digest": dataset_digest(facts.digests),
    }


def _lengths(facts: DataFacts) -> dict[int, int]:
    """How many queries have how many documents: JSON knows no numbers as keys."""
    return {int(length): count for length, count in facts.statistics["lengths"].items()}


def _warnings(
    data: Mapping[str, DataFacts], done: Sequence[tuple[_Row, _Row]], *, is_current: bool
) -> list[tuple[str, str, str]]:
    """What the audit found, then what the runs have to say, each once: (dataset, check, text)."""
    audited = [(name, check, text) for name, facts in data.items() for check, text in facts.warnings]
    cut: dict[str, dict[str, None]] = {}
    notes: dict[tuple[str, str, str], None] = {}
    used_versions = set()
    for run, row in done:
        record, name = row["record"], run.get("of") or run["dataset"]
        if record.get("valid_is_cut"):
            cut.setdefault(name, {})[run["ranker"]] = None
        notes |= dict.fromkeys((name, run["ranker"], note) for note in record.get("notes", ()))
        used_versions.add(frozenset(record.get("versions", {}).items()))
    text = "the data have none, so a fifth of the training queries was kept from"
    no_valid = [(name, "no validation part", f"{text} {', '.join(rankers)}") for name, rankers in cut.items()]
    differing = frozenset.union(*used_versions) - frozenset.intersection(*used_versions) if done else ()
    packages = ", ".join(sorted({package for package, _ in differing}))
    text = f"runs were done with different versions of {packages}"
    several = [(name, "several versions", text) for name in data if packages]
    text = "an earlier version of Pomona made this, whose rules were others: run the comparison again"
    earlier = [(name, "earlier version", text) for name in data if not is_current]
    return [*audited, *no_valid, *several, *earlier, *notes]


def _facts(store: Store, spec: Spec, runs: Sequence[tuple[_Row, _Row]]) -> dict[str, Any]:
    """Everything else that is needed to repeat it."""
    started = store.fact("started")
    when = None if started is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(started))
    used_versions = [row["record"]["versions"] for _, row in runs if row["record"].get("versions")]
    return {
        "command": store.fact("command", ""),
        **(used_versions[-1] if used_versions else versions()),
        **{name: store.fact(name) for name in ("machine", "processes", "threads", "dask")},
        "seeds": list(spec.seeds),
        "started": when,
        "total_seconds": store.fact("seconds", 0.0),
        "spec": store.fact("spec") or spec.to_toml(),
        "left_out": store.fact("left_out", {}),
    }
