"""A comparison in MLflow: a run for it, and one below for each ranker and dataset, with what belongs to each.

MLflow allows letters, digits and `_-./ ` in names: `ndcg@10` is `ndcg_at_10` there, `rbp(p=0.8)` is
`rbp_p_0.8`. Nothing global is changed: neither the tracking URI nor the active run.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from pomona import __version__
from pomona.errors import InputError, MissingExtraError, PomonaError
from pomona.experiments.findings import Findings, find
from pomona.experiments.results import Results, read_results

_LONGEST = 500
"""So many characters of a parameter every version of MLflow takes."""
_SETTINGS = ("measures", "conventions", "seeds")
_SHOWN_COSTS = ("train_seconds", "score_microseconds")


def log_to_mlflow(
    result: Results | Findings | str | Path, uri: str | Path | None = None, *, experiment: str | None = None
) -> str:
    """Log a finished comparison to MLflow, and return the id of its run.

    The run of the comparison has its settings, and the report and tables as artifacts. Below it, every ranker
    on every dataset has its parameters, its measures of the test queries with the ends of their intervals
    (`ndcg_at_10`, `ndcg_at_10.low`, `ndcg_at_10.high`; with a step each, the means of the folds,
    `fold.ndcg_at_10`), what it costs, and its models. Called again, it makes another run.

    Parameters
    ----------
    result : what `compare` returned, its findings, or the directory that it wrote.
    uri : where MLflow keeps runs: a server, `sqlite:///mlflow.db`, or a folder, where MLflow still takes one;
        its own setting if left out.
    experiment : its name in MLflow; that of the comparison if left out.
    """
    if isinstance(result, str | Path):
        result = read_results(result)
    findings = result if isinstance(result, Findings) else find(result)
    client = connect(uri)
    with _in_one_line():
        return _Logger(client, findings, experiment or findings.results.spec.name).log()


def connect(uri: str | Path | None = None) -> Any:
    """MLflow's client, once it is known to answer."""
    try:
        from mlflow import MlflowClient
    except ImportError:
        raise MissingExtraError("mlflow", "mlflow") from None
    with _in_one_line():
        client = MlflowClient(tracking_uri=None if uri is None else _place(uri))
        client.search_experiments(max_results=1)
    return client


def mlflow_name(text: str) -> str:
    """A name that MLflow takes.

    >>> [mlflow_name(text) for text in ("ndcg@10", "letor4:ndcg@10", "rbp(p=0.8)", "LambdaMART(n_trees=5)")]
    ['ndcg_at_10', 'letor4_ndcg_at_10', 'rbp_p_0.8', 'LambdaMART_n_trees_5']
    """
    return re.sub(r"[^\w\-./ ]+", "_", text.replace("@", "_at_"), flags=re.ASCII).strip("_ ") or "_"


class _Logger:
    """Writes one comparison."""

    def __init__(self, client: Any, findings: Findings, experiment: str) -> None:
        self._client, self._findings, self._results = client, findings, findings.results
        known = client.get_experiment_by_name(experiment)
        self._experiment = client.create_experiment(experiment) if known is None else known.experiment_id

    def log(self) -> str:
        spec, findings = self._results.spec, self._findings
        settings = {
            "datasets": ", ".join(data.name for data in spec.datasets),
            "rankers": ", ".join(row.label for row in spec.rankers),
            **{name: ", ".join(map(str, getattr(spec, name))) for name in _SETTINGS},
            "main": findings.main,
            "baseline": findings.baseline,
        }
        parent = self._start(spec.name, {})
        self._write(parent, settings, {})
        for dataset, ranker in self._rows():
            run = self._start(f"{ranker} on {dataset}", {"mlflow.parentRunId": parent, "ranker": ranker})
            mine = self._results.runs.filter(dataset=dataset, ranker=ranker, state="done")
            row = next(row for row in spec.rankers if row.label == ranker)
            chosen = {key: getattr(row, key, None) for key in ("features", "without")}
            given = {key: ", ".join(names) for key, names in chosen.items() if names is not None}
            numbers = self._numbers(dataset, ranker)
            self._write(run, {"dataset": dataset, **_parameters(mine), **given}, numbers)
            for metric, fold, value in self._of_folds(dataset, ranker):
                self._client.log_metric(run, metric, value, step=fold)
            self._keep(run, (f"models/{one}.pomona" for one in mine["run"]), "models")
            self._client.set_terminated(run)
        self._keep(parent, ("report.html", "tables", "figures"), None)
        self._client.log_text(parent, self._results.facts["spec"], "spec.toml")
        self._client.set_terminated(parent)
        return parent

    def _start(self, name: str, tags: Mapping[str, str]) -> str:
        tags = {"pomona.version": __version__, **tags}
        run = self._client.create_run(self._experiment, run_name=mlflow_name(name), tags=tags)
        return str(run.info.run_id)

    def _rows(self) -> Iterable[tuple[str, str]]:
        ranked = self._findings.quality.filter(~pl.col("is_bound"))
        rows: list[tuple[str, str]] = ranked.select("dataset", "ranker").unique(maintain_order=True).rows()
        return rows

    def _numbers(self, dataset: str, ranker: str) -> dict[str, float]:
        """The measures with their intervals, and what the ranker costs."""
        numbers: dict[str, Any] = {}
        for row in self._findings.quality.filter(dataset=dataset, ranker=ranker).iter_rows(named=True):
            name = mlflow_name(row["measure"])
            numbers |= {name: row["mean"], f"{name}.low": row["low"], f"{name}.high": row["high"]}
        for row in self._findings.costs.filter(dataset=dataset, ranker=ranker).iter_rows(named=True):
            numbers |= {name: row.get(name) for name in _SHOWN_COSTS}
        return {name: value for name, value in numbers.items() if value is not None}

    def _of_folds(self, dataset: str, ranker: str) -> Iterable[tuple[str, int, float]]:
        values = self._results.values.filter(dataset=dataset, ranker=ranker, part="test")
        means = values.group_by("fold").agg(pl.col(self._findings.measures).mean()).sort("fold")
        for row in means.iter_rows(named=True):
            for measure in self._findings.measures:
                yield f"fold.{mlflow_name(measure)}", row["fold"], row[measure]

    def _write(self, run: str, parameters: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
        from mlflow.entities import Metric, Param

        now = int(time.time() * 1000)
        self._client.log_batch(
            run,
            metrics=[Metric(name, float(value), now, 0) for name, value in numbers.items()],
            params=[Param(mlflow_name(name), str(value)[:_LONGEST]) for name, value in parameters.items()],
        )

    def _keep(self, run: str, names: Iterable[str], place: str | None) -> None:
        """Upload files and folders of the comparison's directory, those that are there."""
        home = self._results.directory
        for path in (home / name for name in names) if home is not None else ():
            if path.is_dir():
                self._client.log_artifacts(run, str(path), path.name)
            elif path.is_file():
                self._client.log_artifact(run, str(path), place)


def _parameters(runs: pl.DataFrame) -> dict[str, Any]:
    """What the runs of a ranker have in common; where a search chose for each, it is said so."""
    each = [json.loads(text) for text in runs["parameters"]]
    names = dict.fromkeys(name for given in each for name in given)
    same = {name: {json.dumps(given.get(name)) for given in each} for name in names}
    return {name: each[0].get(name) if len(same[name]) == 1 else "chosen for each run" for name in names}


def _place(uri: str | Path) -> str:
    text = str(uri)
    if re.match(r"[a-z][a-z0-9+.-]*:", text, re.IGNORECASE) or text == "databricks":
        return text
    path = Path(text).resolve()
    if path.exists() and not path.is_dir():
        raise InputError("is a file: MLflow needs a folder, or the address of a server", path)
    return path.as_uri()


@contextmanager
def _in_one_line() -> Iterator[None]:
    """What MLflow refuses, as an error of ours."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except (MlflowException, OSError) as error:
        if "MLFLOW_ALLOW_FILE_STORE" in str(error):
            raise InputError(
                "this version of MLflow keeps no runs in folders: give sqlite:///mlflow.db or the address of "
                "a server, or set MLFLOW_ALLOW_FILE_STORE=true in the environment"
            ) from None
        raise PomonaError(f"MLflow: {' '.join(str(error).split())[:300]}") from None
