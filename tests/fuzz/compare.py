"""Comparisons against `fit` and `evaluate` by hand, on data in any order; data that changed are noticed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

import pomona as pm
from fuzz.target import in_one_line
from here_runner import HereRunner
from pomona.errors import InputError
from pomona.experiments.compare import compare
from pomona.experiments.findings import find
from pomona.experiments.results import Results, read_results
from pomona.experiments.spec import ranker_class
from pomona.experiments.spec_options import spec_from_options
from pomona.measures.parse import measure

N_SMALL = 2
_RANKERS = (
    *(("linearregression", {}), ("random", {}), ("mart", {"n_trees": 2, "min_docs": 1})),
    ("lambdamart", {"n_trees": 2, "min_docs": 1, "early_stopping": "none"}),
    ("adarank", {"n_rounds": 2}),
)
_MEASURES = ("ndcg@5", "ap", "err@3", "p@2", "rr", "wta", "rbp(p=0.8)", "dcg@2")
_CONVENTIONS = ("definition", "letor4", "yahoo", "mslr", "trec_eval")


Values = dict[tuple[int, str, int, str, str], dict[str, float]]


@dataclass(frozen=True)
class Given:
    """What is compared: parts of the data (one, or three), and the rows of the comparison."""

    parts: dict[str, pl.DataFrame]
    rows: tuple[tuple[str, dict[str, Any]], ...]
    measures: tuple[str, ...]
    conventions: tuple[str, ...]
    seeds: tuple[int, ...]
    n_folds: int

    @property
    def columns(self) -> dict[str, str]:
        return {"doc_id": "doc"} if "doc" in self.parts["train"].columns else {}

    def write(self, folder: Path) -> None:
        for name, frame in self.parts.items():
            frame.write_csv(folder / f"{name}.csv")

    def compared(self, folder: Path, out: Path) -> Results:
        words = []
        for number, (name, parameters) in enumerate(self.rows):
            shown = ", ".join(f"{k}={v}" for k, v in parameters.items()).replace("'", "")
            words.append(f"r{number}={name}({shown})")
        files = {part: str(folder / f"{part}.csv") for part in self.parts}
        settings = (
            {"n_folds": self.n_folds} if len(files) == 1 else {"valid": files["valid"], "test": files["test"]}
        )
        spec = spec_from_options(
            [f"data={files['train']}"],
            ", ".join(words),
            measures=list(self.measures),
            conventions=list(self.conventions),
            seeds=list(self.seeds),
            bounds=False,
            columns=self.columns,
            **settings,
        )
        return compare(spec, out)

    def folds(self, folder: Path) -> list[tuple[pm.Dataset, pm.Dataset, pm.Dataset]]:
        read = {name: pm.read(folder / f"{name}.csv", **self.columns).gathered() for name in self.parts}
        if len(read) == 3:
            return [(read["train"], read["valid"], read["test"])]
        whole = read["train"]
        folds = []
        for learning, testing in pm.QueryKFold(self.n_folds).split_queries(whole):
            ids = np.sort(whole.qids[learning])
            held = ids[np.random.default_rng(0).permutation(len(ids))][: max(1, round(len(ids) / 5))]
            is_held = np.isin(whole.qids[learning], held)
            parts = (learning[~is_held], learning[is_held], testing)
            folds.append(tuple(whole.take(part) for part in parts))
        return folds

    def values(self, folder: Path) -> Values:
        """By hand: of a fold, row, seed, measure and convention, the value of every test query."""
        main = (
            self.measures[0]
            if self.conventions[0] == "definition"
            else f"{self.conventions[0]}:{self.measures[0]}"
        )
        found = {}
        for fold, parts in enumerate(self.folds(folder), 1):
            for number, (name, given) in enumerate(self.rows):
                known = ranker_class(name)().get_params()
                parameters = {key: None if value == "none" else value for key, value in given.items()}
                chosen, left_out = (parameters.pop(key, None) for key in ("features", "without"))
                names = [
                    n for n in parts[0].feature_names if n in (chosen or [n]) and n not in (left_out or ())
                ]
                train, valid, test = (_with(part, names) for part in parts)
                for seed in self.seeds:
                    own = {"measure": main, "seed": seed}
                    own = {key: value for key, value in own.items() if key in known}
                    ranker = ranker_class(name)(**parameters, **own).fit(train, valid=valid)
                    scores = ranker.predict(test)
                    for convention in self.conventions:
                        for text in self.measures:
                            judged = pm.evaluate(test, scores, text, convention=convention, per_query=True)
                            (by_query,) = judged.values()
                            qids = map(str, test.qids.tolist())
                            key = (fold, f"r{number}", seed, text, convention)
                            found[key] = dict(zip(qids, by_query.tolist(), strict=True))
        return found


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder = folder / "compare"

    def case(self, random: np.random.Generator) -> str:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        given = _given(random)
        here = patch("pomona.experiments.compare.LocalRunner", HereRunner)
        with here, patch("pomona.experiments.execute._MOST_TIMINGS", 1):
            try:
                return self._case(given, random)
            except InputError as error:
                self.reason = str(error)
                return in_one_line(error)

    def _case(self, given: Given, random: np.random.Generator) -> str:
        out = self._folder / "out"
        given.write(self._folder)
        first = given.compared(self._folder, out)
        if "failed" in first.runs["state"].to_list():
            return "failed"
        _check(first, given.values(self._folder))
        if random.random() < 0.2:
            _check_findings(first)
        if random.random() < 0.5:  # the same data, rows and columns in another order
            other = {name: _disordered(frame, random) for name, frame in given.parts.items()}
        else:
            part = str(random.choice(list(given.parts)))
            other = {**given.parts, part: _changed(given.parts[part], random)}
        again = Given(other, given.rows, given.measures, given.conventions, given.seeds, given.n_folds)
        again.write(self._folder)
        kept = read_results(out)
        n_refused = 0
        for fold in range(1, 1 + kept.runs["fold"].n_unique()):
            try:
                kept.test_data("data", fold)
            except InputError as error:
                n_refused += "changed since the comparison" in str(error)
        assert n_refused == kept.runs["fold"].n_unique(), (
            "data changed, and kept scores were joined with them"
        )
        try:
            second = again.compared(self._folder, out)
        except InputError as error:
            return in_one_line(error)
        if "failed" in second.runs["state"].to_list():
            return "failed"
        _check(second, again.values(self._folder))
        return "in files" if len(given.parts) == 3 else "cut"


def _check(results: Results, expected: Values) -> None:
    runs = set(results.runs.select("fold", "ranker", "seed").iter_rows())
    assert runs == {key[:3] for key in expected}, "other runs than asked for"
    test = results.values.filter(part="test")
    for (fold, ranker, seed, text, convention), by_query in expected.items():
        column = results.columns[str(measure(text)), convention]
        rows = test.filter(fold=fold, ranker=ranker, seed=seed).select("qid", column).iter_rows()
        found = dict(rows)
        assert found.keys() == by_query.keys(), "other queries"
        same = all(found[q] == v or (found[q] != found[q] and v != v) for q, v in by_query.items())
        assert same, f"{ranker} fold {fold} seed {seed}, {column}: {found} is not {by_query}"


def _check_findings(results: Results) -> None:
    """Means of the table: of seeds for each query first, then of the queries of all folds."""
    findings = find(results, n_resamples=50)
    keys = ["ranker", "fold", "qid"]
    test = results.values.filter(part="test")
    for row in findings.quality.iter_rows(named=True):
        own = test.filter(ranker=row["ranker"]).group_by(keys).agg(pl.col(row["measure"]).mean())
        mean = float(np.mean(own[row["measure"]].to_numpy()))
        assert abs(row["mean"] - mean) < 1e-12, (
            f"{row['ranker']} {row['measure']}: {row['mean']} is not {mean}"
        )


def _given(random: np.random.Generator) -> Given:
    n_features = int(random.integers(2, 6))
    names = [f"x{j}" for j in range(n_features)]
    rows = []
    for _ in range(random.integers(1, 4)):
        name, parameters = _RANKERS[random.integers(len(_RANKERS))]
        part = [str(one) for one in random.permutation(names)[: random.integers(1, n_features)]]
        some = [{}, {"features": part}, {"without": part}][random.integers(3)]
        rows.append((name, {**parameters, **some}))
    is_cut = random.random() < 0.5
    parts = ("train",) if is_cut else ("train", "valid", "test")
    has_ids = random.random() < 0.5
    known = _CONVENTIONS if has_ids else _CONVENTIONS[:-1]  # trec_eval breaks ties by document ids
    conventions = tuple(map(str, random.permutation(known)[: random.integers(1, 3)]))
    had = [text for text in _MEASURES if all(_has(convention, text) for convention in conventions)]
    measures = tuple(map(str, random.permutation(had)[: random.integers(1, 4)]))
    return Given(
        {part: _table(random, names, 100 * place, has_ids) for place, part in enumerate(parts)},
        tuple(rows),
        measures,
        conventions,
        tuple(map(int, random.permutation(5)[: random.integers(1, 3)])),
        int(random.integers(2, 4)),
    )


def _has(convention: str, text: str) -> bool:
    """Whether a tool has a measure."""
    try:
        measure(text, convention)
    except InputError:
        return False
    return True


def _table(random: np.random.Generator, names: list[str], first: int, has_ids: bool) -> pl.DataFrame:
    """Few documents, with ties, undefined values, and queries with nothing relevant."""
    lengths = random.integers(1, 6, random.integers(6, 12))
    n_docs = int(lengths.sum())
    label = random.integers(0, int(random.integers(2, 5)), n_docs)
    decimals = int(random.integers(0, 4))
    X = np.round(random.random((n_docs, len(names))) + 0.3 * label[:, None], decimals)
    X[random.random(X.shape) < 0.05] = np.nan
    columns: dict[str, Any] = {"label": label, "qid": np.repeat(np.arange(len(lengths)), lengths) + first}
    columns |= {"doc": [f"d{j}" for j in random.permutation(n_docs)]} if has_ids else {}
    table = pl.DataFrame({**columns, **dict(zip(names, X.T, strict=True))})
    return _disordered(table, random) if random.random() < 0.5 else table


def _disordered(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Rows and columns in another order, which surely is another."""
    order = np.roll(np.arange(frame.height), 1)
    if random.random() < 0.5:
        order = random.permutation(order)
    columns = list(frame.columns)
    columns = [columns[j] for j in random.permutation(len(columns))] if random.random() < 0.5 else columns
    return frame[order.tolist()].select(columns)


def _changed(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Something of it changed: a label, a value, names of features, the query of a row, a row less."""
    kind, row = random.integers(5), int(random.integers(frame.height))
    x = str(random.choice([name for name in frame.columns if name.startswith("x")]))
    here = pl.int_range(pl.len()) == row
    if kind == 0:
        return frame.with_columns(pl.when(here).then(pl.col("label") + 1).otherwise("label").alias("label"))
    if kind == 1:
        return frame.with_columns(pl.when(here).then(pl.lit(7.5)).otherwise(x).alias(x))
    if kind == 2:
        other = str(random.choice([name for name in frame.columns if name.startswith("x") and name != x]))
        return frame.rename({x: other, other: x})
    if kind == 3:
        return frame.with_columns(pl.when(here).then(pl.col("qid") + 1000).otherwise("qid").alias("qid"))
    return frame.filter(~here)


def _with(data: pm.Dataset, names: list[str]) -> pm.Dataset:
    places = [data.feature_names.index(name) for name in names]
    return data.replace(X=np.ascontiguousarray(data.X[:, places]), feature_names=names)
