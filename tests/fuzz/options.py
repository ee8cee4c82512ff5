"""Every verb with one option more: something that comes out changes, or the option is refused by its name.

`FORMS` has the ways in which a verb is used, `VALUES` a value of each option that is not its default. An
option without a value here fails the test of its verb, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import typer

import pomona as pm
from pomona.cli import app

N_SMALL = 12

_SIMULATED = "simulate(queries=12, features=3, docs_per_query=5)"
_COMPARE = "compare {in}/folds --rankers linearregression,bestfeature -m ndcg@5,ap -j 1 -o o"
_STUDY = "linearregression -j 1 -o o"

_MODEL_FORMATS = (
    *(
        "c",
        "elastic",
        "elasticsearch",
        "lightgbm",
        "onnx",
        "opensearch",
        "ranklib",
        "solr",
        "vespa",
        "xgboost",
    ),
    "xgboost-dump",
)

FORMS: dict[str, list[str]] = {
    "audit": ["audit {in}/d.txt", "audit {in}/d.csv", "audit {in}/d.csv {in}/e.csv", "audit {in}/folds"],
    "best": [
        "best {in}/d.txt -t 2s -m ndcg@5 --json",
        "best {in}/d.csv -t 2s --valid {in}/e.csv --json",
    ],
    "cache": ["cache", "cache show"],
    "compare": [
        _COMPARE,
        f"{_COMPARE} --no-report",
        f"{_COMPARE} --json",
        "compare {in}/d.csv --rankers mart(n_trees=2) -j 1 --n-folds 3 --trials 2 -o o",
        "compare {in}/d.csv --rankers linearregression --valid {in}/e.csv --test {in}/f.csv -j 1 -o o",
        "compare {in}/spec.toml -j 1 -o o",
    ],
    "convert": [
        "convert {in}/d.txt -o o.csv",
        "convert {in}/d.txt",
        "convert {in}/d.csv -o o.txt",
        "convert {in}/a.run --qrels {in}/qrels -o o.csv",
        "convert {in}/m.pomona -f lightgbm -o o.txt",
        "convert {in}/m.pomona -f opensearch",
        "convert {in}/m.pomona -f pomona -o o.pomona",
        "convert {in}/hits.json {in}/judgments.csv -o o.letor --log-name main",
        "convert {in}/d.csv -o o.csv -f csv --json",
    ],
    "demo": ["demo --n-queries 20 -j 1 -o o"],
    "duel": [
        "duel {in}/d.txt {in}/s.txt {in}/t.txt",
        "duel {in}/d.csv {in}/s.txt {in}/t.txt",
        "duel {in}/d.csv {in}/s.txt {in}/t.txt --by even",
        "duel {in}/qrels {in}/a.run {in}/b.run",
        "duel --qrels {in}/qrels {in}/a.run {in}/b.run --by even --queries {in}/queries.csv",
    ],
    "evaluate": [
        "evaluate {in}/d.txt {in}/s.txt",
        "evaluate {in}/d.csv {in}/s.txt",
        "evaluate {in}/d.txt {in}/s.txt --all-conventions",
        "evaluate {in}/d.txt {in}/s.txt -q --json",
        "evaluate {in}/qrels {in}/a.run",
        "evaluate --qrels {in}/qrels --run {in}/a.run",
        *(
            f"evaluate {{in}}/{'d' if tool == 'letor3' else 'd4'}.txt {{in}}/s.txt --as {tool}"
            for tool in ("letor3", "letor4", "mslr", "ranklib", "yahoo", "yahoo-half")
        ),
        "evaluate {in}/d.txt {in}/s.txt --as ranklib -m NDCG@5",
        "evaluate {in}/qrels {in}/a.run --as trec_eval",
        "evaluate --qrels {in}/qrels --run {in}/c.run --as trec_eval-10",
    ],
    "explain": [
        "explain {in}/m.pomona {in}/d.txt --query 3",
        "explain {in}/l.pomona {in}/d.csv --query 3",
        "explain {in}/g.pomona {in}/d.csv --query 3",
        "explain {in}/m.pomona {in}/d.csv --query 3 --doc-id url --json",
    ],
    "export": [
        *(f"export {{in}}/m.pomona -f {name} -o o" for name in _MODEL_FORMATS),
        "export {in}/m.pomona -f opensearch",
        "export {in}/g.pomona -f solr -o o",
    ],
    "features": [
        "features {in}/d.txt --trees 2",
        "features {in}/d.csv --trees 2 --json",
        "features {in}/d.csv --trees 0",
        "features {in}/d.txt --model {in}/l.pomona",
        "features {in}/d.csv --model {in}/m.pomona --json",
    ],
    "informative": [
        "informative {in}/d.txt",
        "informative {in}/d.csv --json",
        "informative {in}/d.txt --scores {in}/s.txt --scores {in}/t.txt",
        "informative --qrels {in}/qrels --run {in}/a.run",
        "informative {in}/done",
    ],
    "inspect": [
        f"inspect {{in}}/{name}"
        for name in ("d.txt", "d.csv", "m.pomona", "s.txt", "qrels", "a.run", "folds", "done")
    ],
    "list": [
        *(f"list {kind}" for kind in ("rankers", "measures", "conventions", "formats")),
        "list rankers mart",
    ],
    "measures": ["measures 2,1,0", "measures {in}/lists.txt", "measures {in}/done -m ndcg@5"],
    "optimality": [
        "optimality {in}/l.pomona {in}/d.txt --directions 5 --json",
        "optimality {in}/m.pomona {in}/d.csv --directions 5",
    ],
    "parity": [
        "parity {in}/m.pomona {in}/d.txt --engine opensearch-3.5",
        "parity {in}/m.pomona {in}/d.csv --engine solr --json",
    ],
    "power": [
        "power {in}/d.txt {in}/s.txt {in}/t.txt --simulations 50",
        "power {in}/d.csv {in}/s.txt {in}/t.txt --simulations 50 --json",
        "power {in}/qrels {in}/a.run {in}/b.run --simulations 50",
        "power {in}/pilot.csv --columns old,new --simulations 50",
    ],
    "report": [
        "report done",
        "report done --only headline",
        "report done --json",
        "report done --queries {in}/queries.csv",
    ],
    "score": [
        "score {in}/m.pomona {in}/d.txt",
        "score {in}/m.pomona {in}/d.csv",
        "score {in}/z.pomona {in}/d.csv --json",
    ],
    "stats": [
        "stats {in}/d.txt",
        "stats {in}/d.csv {in}/e.csv",
        "stats {in}/folds",
        "stats {in}/folds --json",
    ],
    "study": [
        f"study size {_SIMULATED!r} --rankers {_STUDY} --draws 1 --values 0.5,1",
        "study size {in}/d.txt --rankers mart(n_trees=2) --dry-run",
        "study search {in}/d.txt --dry-run",
        "study cutoff {in}/d.txt --dry-run",
    ],
    "table": [
        *(f"table {{in}}/results.csv -f {name}" for name in ("md", "tex", "html")),
        "table {in}/results.csv --json",
        "table {in}/results.csv --best none",
    ],
    "trace": ["trace mart {in}/d.txt --iterations 4", "trace mart {in}/d.csv --query 3 -s n_trees=4 --json"],
    "train": [
        "train mart {in}/d.txt -o o -s n_trees=3",
        "train mart {in}/d.csv -o o -s n_trees=3 --valid {in}/e.csv",
        "train linearregression {in}/d.csv -o o --json",
    ],
    "why": ["why {in}/d.txt {in}/s.txt", "why {in}/d.csv {in}/s.txt --json"],
    "winning": ["winning {in}/results.csv", "winning {in}/long.csv --json --where split=mean"],
}

VALUES = {
    "all_conventions": "",
    "all_trials": "",
    "alpha": "0.31",
    "as_json": "",
    "as_tool": "trec_eval",
    "background": "{in}/e.csv",
    "base_model": "{in}/l.pomona",
    "baseline": "bestfeature",
    "best": "none",
    "bins": "3",
    "by": "even",
    "columns": "old",
    "complete": "",
    "convention": "yahoo",
    "conventions": "letor4",
    "dask": "tcp://nowhere:1",
    "difference": "0.321",
    "digits": "1",
    "directions": "3",
    "doc_id": "url",
    "docs": "2,3",
    "draws": "2",
    "dry_run": "",
    "engine": "elastic",
    "engine_version": "9.0",
    "epsilon": "0.4",
    "every": "2",
    "feature_map": "{in}/names.csv",
    "figure": "o.svg",
    "first": "mslr",
    "folds": "1",
    "format": "csv",
    "formats": "solr",
    "from_format": "csv",
    "gmax": "3",
    "group": "both=f1,f2",
    "iterations": "2",
    "jobs": "2",
    "judged_only": "",
    "k": "2",
    "label": "grade",
    "last": "ranklib",
    "latency": "1s",
    "level": "2",
    "log_name": "other",
    "lower": "all",
    "markdown": "",
    "max_docs": "2",
    "measure": "err@3",
    "method": "interventional",
    "mlflow": "{in}/nowhere",
    "model": "{in}/l.pomona",
    "model_name": "other",
    "n_folds": "2",
    "nonnegative": "",
    "norm_performance": "",
    "only": "results",
    "out": "o2",
    "parts": "",
    "joined": "",
    "per_query": "",
    "power": "0.95",
    "qid": "query",
    "qrels": "{in}/qrels",
    "queries": "{in}/queries.csv",
    "query": "2",
    "rankers": "random,bestfeature",
    "rates": "0.1,0.3",
    "raw": "",
    "reading": "attained",
    "refit_best": "",
    "relative": "",
    "retry": "",
    "report": "",
    "verify": "",
    "run": "{in}/b.run",
    "scores": "{in}/s.txt",
    "seed": "7",
    "seeds": "0,1",
    "settings": "n_trees=2",
    "shuffles": "2",
    "simulations": "60",
    "steps": "0.2,0.9",
    "store": "mine",
    "test": "{in}/f.csv",
    "ties": "worst",
    "time": "3s",
    "time_limit": "50",
    "title": "Title",
    "split": "0.5,0.5",
    "tolerance": "9",
    "top": "1",
    "trees": "3",
    "trials": "1",
    "undefined": "5",
    "unjudged": "0",
    "weight": "even",
    "valid": "{in}/f.csv",
    "values": "0.25,1",
    "what": "vega",
    "where": "split=test",
}
OTHER_VALUES = {
    ("demo", "queries"): "21",
    ("train", "unjudged"): "irrelevant",
    ("why", "measure"): "p@3",
    ("train mart {in}/d.csv", "base_model"): "{in}/w.pomona",
    ("train linearregression", "settings"): "l2=3",
    ("convert {in}/d.txt -o o.csv", "format"): "tsv",
    ("convert {in}/a.run", "format"): "tsv",
    ("power {in}/qrels", "convention"): "trec_eval",
    ("power", "convention"): "letor4",
    ("explain {in}/m.pomona {in}/d.txt", "docs"): "doc0000009,doc0000010",
    ("explain {in}/m.pomona {in}/d.csv", "docs"): "108,109",
    ("duel", "as_tool"): "mslr",
    ("duel", "out"): "o2",
    ("informative", "run"): "{in}/b.run",
    ("table", "format"): "tex",
    ("table", "title"): "Title",
    ("export", "format"): "xgboost",
    ("optimality", "measure"): "p@2",
    ("measures", "measure"): "ap",
    ("informative", "measure"): "ap",
    ("winning", "measure"): "ap",
    ("study size", "values"): "0.25,1",
    ("study search", "rankers"): "mart(n_leaves=3)",
    ("study", "values"): "2,3",
    ("report done --only headline", "only"): "results",
    ("convert", "undefined"): "5",
    ("evaluate", "as_tool"): "mslr",
    ("train", "label"): "grade",
    ("report", "qid"): "other",
}
_NO_FEATURE = "names a column of a table, which is looked for, and is no feature then"
_ANY_NUMBER = "the same numbers come of any number of processes"
NO_CHANGE: dict[tuple[str, str], str] = {
    ("audit {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("best", "formats"): "every model that is found may be one that can be exported",
    ("best", "latency"): "a limit that every model keeps",
    ("best", "seed"): "what chance finds may be the same",
    ("best", "time"): "what is found in another time may be the same",
    ("compare", "jobs"): _ANY_NUMBER,
    ("compare", "retry"): "only the directory of an earlier comparison has failed runs",
    ("compare", "time_limit"): "a limit that no run reaches",
    ("compare", "verify"): "only the directory of an earlier comparison has damaged files",
    ("convert", "engine_version"): "what is written may be the same for every version",
    ("convert {in}/m.pomona", "nonnegative"): "no score is below 0",
    ("train mart {in}/d.csv -o o -s n_trees=3 --valid", "doc_id"): _NO_FEATURE,
    ("demo", "jobs"): _ANY_NUMBER,
    ("export", "engine_version"): "what is written may be the same for every version",
    ("export {in}/m.pomona", "nonnegative"): "no score is below 0",
    ("explain {in}/l.pomona", "background"): "the mean of features that are scaled inside each query is 0",
    ("features {in}/d.csv --model", "doc_id"): _NO_FEATURE,
    ("optimality {in}/m.pomona {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("parity {in}/m.pomona {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("parity", "feature_map"): "the names are checked, and scores do not depend on them",
    ("duel {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("evaluate {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("evaluate --qrels {in}/qrels --run {in}/c.run", "complete"): "a run that lacks no query",
    ("parity", "tolerance"): "is about the exit code, and nothing is lost here",
    ("power {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("score {in}/m.pomona {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("score {in}/m.pomona {in}/d.csv", "label"): _NO_FEATURE,
    ("score {in}/m.pomona {in}/d.csv", "qid"): _NO_FEATURE,
    ("score {in}/z.pomona {in}/d.csv", "doc_id"): _NO_FEATURE,
    ("score {in}/z.pomona {in}/d.csv", "label"): _NO_FEATURE,
    ("study", "jobs"): _ANY_NUMBER,
    ("why {in}/d.csv", "doc_id"): _NO_FEATURE,
}
"""The options that may change nothing, by how the form begins, and why."""


@dataclass(frozen=True)
class Case:
    """A command, and the option that is added to it."""

    verb: str
    form: str
    option: str

    def __str__(self) -> str:
        return f"{self.form} + {self.option}"


@cache
def parameters_of(verb: str) -> dict[str, Any]:
    """The options of a verb by the names of their values."""
    command = typer.main.get_command(app.build())
    options = command.commands[verb].params  # type: ignore[attr-defined]
    return {one.name: one for one in options if one.param_type_name == "option" and one.name != "help"}


def cases_of(verb: str) -> list[Case]:
    """Every form of a verb with every option that it does not have yet."""
    return [
        Case(verb, form, name)
        for form in FORMS[verb]
        for name, option in parameters_of(verb).items()
        if not {*option.opts, *option.secondary_opts} & set(form.split())
    ]


def make_inputs(folder: Path) -> None:
    """Small files of every kind that a verb reads."""
    data = pm.simulate(12, docs_per_query=6, n_features=3, seed=1)
    pm.write_letor(data, folder / "d.txt")
    lines = (folder / "d.txt").read_text().splitlines()
    sparse = (re.sub(r" 2:\S+", "", line) if i % 5 == 0 else line for i, line in enumerate(lines))
    (folder / "d.txt").write_text("".join(f"{line}\n" for line in sparse))
    chance = np.random.default_rng(0)
    for name, part in (
        ("d", data),
        ("e", pm.simulate(6, n_features=3, seed=2)),
        ("f", pm.simulate(6, n_features=3, seed=3)),
    ):
        _write_table(folder / f"{name}.csv", part, chance)
    for name, column in (("s", 0), ("t", 1)):
        (folder / f"{name}.txt").write_text("".join(f"{v!r}\n" for v in data.X[:, column].round(0).tolist()))
    labels = zip(data.qid.tolist(), range(data.n_docs), data.y.astype(int).tolist(), strict=True)
    rows = list(labels)
    _write_as_letor4(folder / "d.txt", folder / "d4.txt")
    (folder / "qrels").write_text("".join(f"{q} 0 d{d} {label}\n" for q, d, label in rows if d % 7))
    for name, column in (("a", 0), ("b", 1)):
        scores = data.X[:, column].round(0).tolist()
        lines = [(q, f"{q} Q0 d{d} 1 {scores[d]!r} t\n") for q, d, _ in rows if d % 5]
        (folder / f"{name}.run").write_text("".join(line for q, line in lines if q != 12))
        (folder / "c.run").write_text("".join(line for _, line in lines))
    named = data.replace(feature_names=("f1", "f2", "f3"))
    more = np.column_stack([named.X, chance.integers(0, 3, (data.n_docs, 4))]).astype(np.float32)
    wide = pm.Dataset(
        more, named.y, named.qid, feature_names=("f1", "f2", "f3", "grade", "query", "url", "even")
    )
    pm.MART(n_trees=3, min_docs=2, n_leaves=4).fit(named).save(folder / "m.pomona")
    pm.LinearRegression().fit(named).save(folder / "l.pomona")
    pm.LinearRegression(normalize="global-standard").fit(named).save(folder / "g.pomona")
    pm.LinearRegression().fit(wide).save(folder / "w.pomona")
    pm.LinearRegression(normalize="minmax").fit(named).save(folder / "z.pomona")
    (folder / "folds").mkdir()
    for k in (1, 2):
        (folder / f"folds/Fold{k}").mkdir()
        for role, seed in (("train", 4), ("vali", 5), ("test", 6)):
            part = pm.simulate(8, docs_per_query=6, n_features=3, seed=10 * k + seed)
            pm.write_letor(part, folder / f"folds/Fold{k}/{role}.txt")
    (folder / "queries.csv").write_text(
        "qid,even,other\n" + "".join(f"{q},{'ab'[q % 2]},{q + 1}\n" for q in range(1, 200))
    )
    (folder / "results.csv").write_text("method,a/ap,b/err\nx,0.51234,0.4\ny,0.6,\nz,0.6,0.3\nw,0.1,0.9\n")
    long = "".join(
        f"{m},{d},{what},0.{i}{j},{s}\n"
        for i, m in enumerate("xyz")
        for j, d in enumerate("ab")
        for what in ("ap", "err")
        for s in ("test", "mean")
    )
    (folder / "long.csv").write_text(f"method,dataset,measure,value,split\n{long}")
    (folder / "pilot.csv").write_text(
        "old,new\n" + "".join(f"{i % 5 / 5},{(i * 7) % 11 / 10}\n" for i in range(20))
    )
    (folder / "lists.txt").write_text("one: 2 1 0\nother: 0 1 2\n")
    (folder / "names.csv").write_text("feature,name\nf1,one\nf2,two\nf3,three\n")
    (folder / "spec.toml").write_text(
        'measures = ["ndcg@5"]\nn_folds = 2\n'
        '[[dataset]]\nname = "x"\nsimulate = {queries = 12, features = 3}\n'
        '[[ranker]]\nranker = "linearregression"\n[[ranker]]\nranker = "bestfeature"\n'
    )
    logged = [{"name": "title", "value": 1.5}, {"name": "body"}]
    hits = [
        {"_id": d, "fields": {"_ltrlog": [{"main": logged, "other": [{"name": "title", "value": 2.5}]}]}}
        for d in "abc"
    ]
    (folder / "hits.json").write_text(json.dumps({"star wars": {"hits": {"hits": hits}}}))
    (folder / "judgments.csv").write_text("query,docid,rating\nstar wars,a,3\nstar wars,b,0\n")


def _write_as_letor4(source: Path, path: Path) -> None:
    """LETOR text with the comments that LETOR 4.0's script wants."""
    lines = source.read_text().splitlines()
    path.write_text("".join(f"{line} inc = 1 prob = 0.5\n" for line in lines))


def _write_table(path: Path, data: Any, chance: Any) -> None:
    heads = ["label", "qid", "f1", "f2", "f3", "grade", "query", "url", "even"]
    rows = [",".join(heads)]
    for row, (label, qid) in enumerate(zip(data.y.tolist(), data.qid.tolist(), strict=True)):
        numbers = [f"{value:.4f}" for value in data.X[row].tolist()]
        if row % 5 == 0:
            numbers[1] = ""
        rows.append(
            ",".join(
                [
                    f"{label:g}",
                    str(qid),
                    *numbers,
                    str(chance.integers(0, 3)),
                    str((qid + row % 2) // 2),
                    str(100 + row),
                    str(qid % 2),
                ]
            )
        )
    path.write_text("\n".join(rows) + "\n")


@dataclass(frozen=True)
class Shown:
    """What a command printed, and how it ended."""

    code: int
    stdout: str
    stderr: str


@contextmanager
def _streams(stdin: bytes, encoding: str, stdout: Any):  # type: ignore[no-untyped-def]
    kept = sys.stdin, sys.stdout, sys.stderr, sys.argv, warnings.showwarning
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    sys.stdout = printed = io.TextIOWrapper(io.BytesIO() if stdout is None else stdout, encoding)
    sys.stderr = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    try:
        yield
    finally:
        printed.detach()
        sys.stdin, sys.stdout, sys.stderr, sys.argv, warnings.showwarning = kept


def run(words: list[str], stdin: bytes = b"", *, encoding: str = "utf-8", stdout: Any = None) -> Shown:
    """The command in this process, from its arguments to its exit code.

    `stdout` is a file to write to; what it takes is not shown.
    """
    with _streams(stdin, encoding, stdout), warnings.catch_warnings():
        warnings.simplefilter("default")  # notes for the user, as in a process of its own
        sys.argv, code = ["pomona", *words], 0
        try:
            app.run()
        except SystemExit as stop:
            code = int(stop.code or 0)
        streams = []
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            written = stream.buffer.getvalue() if isinstance(stream.buffer, io.BytesIO) else b""
            streams.append(written.decode(stream.encoding, errors="replace"))
        return Shown(code, *streams)


def what_comes_out(form: str, inputs: Path, work: Path) -> tuple[Shown, dict[str, Any]]:
    """What a command prints, and all that comes of it, in parts: lines, files, the exit code.

    It runs in an empty directory.
    """
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    if form.startswith("report"):  # it writes into the directory of the comparison
        shutil.copytree(inputs / "done", work / "done")
    before = Path.cwd()
    os.chdir(work)
    try:
        shown = run([word.replace("{in}", str(inputs)) for word in _words(form)])
        files = {
            str(path.relative_to(work)): _content(path, form.startswith("report"))
            for path in sorted(work.rglob("*"))
            if path.is_file()
        }
    finally:
        os.chdir(before)
    lines = {f"line {number}": line for number, line in enumerate(_TIMES.sub("", shown.stdout).splitlines())}
    return shown, {"code": shown.code, **lines, **files}


def _words(form: str) -> list[str]:
    import shlex

    return shlex.split(form.replace("(", "\\(").replace(")", "\\)")) if "'" not in form else shlex.split(form)


_TIMES = re.compile(r"\d+(\.\d+)?(e-?\d+)? (s|ms|µs|seconds)\b|\"[a-z_]*(seconds|micro)[a-z_]*\": [^,\n]*")
_VARYING = (".html", ".svg", ".pdf", ".sqlite", ".sqlite-wal", ".sqlite-shm", ".json", ".log", ".lock")


def _content(path: Path, is_report: bool) -> Any:
    if is_report and path.suffix == ".html":
        return path.read_text()
    if path.suffix in _VARYING or "seconds" in path.name or "cost" in path.name or "store" in path.parts:
        return None
    return path.read_bytes() if path.suffix != ".csv" else _TIMES.sub("", path.read_text(errors="replace"))


class Commands:
    """Runs commands on the same inputs, and remembers what came of those without an option more."""

    def __init__(self, folder: Path) -> None:
        self.inputs, self._work = folder / "in", folder / "work"
        self.inputs.mkdir()
        make_inputs(self.inputs)
        self._plain: dict[str, dict[str, Any]] = {}
        self._varying: dict[str, set[str]] = {}

    def _comes_out(self, form: str) -> tuple[Shown, dict[str, Any]]:
        done = self.inputs / "done"
        if "done" in form and not done.exists():
            words = ["-m", "ndcg@5,ap", "--n-folds", "2", "-j", "1", "-o", str(done)]
            run(["compare", _SIMULATED, "--rankers", "bestfeature,linearregression", *words])
        return what_comes_out(form, self.inputs, self._work)

    def plain(self, form: str) -> dict[str, Any]:
        """What comes of a form as it is, without what is different each time (seconds, say)."""
        if form not in self._plain:
            shown, first = self._comes_out(form)
            assert shown.code != 2, f"{form}: {shown.stderr}"
            again = self._comes_out(form)[1]
            self._plain[form] = {part: value for part, value in first.items() if again.get(part) == value}
            self._varying[form] = (first.keys() | again.keys()) - self._plain[form].keys()
        return self._plain[form]

    def check(self, case: Case) -> str:
        """Add the option: something changes, or the refusal names it."""
        option = parameters_of(case.verb)[case.option]
        is_on = option.is_flag and option.default is True
        name = option.secondary_opts[0] if is_on else max(option.opts, key=len)
        others = (
            text
            for (form, of), text in OTHER_VALUES.items()
            if of == case.option and case.form.startswith(form)
        )
        value = next(others, VALUES.get(case.option))
        assert value is not None, f"{case.verb} {name}: no value to try"
        words = f"{case.form} {name} {value}".rstrip()
        shown, found = self._comes_out(words)
        assert "internal error" not in shown.stderr, f"{words}: {shown.stderr}"
        assert "Traceback" not in shown.stderr, f"{words}: {shown.stderr}"
        if shown.code == 2:
            said = shown.stderr.lower()
            flags = (
                *option.opts,
                value or name,
                case.option,
                name.strip("-").replace("-", "_"),
                name.strip("-"),
            )
            assert any(flag.lower() in said for flag in flags), f"{words}: refused with {shown.stderr}"
            return "refused"
        if any(case.form.startswith(form) and case.option == name for form, name in NO_CHANGE):
            return "excepted"
        plain = self.plain(case.form)
        steady = {part: value for part, value in found.items() if part not in self._varying[case.form]}
        assert steady != plain, f"{words}: nothing changes, and it is not refused"
        return "changed"


class Target:
    def __init__(self, folder: Path) -> None:
        self._commands = Commands(folder)
        self._cases = [case for verb in FORMS if verb not in _SLOW for case in cases_of(verb)]

    def case(self, random: np.random.Generator) -> str:
        return self._commands.check(self._cases[random.integers(len(self._cases))])


_SLOW = ("best", "demo")
"""Verbs of which a single case takes many seconds."""
