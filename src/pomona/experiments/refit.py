"""What a comparison leaves for production: its models by name, and the best ranker trained on everything.

The best is chosen on the validation queries, never on the test queries: those are to tell how good it is.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pomona._arrays import whole_file
from pomona.data.concatenation import concatenated
from pomona.errors import InputError
from pomona.experiments.results import Results
from pomona.experiments.spec import ranker_class
from pomona.experiments.variation import with_chosen_features
from pomona.rankers.base import Ranker

_MODEL_FILE = re.compile(r"[0-9a-f]{24}\.pomona")
"""What the file of a model is called, to which its name is a link."""

_ITERATIONS = ("n_trees", "n_epochs", "n_iterations", "n_rounds")
"""What rankers call the number of steps that validation data would otherwise decide."""


@dataclass(frozen=True)
class Refit:
    """A ranker that was trained on all queries of a dataset.

    Attributes
    ----------
    label : what the comparison calls it. valid : its mean on the validation queries, by which it was chosen.
    parameters : as the best of its runs had them, its number of steps the median of all its runs.
    """

    ranker: Ranker
    label: str
    dataset: str
    measure: str
    valid: float
    parameters: dict[str, Any]
    n_queries: int

    @property
    def sentence(self) -> str:
        """In words."""
        return (
            f"{self.label}, the best on the validation queries of {self.dataset} ({self.measure} "
            f"{self.valid:.4f}), trained on all {self.n_queries} queries"
        )


def refit_best(results: Results, dataset: str | None = None) -> Refit:
    """Train the ranker that is best on the validation queries on all queries of a dataset.

    dataset : the first if left out.
    """
    name = dataset or results.runs["dataset"][0]
    runs = results.runs.filter(dataset=name, state="done", is_bound=False)
    main = results.spec.main
    valid = results.values.filter(dataset=name, part="valid")
    if valid.is_empty():
        raise InputError(f"{name} has no validation queries to choose the best ranker by")
    keys = ["ranker", "fold", "seed"]
    of_runs = valid.group_by(keys).agg(pl.col(main).mean().alias("valid"))
    scored = runs.join(of_runs, on=keys, how="inner")
    # A ranker whose runs failed in some fold has a mean over other queries than the others.
    folds = scored.group_by("ranker").agg(pl.col("fold").n_unique().alias("n_folds"))
    complete = folds.filter(pl.col("n_folds") == pl.col("n_folds").max())["ranker"]
    whole = scored.filter(pl.col("ranker").is_in(complete.to_list()))
    means = whole.group_by("ranker", maintain_order=True).agg(pl.col("valid").mean())
    label, mean = means.sort("valid", descending=True, maintain_order=True).row(0)
    own = scored.filter(ranker=label).sort("valid", descending=True, maintain_order=True)
    row = next(row for row in results.spec.rows() if row.label == label)
    cls = ranker_class(row.ranker)
    parameters = _parameters(own, cls)
    fold = with_chosen_features(results.fold_data(name, is_complete=True), row.features, row.without)
    data = concatenated([part for part in (fold.train, fold.valid, fold.test) if part is not None])
    ranker = cls(**parameters).fit(data)
    return Refit(ranker, label, name, main, mean, parameters, data.n_queries)


def _parameters(own: pl.DataFrame, cls: type[Ranker]) -> dict[str, Any]:
    """Those of the best run, with so many steps as its runs kept: of a mean of rounds, up to its middle."""
    best = own.row(0, named=True)
    given = json.loads(best["parameters"])
    parameters: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    declared = cls().get_params(deep=False)
    steps = own["best_iteration"].drop_nulls().to_list()
    counted = next((name for name in _ITERATIONS if name in declared), None)
    if counted is not None and steps:
        if counted == "n_trees":
            steps = [step + _n_later(step, declared | parameters) // 2 for step in steps]
        parameters[counted] = max(1, round(statistics.median(steps)))
    if "seed" in declared:
        parameters.setdefault("seed", best["seed"])
    return parameters


def _n_later(best: int, parameters: Mapping[str, Any]) -> int:
    """How many rounds after its best one a forest is the mean of."""
    if not parameters.get("averaged") or parameters.get("dropout"):
        return 0
    grown: int = parameters["n_trees"] - best
    return min(parameters.get("early_stopping") or grown, grown)


def index_models(results: Results) -> Path | None:
    """Write `models/index.csv`: whose model each file is; and give each a name beside its own.

    The names are links, `models/DATASET-RANKER-fold1-seed0.pomona`, where the file system has them. Links of
    models that are no longer among the results go. None, where nothing can be written.
    """
    if results.directory is None:
        return None
    folder = results.directory / "models"
    text = io.StringIO()
    columns = ("file", "name", "dataset", "ranker", "fold", "seed", "kind", "parameters")
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    runs = results.runs.filter(state="done", is_bound=False)
    names = model_names(runs)
    links: dict[str, str] = {}
    for run in runs.iter_rows(named=True):
        file, name = f"{run['run']}.pomona", names[run["run"]]
        writer.writerow({**run, "file": file, "name": name})
        links[name] = file
    path = folder / "index.csv"
    try:
        if path.is_file() and not path.is_symlink() and path.read_bytes() == text.getvalue().encode():
            return path
        with whole_file(path, follows_links=False) as index:
            index.write(text.getvalue().encode())
        for old in folder.iterdir():
            is_ours = old.is_symlink() and _MODEL_FILE.fullmatch(str(old.readlink())) is not None
            if is_ours and links.get(old.name) != str(old.readlink()):
                old.unlink()
    except (InputError, OSError):  # a read-only directory
        return None
    for name, file in links.items():
        with contextlib.suppress(OSError):  # a file system without links has the index
            (folder / name).symlink_to(file)
    return path


def model_names(runs: pl.DataFrame) -> dict[str, str]:
    """A name for the model of each run, by the run: DATASET-RANKER-fold1-seed0.pomona."""
    taken: set[str] = set()
    return {run["run"]: _name(run, taken) for run in runs.iter_rows(named=True)}


def _name(run: Mapping[str, Any], taken: set[str]) -> str:
    plain = [re.sub(r"[^A-Za-z0-9._=]+", "-", run[key]).strip("-.") for key in ("dataset", "ranker")]
    stem = "-".join([*filter(None, plain), f"fold{run['fold']}", f"seed{run['seed']}"])
    name, number = f"{stem}.pomona", 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}.pomona"
    taken.add(name)
    return name
