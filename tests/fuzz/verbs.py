"""The command line against Python: a verb prints with --json what the function gives, to the last bit.

The data of a case are written as LETOR text, as a table, or as TREC judgments and a run. Python has them as
they were made, not as they are read.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pomona as pm
from fuzz.options import Shown, run
from pomona.data.audit import audit
from pomona.data.convert import convert
from pomona.data.statistics import describe
from pomona.data.trec import read_qrels, read_run
from pomona.errors import PomonaError
from pomona.experiments.analysis.duel import duel_of_runs
from pomona.experiments.analysis.feature_importance import examine_importance
from pomona.experiments.analysis.informative import informativeness
from pomona.experiments.analysis.measure_values import all_orders, compare_measures
from pomona.experiments.analysis.ranked_system import systems_of_features, systems_of_runs, systems_of_scores
from pomona.measures.gap import explain_gap
from pomona.measures.judge import scored_queries

N_SMALL = 25

_MEASURES = (
    *("ndcg@3", "ndcg", "ap", "rr", "p@2", "err@5", "rbp(p=0.7)", "wta", "dcg@4", "recall@3"),
    *("ap(relevant=2)", "ndcg(gain=linear)@5", "p(relevant=2)@3"),
)
_ENDINGS = (".txt", ".csv", ".tsv", ".parquet", ".jsonl", ".txt.gz", ".csv.gz", ".arrow")
_NAMES = ("bm25", "pagerank", "age", "clicks")


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder = folder / "files"
        self._folder.mkdir()
        self._verbs: dict[str, Callable[[np.random.Generator], str]] = {
            name.removeprefix("_of_"): getattr(self, name) for name in dir(self) if name.startswith("_of_")
        }

    def case(self, random: np.random.Generator) -> str:
        for path in self._folder.iterdir():
            path.unlink()
        before = Path.cwd()
        os.chdir(self._folder)
        try:
            return self._verbs[random.choice(sorted(self._verbs))](random)
        finally:
            os.chdir(before)

    def _of_evaluate(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        scores = _scores(random, data, "s.txt")
        wanted, convention, ties = _measures(random), _convention(random), _ties(random)
        words = ["evaluate", name, "s.txt", *columns, *_words(wanted, convention=convention, ties=ties), "-q"]
        options = {"convention": convention, "ties": ties}
        return _same(
            words,
            lambda: pm.evaluate(data, scores, wanted, **options, per_query=True),
            lambda shown, found: (
                _equal([shown["per_query"][one] for one in found], [list(found[one]) for one in found]),
                _equal([shown["measures"][one]["mean"] for one in found], [j.mean for j in found.judgements]),
                _equal([shown["n_queries"], shown["n_empty"]], [found.n_queries, found.n_empty]),
                _equal([str(qid) for qid in data.qids.tolist()], shown["qids"]),
            ),
        )

    def _of_trec(self, random: np.random.Generator) -> str:
        """Judgments and two runs: `duel` and `evaluate` have the same means."""
        _trec(random, 2)
        wanted, options = _measures(random), {"convention": _convention(random), "ties": _ties(random)}
        seed = int(random.integers(5))
        kept = set(read_run("a.run").qids) & set(read_run("b.run").qids) & set(read_qrels("qrels").qids)
        words = ["duel", "qrels", "a.run", "b.run", *_words(wanted, **options), "--seed", str(seed)]
        outcome = _same(
            words,
            lambda: duel_of_runs("qrels", {"a": "a.run", "b": "b.run"}, wanted, **options, seed=seed),
            lambda shown, found: _equal_tables(shown, found.tables),
        )
        shown = run(
            ["evaluate", "--qrels", "qrels", "--run", "a.run", *_words(wanted, **options), "--json", "-q"]
        )
        first = run(["evaluate", "qrels", "a.run", *_words(wanted, **options), "--json", "-q"])
        assert shown == first, "the two ways to name judgments and a run differ"
        if shown.code == 0 and outcome == "same":
            told = json.loads(shown.stdout)
            own = {qid for qid, _ in _rows("a.run")} & {qid for qid, _ in _rows("qrels")}
            assert told["n_queries"] == len(own)
            assert told["n_judged_queries_without_run"] == len({qid for qid, _ in _rows("qrels")} - own)
            assert told["n_queries_without_judgments"] == len({qid for qid, _ in _rows("a.run")} - own)
            if len(own) == len(kept):
                table = duel_of_runs("qrels", {"a": "a.run", "b": "b.run"}, wanted, **options).means
                means = table.filter(system="a")["mean"].to_list()
                assert np.allclose(means, [one["mean"] for one in told["measures"].values()], rtol=1e-15)
        return outcome

    def _of_duel(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        scores = {
            one: _scores(random, data, f"{one}.txt")
            for one in ("old", "new", "newer")[: random.integers(2, 4)]
        }
        wanted, seed = _measures(random), int(random.integers(5))
        options = {"convention": _convention(random), "ties": _ties(random)}
        needs_ids = {"docid", "trec_eval"} & set(options.values())
        by = [] if needs_ids else _some(random, data.feature_names)
        words = ["duel", name, *(f"{one}.txt" for one in scores), *columns, *_words(wanted, **options)]
        words += ["--seed", str(seed), *(word for one in by for word in ("--by", one))]
        return _same(
            words,
            lambda: pm.duel(data, scores, wanted, by=by, **options, seed=seed),
            lambda shown, found: _equal_tables(shown, found.tables),
        )

    def _of_power(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        scores = {one: _scores(random, data, f"{one}.txt") for one in ("old", "new")}
        measure = str(random.choice(_MEASURES))
        options: dict[str, Any] = {"power": round(random.uniform(0.5, 0.95), 3), "alpha": 0.1, "seed": 3}
        words = ["power", name, "old.txt", "new.txt", *columns, "-m", measure, "--simulations", "40"]
        words += [word for key, value in options.items() for word in (f"--{key}", str(value))]

        def expected() -> Any:
            found = pm.duel(data, scores, measure)
            return pm.power(
                found.differences("new", "old")["difference"].to_numpy(), **options, n_simulations=40
            )

        return _same(words, expected, lambda shown, found: _equal_tables(shown, found.tables))

    def _of_why(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        scores = _scores(random, data, "s.txt")
        measure = str(random.choice(("ndcg@3", "p@3", "ap", "ndcg")))
        first, last = random.choice(
            ("definition", "letor3", "letor4", "mslr", "yahoo", "ranklib"), 2
        ).tolist()
        words = ["why", name, "s.txt", *columns, "-m", measure, "--from", first, "--to", last]

        def expected() -> Any:
            return explain_gap(
                scored_queries(data, scores), pm.measure(measure, first), pm.measure(measure, last)
            )

        def equal(shown: Any, found: Any) -> None:
            _equal(shown["values"], list(found.values))
            _equal([shown["difference"]], [found.difference])
            _equal([part["change"] for part in shown["parts"]], [part.change for part in found.parts])

        return _same(words, expected, equal)

    def _of_score(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        ranker = _fitted(random, data)
        if ranker is None:
            return "nothing to learn"
        ranker.save("m.pomona")
        if random.random() < 0.5:
            return _same(
                ["score", "m.pomona", name, *columns],
                lambda: ranker.predict(data),
                lambda shown, found: _equal(shown, list(found)),
            )
        shown = run(["score", "m.pomona", name, *columns, "-o", "scores"])
        assert shown.code == 0, shown.stderr
        _equal([float(line) for line in Path("scores").read_text().split()], list(ranker.predict(data)))
        return "same"

    def _of_train(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        cls, settings = _choice(random)
        valid = None
        words = ["train", cls.__name__.lower(), name, *columns, "-o", "m.pomona"]
        if random.random() < 0.5:
            valid, other, _ = _data(random, "v", like=(data, name, columns))
            words += ["--valid", other]
        words += [word for key, value in settings.items() for word in ("-s", f"{key}={_value(value)}")]

        def expected() -> Any:
            return cls(**settings).fit(data, valid=valid)

        def equal(shown: Any, ranker: Any) -> None:
            _equal(list(pm.load_model("m.pomona").predict(data)), list(ranker.predict(data)))
            if valid is not None:
                _equal(list(shown["valid"].values()), [ranker.score(valid)])

        return _same(words, expected, equal)

    def _of_stats(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        return _same(
            ["stats", name, *columns],
            lambda: describe(data).to_json(),
            lambda shown, found: _equal_facts(shown[0], {"data": name, **found}),
        )

    def _of_audit(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        return _same(
            ["audit", name, *columns],
            lambda: [one.to_json() for one in audit({name: data})],
            lambda shown, found: _equal_facts({"all": shown}, {"all": found}),
        )

    def _of_measures(self, random: np.random.Generator) -> str:
        labels = random.integers(0, 4, random.integers(2, 5)).tolist()
        wanted = [str(one) for one in random.choice(_MEASURES, 3, replace=False)]
        return _same(
            ["measures", ",".join(map(str, labels)), *_words(wanted)],
            lambda: compare_measures(all_orders(labels), wanted),
            lambda shown, found: _equal_tables(shown, found.tables),
        )

    def _of_informative(self, random: np.random.Generator) -> str:
        wanted, k = ["ap", "ndcg@3", "p@2"][: random.integers(1, 4)], int(random.integers(1, 6))
        words = [*_words(wanted), "-k", str(k)]
        way = random.integers(3)
        if way == 0:
            _trec(random, 2)
            files = {"a": Path("a.run"), "b": Path("b.run")}
            return _same(
                ["informative", "--qrels", "qrels", "--run", "a.run", "--run", "b.run", *words],
                lambda: informativeness({"qrels": systems_of_runs(Path("qrels"), files)}, wanted, n_top=k),
                lambda shown, found: _equal_tables(shown, found.tables),
            )
        data, name, columns = _data(random, "d")
        if way == 1:
            return _same(
                ["informative", name, *columns, *words],
                lambda: informativeness({name: systems_of_features([data])}, wanted, n_top=k),
                lambda shown, found: _equal_tables(shown, found.tables),
            )
        given = {"s": _scores(random, data, "s.txt"), "t": _scores(random, data, "t.txt")}
        return _same(
            ["informative", name, "--scores", "s.txt", "--scores", "t.txt", *columns, *words],
            lambda: informativeness({name: systems_of_scores(data, given)}, wanted, n_top=k),
            lambda shown, found: _equal_tables(shown, found.tables),
        )

    def _of_features(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        ranker = _fitted(random, data)
        if ranker is None:
            return "nothing to learn"
        ranker.save("m.pomona")
        measure = str(random.choice(_MEASURES))
        return _same(
            ["features", name, "--model", "m.pomona", "-m", measure, "--shuffles", "2", *columns],
            lambda: examine_importance(ranker, data, measure, n_shuffles=2),
            lambda shown, found: (
                _equal_rows(
                    [{k: v for k, v in row.items() if k != "data"} for row in shown["importance"]],
                    found.table,
                ),
                _equal([shown["facts"][0]["value"]], [found.value]),
            ),
        )

    def _of_explain(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        ranker = _fitted(random, data)
        if ranker is None:
            return "nothing to learn"
        ranker.save("m.pomona")
        query = random.choice(data.qids).item()
        return _same(
            ["explain", "m.pomona", name, "--query", str(query), *columns],
            lambda: pm.explain(ranker, data, query),
            lambda shown, found: _equal_tables(shown, found.tables),
        )

    def _of_optimality(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        ranker = _fitted(random, data)
        if ranker is None:
            return "nothing to learn"
        ranker.save("m.pomona")
        measure, seed = str(random.choice(_MEASURES)), int(random.integers(4))
        words = ["-m", measure, "--directions", "4", "--steps", "0.1,0.5", "--seed", str(seed)]
        return _same(
            ["optimality", "m.pomona", name, *columns, *words],
            lambda: pm.local_optimality(ranker, data, measure, n_directions=4, steps=[0.1, 0.5], seed=seed),
            lambda shown, found: _equal_facts(
                {key: value for key, value in shown["optimality"][0].items() if key != "data"}, found.row()
            ),
        )

    def _of_parity(self, random: np.random.Generator) -> str:
        data, name, columns = _data(random, "d")
        ranker = _fitted(random, data)
        if ranker is None:
            return "nothing to learn"
        ranker.save("m.pomona")
        engine = str(random.choice(("opensearch-3.5", "elasticsearch-1.5.8", "solr-9.1", "vespa")))

        def expected() -> Any:
            ranker.exported(engine.partition("-")[0])  # refuses what is no model of engines
            return pm.evaluate(data, ranker.predict(data), "ndcg@10")["ndcg@10"]

        def equal(shown: Any, value: float) -> None:
            differing = shown["differing"]
            _equal([shown["documents"], differing["before"]], [data.n_docs, value])
            if not differing["documents"] and not differing["rankings"]:
                _equal(differing["after"], value)

        return _same(["parity", "m.pomona", name, *columns, "--engine", engine], expected, equal)

    def _of_export(self, random: np.random.Generator) -> str:
        data, *_ = _data(random, "d")
        ranker = _fitted(random, data)
        if ranker is None:
            return "nothing to learn"
        ranker.save("m.pomona")
        format = str(
            random.choice(("lightgbm", "xgboost", "solr", "opensearch", "elasticsearch", "c", "vespa"))
        )
        words = ["export", "m.pomona", "-f", format]
        if random.random() < 0.5:
            words += ["--nonnegative"]
        shown = run([*words, "-o", "o"])
        ranker = pm.load_model("m.pomona")
        try:
            expected = ranker.exported(format, nonnegative="--nonnegative" in words)
        except PomonaError as error:
            return _refused(shown, error, words)
        assert Path("o").read_text() == expected
        assert run(words).stdout == expected
        return "same"

    def _of_convert(self, random: np.random.Generator) -> str:
        _, name, columns = _data(random, "d")
        out = f"o{random.choice(_ENDINGS)}"
        shown = run(["convert", name, *columns, "-o", out])
        named = {
            key.strip("-").replace("-", "_"): value
            for key, value in zip(columns[::2], columns[1::2], strict=True)
        }
        try:
            path, *_ = convert(name, f"p{out}", **named)
        except PomonaError as error:
            return _refused(shown, str(error).replace(f"p{out}", out), ["convert"])
        assert shown.code == 0, shown.stderr
        one, other = pm.read(out), pm.read(path)
        assert one.fingerprint() == other.fingerprint()
        return "same"


def _same(words: list[str], expected: Callable[[], Any], equal: Callable[[Any, Any], Any]) -> str:
    """What is printed is what is expected; or both refuse, with the same words."""
    shown: Shown = run([*words, "--json"])
    assert "internal error" not in shown.stderr, f"{' '.join(words)}: {shown.stderr}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = expected()
    except PomonaError as error:
        return _refused(shown, error, words)
    assert shown.code in (0, 1), f"{' '.join(words)}: {shown.stderr}"
    try:
        equal(json.loads(shown.stdout), found)
    except AssertionError as error:
        raise AssertionError(f"{' '.join(words)}: {error}") from None
    return "same"


def _refused(shown: Shown, error: object, words: list[str]) -> str:
    """The command refuses with Python's words."""
    said = " ".join(str(error).split())
    assert shown.code == 2, f"{' '.join(words)}: Python refuses ({said}), the command does not"
    assert said in shown.stderr, f"{' '.join(words)}: Python says {said}, the command {shown.stderr}"
    return "refused"


def _equal(one: Any, other: Any) -> None:
    """The same values; what is not finite is null in JSON."""
    assert _plain(one) == _plain(other), f"{str(one)[:100]} is not {str(other)[:100]}"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _equal_facts(one: dict[str, Any], other: dict[str, Any]) -> None:
    _equal(one, other)


def _equal_tables(shown: dict[str, Any], tables: dict[str, pl.DataFrame]) -> None:
    for name, table in tables.items():
        _equal_rows(shown[name], table)


def _equal_rows(rows: list[dict[str, Any]], table: pl.DataFrame) -> None:
    _equal(rows, table.to_dicts())


def _data(
    random: np.random.Generator, stem: str, like: tuple[pm.Dataset, str, list[str]] | None = None
) -> tuple[pm.Dataset, str, list[str]]:
    """A dataset with many ties and equal labels, the name of its file, and the options to read it by."""
    n_queries = random.integers(1, 7) if random.random() < 0.2 else random.integers(6, 12)
    lengths = random.integers(1, 9, n_queries)
    n_docs = int(lengths.sum())
    qid = np.repeat(np.arange(10, 10 + n_queries), lengths)
    if random.random() < 0.3:
        qid = random.permutation(qid)
    n_features = random.integers(1, 5) if like is None else like[0].n_features
    X = random.integers(-3, 4, (n_docs, n_features)).astype(np.float32)
    if random.random() < 0.5:
        X += random.standard_normal(X.shape).astype(np.float32)
    y = random.integers(0, 5, n_docs).astype(np.float64)
    if random.random() < 0.2:  # some documents are not judged
        y[random.random(n_docs) < 0.2] = np.nan
    names = _NAMES[:n_features]
    ending = str(random.choice(_ENDINGS)) if like is None else like[1].removeprefix("d")
    if ".txt" in ending:
        X[0, -1] = X[0, -1] or 1.0  # the last feature occurs
        data = pm.Dataset(X, y, qid, doc_ids=[f"d{i}" for i in range(n_docs)])
        pm.write_letor(data, f"{stem}{ending}")
        return data, f"{stem}{ending}", []
    columns = [] if random.random() < 0.5 else ["--label", "grade", "--qid", "query"]
    columns = columns if like is None else like[2]
    label, query = ("grade", "query") if columns else ("label", "qid")
    table = pl.DataFrame({label: y, query: qid, **dict(zip(names, X.T, strict=True))})
    name = f"{stem}{ending}"
    plain = name.removesuffix(".gz")
    {
        ".csv": table.write_csv,
        ".tsv": lambda file: table.write_csv(file, separator="\t"),
        ".parquet": table.write_parquet,
        ".jsonl": table.write_ndjson,
        ".arrow": table.write_ipc,
    }[Path(plain).suffix](plain)
    if plain != name:
        import gzip

        Path(name).write_bytes(gzip.compress(Path(plain).read_bytes()))
    return pm.Dataset(X, y, qid, feature_names=names), name, columns


def _scores(random: np.random.Generator, data: pm.Dataset, name: str) -> list[float]:
    values = random.integers(0, 4, data.n_docs).astype(float)
    if random.random() < 0.5:
        values += random.standard_normal(data.n_docs)
    Path(name).write_text("".join(f"{value!r}\n" for value in values.tolist()))
    return [float(value) for value in values]


def _trec(random: np.random.Generator, n_runs: int) -> None:
    n_queries = random.integers(2, 8)
    documents = [(q, d) for q in range(n_queries) for d in range(random.integers(1, 8))]
    qrels = [f"{q} 0 d{d} {random.integers(-1, 4)}\n" for q, d in documents if random.random() < 0.8]
    Path("qrels").write_text("".join(qrels) or "0 0 d0 1\n")
    for name in "ab"[:n_runs]:
        lacks = set(random.choice(n_queries, random.integers(0, 2)).tolist())
        lines = [
            f"{q} Q0 d{d} 1 {random.integers(0, 4)} t\n"
            for q, d in documents
            if q not in lacks and random.random() < 0.8
        ]
        Path(f"{name}.run").write_text("".join(lines) or "0 Q0 d0 1 1 t\n")


def _rows(name: str) -> list[tuple[str, str]]:
    return [(line.split()[0], line.split()[2]) for line in Path(name).read_text().splitlines()]


def _measures(random: np.random.Generator) -> list[str]:
    return [str(one) for one in random.choice(_MEASURES, random.integers(1, 4), replace=False)]


def _some(random: np.random.Generator, names: Sequence[str]) -> list[str]:
    return [str(random.choice(names))] if random.random() < 0.3 else []


def _convention(random: np.random.Generator) -> str | None:
    known = ("definition", "letor4", "mslr", "yahoo", "ranklib", "trec_eval", "lightgbm", "sklearn")
    return str(random.choice(known)) if random.random() < 0.4 else None


def _ties(random: np.random.Generator) -> str | None:
    return (
        str(random.choice(("stable", "expected", "worst", "best", "docid")))
        if random.random() < 0.4
        else None
    )


def _words(measures: list[str], **options: str | None) -> list[str]:
    given = [word for key, value in options.items() if value is not None for word in (f"--{key}", value)]
    return [*(word for one in measures for word in ("-m", one)), *given]


def _choice(random: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    kinds: tuple[tuple[Any, dict[str, Any]], ...] = (
        (pm.LinearRegression, {"l2": 0.5}),
        (pm.LinearRegression, {"normalize": "global-standard", "target": "gain"}),
        (pm.MART, {"n_trees": 3, "n_leaves": 4, "min_docs": 2, "seed": 4}),
        (pm.LambdaMART, {"n_trees": 2, "n_leaves": 3, "min_docs": 2, "measure": "ap", "seed": 5}),
        (pm.BestFeature, {}),
    )
    return kinds[random.integers(len(kinds))]


def _fitted(random: np.random.Generator, data: pm.Dataset) -> Any:
    """A ranker that has learned from the data, or None where there is nothing to learn."""
    cls, settings = _choice(random)
    try:
        return cls(**settings).fit(data)
    except PomonaError:
        return None


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
