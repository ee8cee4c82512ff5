import hashlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys

import polars as pl
import pytest

import pomona as pm
from pomona.errors import PomonaError
from pomona.experiments.compare import compare
from pomona.experiments.results import read_results
from pomona.experiments.source import fold_sources
from pomona.experiments.spec_options import spec_from_options


def test_every_run_is_a_row(finished):
    runs = finished.runs
    assert runs.height == 2 * 2 * 2  # folds × seeds × rankers
    assert set(runs["state"]) == {"done"}
    assert runs["ranker"].unique().sort().to_list() == ["LambdaMART(n_trees=6)", "short"]
    assert runs.filter(ranker="short")["kind"].unique().to_list() == ["MART"]
    assert set(runs["family"]) == {"list-wise", "point-wise"}
    assert set(runs["trained_for"]) == {"ndcg@5"}
    assert not runs["is_bound"].any()
    for column in ("train_seconds", "score_seconds", "peak_memory", "model_bytes", "n_test_docs", "threads"):
        assert runs[column].null_count() == 0
    assert runs["best_iteration"].max() <= 6
    assert json.loads(runs.filter(ranker="short")["parameters"][0])["n_trees"] == 3
    assert runs["attempts"].to_list() == [1] * 8


def test_values_are_those_of_the_queries(finished):
    values = finished.values
    assert values.columns[:6] == ["dataset", "fold", "ranker", "seed", "part", "qid"]
    assert values.columns[6:] == list(finished.spec.judged())
    test = values.filter(part="test", ranker="short", seed=1)
    assert test.height == 24  # each query is tested once
    assert test["qid"].n_unique() == 24
    for fold in (1, 2):
        data = finished.test_data("toy", fold)
        scores = finished.scores("toy", fold, "short", 1)
        expected = pm.evaluate(data, scores, "lightgbm:ap", per_query=True)["lightgbm:ap"]
        assert test.filter(fold=fold)["lightgbm:ap"].to_list() == expected.tolist()


def test_the_test_data_are_those_of_the_fold(finished):
    fold = fold_sources(finished.spec.datasets[0], 2)[1].load()
    assert finished.test_data("toy", 2).qids.tolist() == fold.test.qids.tolist()


def test_curves(finished):
    curve = finished.curves.filter(ranker="LambdaMART(n_trees=6)", fold=1, seed=0, part="valid")
    assert curve["iteration"].to_list() == [1, 2, 3, 4, 5, 6]
    assert set(curve["measure"]) == {"ndcg@5"}
    best = finished.runs.filter(ranker="LambdaMART(n_trees=6)", fold=1, seed=0)["best_iteration"][0]
    assert curve["value"].arg_max() == best - 1


def test_the_dataset_table(finished):
    (row,) = finished.datasets.to_dicts()
    assert (row["dataset"], row["queries"], row["features"]) == ("toy", 24, 5)
    assert row["min_docs"] <= row["mean_docs"] <= row["max_docs"]
    assert len(row["digest"]) == 32
    assert set(finished.warnings.columns) == {"dataset", "check", "text"}


def test_what_is_needed_to_repeat_it(finished):
    facts = finished.facts
    assert facts["command"] == "pomona compare small.toml"
    assert facts["pomona"] == pm.__version__
    assert facts["processes"] == 2
    assert facts["total_seconds"] > 0
    assert facts["spec"] == finished.spec.to_toml()
    assert facts["seeds"] == [0, 1]


def test_no_scores_of_what_was_not_run(finished):
    with pytest.raises(PomonaError, match="there are no scores of nobody, toy fold 1, seed 0"):
        finished.scores("toy", 1, "nobody", 0)


def test_runs_that_failed_or_are_yet_to_come(finished, tmp_path):
    shutil.copytree(finished.directory, tmp_path / "copy")
    database = sqlite3.connect(tmp_path / "copy" / "store.sqlite", isolation_level=None)
    first, second = (
        row[0] for row in database.execute("SELECT run FROM runs WHERE ranker = 'short' LIMIT 2")
    )
    database.execute(
        "UPDATE runs SET state = 'failed', reason = 'because', record = '{}' WHERE run = ?", [first]
    )
    database.execute("UPDATE runs SET state = 'queued', record = '{}' WHERE run = ?", [second])
    versions = json.dumps({"versions": {"pomona": "0.0.1"}})
    one_run = "(SELECT run FROM runs WHERE state = 'done' LIMIT 1)"
    database.execute(f"UPDATE runs SET record = json_patch(record, ?) WHERE run = {one_run}", [versions])
    for run, record, digests in database.execute("SELECT run, record, digests FROM runs").fetchall():
        digest = hashlib.blake2b(record.encode(), digest_size=16).hexdigest()
        changed = json.dumps({**json.loads(digests), "record": digest})
        database.execute("UPDATE runs SET digests = ? WHERE run = ?", [changed, run])
    database.close()
    results = read_results(tmp_path / "copy")
    counts = dict(results.runs["state"].value_counts().iter_rows())
    assert counts == {"done": 6, "failed": 1, "queued": 1}
    assert results.runs.filter(state="failed")["reason"].to_list() == ["because"]
    assert results.runs.filter(state="failed")["train_seconds"].to_list() == [None]
    assert results.values.filter(part="test", ranker="short").height == 2 * 12
    assert "different versions of pomona" in results.warnings.filter(check="several versions")["text"][0]
    with sqlite3.connect(tmp_path / "copy" / "store.sqlite") as database:
        database.execute("UPDATE runs SET state = 'queued'")
    database.close()
    nothing = read_results(tmp_path / "copy")
    assert nothing.values.is_empty()
    assert nothing.values.schema == results.values.schema
    assert nothing.curves.schema == results.curves.schema


def test_results_can_be_read_where_the_data_are_not(finished, tmp_path):
    shutil.copytree(finished.directory, tmp_path / "moved")
    spec = (tmp_path / "moved" / "spec.toml").read_text()
    start = spec.index("simulate")
    line = spec[start : spec.index("\n", start)]
    (tmp_path / "moved" / "spec.toml").write_text(spec.replace(line, 'source = "/nowhere/to/be/found"'))
    assert read_results(tmp_path / "moved").values.equals(finished.values)


def test_a_comparison_of_an_earlier_version_is_read_and_told(finished, tmp_path):
    """It kept its spec in a file only, and other digests of its data."""
    shutil.copytree(finished.directory, tmp_path / "old")
    with sqlite3.connect(tmp_path / "old" / "store.sqlite") as database:
        database.execute("DELETE FROM facts WHERE name IN ('spec', 'places', 'version', 'spec files')")
        (data,) = database.execute("SELECT value FROM facts WHERE name = 'data'").fetchone()
        old = re.sub(r'"digest": "[0-9a-f]*"', '"digest": "0"', data)
        database.execute("UPDATE facts SET value = ? WHERE name = 'data'", [old])
    database.close()
    results = read_results(tmp_path / "old")
    assert results.values.equals(finished.values)
    (text,) = results.warnings.filter(check="earlier version")["text"]
    assert text.endswith("run the comparison again")
    with pytest.raises(PomonaError, match=r"an earlier version of Pomona compared on toy.*comparison again"):
        results.test_data("toy", 1)
    assert compare(finished.spec, tmp_path / "old").is_current


def test_no_comparison(tmp_path):
    with pytest.raises(PomonaError, match="is no comparison"):
        read_results(tmp_path)


@pytest.mark.usefixtures("in_process")
def test_a_validation_part_that_was_cut_is_told(tmp_path):
    for seed, name in enumerate(("train", "test")):
        pm.write_letor(pm.simulate(15, docs_per_query=6, n_features=3, seed=seed), tmp_path / f"{name}.txt")
    spec = spec_from_options(
        [str(tmp_path / "train.txt")],
        "a=mart(n_trees=2), b=mart(n_trees=2, early_stopping=none)",
        test=str(tmp_path / "test.txt"),
        bounds=False,
    )
    results = compare(spec, tmp_path / "out")
    (text,) = results.warnings.filter(pl.col("check") == "no validation part")["text"]
    assert text == "the data have none, so a fifth of the training queries was kept from a"


def test_a_changed_record_is_noticed(finished, tmp_path):
    shutil.copytree(finished.directory, tmp_path / "copy")
    with sqlite3.connect(tmp_path / "copy" / "store.sqlite") as database:
        database.execute("UPDATE runs SET record = json_set(record, '$.train_seconds', 0.001)")
    database.close()
    with pytest.raises(PomonaError, match=r"store\.sqlite: is not as toy fold 1 .* left it"):
        read_results(tmp_path / "copy")


CODE = """
from pathlib import Path
Path({marker!r}).touch()
from dataclasses import dataclass
from pomona.measures.precision import Precision
from pomona.rankers.forests.mart import MART

class Mine(MART):
    name = "mine"
    depth: int | None = None

@dataclass(frozen=True)
class Own(Precision):
    name = "own"
"""


@pytest.mark.usefixtures("in_process")
def test_to_read_results_and_to_report_them_runs_no_code(make_spec, tmp_path):
    """A directory may come from anybody, and so its spec may name any file."""
    file, marker, out = tmp_path / "mine.py", tmp_path / "was run", tmp_path / "out"
    file.write_text(CODE.format(marker=str(marker)))
    measures = [f"{file}:Own@3", "ap"]
    results = compare(make_spec(f"a={file}:Mine(n_trees=2), b=mart(n_trees=2)", measures=measures), out)
    assert marker.exists()
    marker.unlink()
    code = (
        "import sys; from pomona.experiments.results import read_results\n"
        "from pomona.experiments.findings import find\n"
        "from pomona.report.comparison import comparison_report\n"
        "results = read_results(sys.argv[1])\n"
        "findings = find(results, n_resamples=200)\n"
        "comparison_report(findings)\n"
        "aims = set(results.runs['trained_for'].drop_nulls())\n"
        "print(findings.main, *sorted(set(results.runs['kind'])), *sorted(aims))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["own@3", "MART", "Mine", "own@3"]
    assert not marker.exists()
    file.unlink()  # nor is the file needed
    assert read_results(out).values.equals(results.values)
