"""What a store says: the runs of a comparison and their numbers as tables."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.experiments.run import Run, runs_of, versions
from pomona.experiments.source import DataFacts, dataset_digest, fold_sources
from pomona.experiments.spec import Spec, ranker_class, read_spec
from pomona.experiments.store import Store

if TYPE_CHECKING:
    import polars as pl

_KEYS = {"dataset": "String", "fold": "Int64", "ranker": "String", "seed": "Int64"}
_RUN_COLUMNS = {
    "run": "String",
    **_KEYS,
    "state": "String",
    "reason": "String",
    "kind": "String",
    "family": "String",
    "is_bound": "Boolean",
    "trained_for": "String",
    "parameters": "String",
    "train_seconds": "Float64",
    "train_cpu_seconds": "Float64",
    "score_seconds": "Float64",
    "search_seconds": "Float64",
    "n_trials": "Int64",
    "n_test_queries": "Int64",
    "n_test_docs": "Int64",
    "peak_memory": "Int64",
    "process_memory": "Int64",
    "best_iteration": "Int64",
    "model_bytes": "Int64",
    "threads": "Int64",
    "worker": "String",
    "attempts": "Int64",
    "started": "Float64",
    "finished": "Float64",
}


@dataclass
class Results:
    """The runs of a comparison and what they gave; queries are the unit, nothing is averaged yet.

    Attributes
    ----------
    runs : one row a run: what it is, its state (done, failed, or queued where the comparison was cut short),
        why it failed, and what it cost. A ranker without chance is run once for all seeds.
    values : the value of every query (`part` is train, valid or test) by every measure; of runs that are
        done.
    curves : the training measure after each iteration, where the ranker has them.
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

    def scores(self, dataset: str, fold: int, ranker: str, seed: int) -> Scores:
        """The test scores of a run, in the order of `test_data`."""
        import polars as pl

        keys = {"dataset": dataset, "fold": fold, "ranker": ranker, "seed": seed}
        found = self.runs.filter(**keys, state="done")["run"].to_list()
        if self.directory is None or not found:
            raise InputError(f"there are no scores of {ranker}, {dataset} fold {fold}, seed {seed}")
        with Store(self.directory, to_write=False) as store:
            scores: Scores = pl.read_parquet(store.path(found[0], "scores"))["score"].to_numpy()
        return scores

    def test_data(self, dataset: str, fold: int) -> Dataset:
        """The test part of a fold, read again."""
        data = next(data for data in self.spec.datasets if data.name == dataset)
        return next(s for s in fold_sources(data, self.spec.n_folds) if s.fold == fold).load().test


def read_results(directory: str | Path) -> Results:
    """The results of the comparison that was last run in a directory; no data are read."""
    import polars as pl

    with Store(directory, to_write=False) as store:
        spec = read_spec(store.directory / "spec.toml", needs_data=False)
        facts = {name: DataFacts.of_json(of) for name, of in store.fact("data", {}).items()}
        rows = store.rows()
        digests = {name: of.digests for name, of in facts.items()}
        wanted = runs_of(spec, digests) if all(data.name in digests for data in spec.datasets) else []
        if not all(run.id in rows for run in wanted) or not wanted:
            raise InputError("was stopped before its first run: run the comparison again", directory)
        runs = [(run, rows[run.id]) for run in wanted]
        kinds = {name: getattr(pl, kind) for name, kind in _KEYS.items()}
        columns = {**kinds, "part": pl.String, "qid": pl.String, **dict.fromkeys(spec.judged(), pl.Float64)}
        values = [
            _with_keys(pl.read_parquet(store.path(run.id, "values")), run).select(*columns)
            for run, row in runs
            if row["state"] == "done"
        ]
        return Results(
            spec=spec,
            runs=pl.DataFrame(
                [_run_row(run, row) for run, row in runs],
                schema={name: getattr(pl, kind) for name, kind in _RUN_COLUMNS.items()},
            ),
            values=pl.concat([pl.DataFrame(schema=columns), *values]),
            curves=_curves(runs),
            datasets=pl.DataFrame([_dataset_row(name, of) for name, of in facts.items()]),
            warnings=pl.DataFrame(
                _warnings(facts, runs),
                schema=dict.fromkeys(("dataset", "check", "text"), pl.String),
                orient="row",
            ),
            facts=_facts(store, spec, runs),
            directory=store.directory,
        )


def _with_keys(values: pl.DataFrame, run: Run) -> pl.DataFrame:
    import polars as pl

    keys = {"dataset": run.dataset, "fold": run.fold, "ranker": run.ranker, "seed": run.seed}
    return values.with_columns(
        **{name: pl.lit(value, getattr(pl, _KEYS[name])) for name, value in keys.items()}
    )


def _run_row(run: Run, row: dict[str, Any]) -> dict[str, Any]:
    cls, record = ranker_class(run.kind), row["record"]
    told = {name: value for name, value in {**record, **row}.items() if name in _RUN_COLUMNS}
    return {
        **dict.fromkeys(_RUN_COLUMNS),
        **told,
        **{"run": run.id, "dataset": run.dataset, "fold": run.fold, "ranker": run.ranker, "seed": run.seed},
        "kind": cls.__name__,
        "family": cls.family,
        "is_bound": cls.is_bound,
        "trained_for": run.parameters.get("measure"),
        # A search ends with other parameters than it began with.
        "parameters": json.dumps(record.get("parameters", run.parameters)),
    }


def _curves(runs: Sequence[tuple[Run, dict[str, Any]]]) -> pl.DataFrame:
    import polars as pl

    frames = [
        _with_keys(pl.DataFrame({"value": curve}, schema={"value": pl.Float64}), run).with_columns(
            part=pl.lit(part),
            measure=pl.lit(run.parameters.get("measure"), pl.String),
            iteration=pl.int_range(1, len(curve) + 1, dtype=pl.Int64),
        )
        for run, row in runs
        if row["state"] == "done"
        for part, curve in row["record"].get("curves", {}).items()
        if part in ("train", "valid")  # a loss, or the penalties that were tried, are no measure
    ]
    kinds = {name: getattr(pl, kind) for name, kind in _KEYS.items()}
    schema = {**kinds, "part": pl.String, "measure": pl.String, "iteration": pl.Int64, "value": pl.Float64}
    return pl.concat([pl.DataFrame(schema=schema), *(frame.select(*schema) for frame in frames)])


def _dataset_row(name: str, facts: DataFacts) -> dict[str, Any]:
    about = facts.statistics
    return {
        "dataset": name,
        "queries": about["queries"],
        "documents": about["documents"],
        "features": about["features"],
        "mean_docs": about["mean_documents_per_query"],
        "min_docs": about["min_documents_per_query"],
        "max_docs": about["max_documents_per_query"],
        "mean_label": about["normalized_mean_label"],
        "max_label": about["max_label"],
        "empty_queries": about["empty_queries"],
        "undefined": about["undefined_values"],
        "digest": dataset_digest(facts.digests),
    }


def _warnings(
    facts: Mapping[str, DataFacts], runs: Sequence[tuple[Run, dict[str, Any]]]
) -> list[tuple[str, str, str]]:
    """What the audit found, then what the runs have to say, each once."""
    found = [(name, check, text) for name, of in facts.items() for check, text in of.warnings]
    done = [(run, row["record"]) for run, row in runs if row["state"] == "done"]
    for name in facts:
        cut = {run.ranker: None for run, record in done if run.dataset == name and record.get("valid_is_cut")}
        if cut:
            text = f"the data have none, so a fifth of the training queries was kept from {', '.join(cut)}"
            found.append((name, "no validation part", text))
    notes = {
        (run.dataset, run.ranker, note): None for run, record in done for note in record.get("notes", ())
    }
    known = {tuple(sorted(record.get("versions", {}).items())) for _, record in done}
    if len(known) > 1:
        differ = sorted({name for one in known for other in known for name, _ in {*one} ^ {*other}})
        found += [
            (name, "several versions", f"runs were done with different versions of {', '.join(differ)}")
            for name in facts
        ]
    return [*found, *notes]


def _facts(store: Store, spec: Spec, runs: Sequence[tuple[Run, dict[str, Any]]]) -> dict[str, Any]:
    """Everything else that is needed to repeat it."""
    started = store.fact("started")
    when = None if started is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(started))
    used = [row["record"].get("versions") for _, row in runs if row["record"].get("versions")]
    return {
        "command": store.fact("command", ""),
        **(used[-1] if used else versions()),
        "machine": store.fact("machine"),
        "processes": store.fact("processes"),
        "threads": store.fact("threads"),
        "dask": store.fact("dask"),
        "seeds": list(spec.seeds),
        "started": when,
        "total_seconds": store.fact("seconds", 0.0),
        "spec": spec.to_toml(),
    }
