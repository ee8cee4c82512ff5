"""The command and the files of its user: what it keeps, what it leaves alone, what it says of a bad disk."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.test_compare import write_table

QUICK = ("--rankers", "linearregression, random", "-m", "ndcg@5", "--n-folds", "2")


def start(*words, folder=None):
    return subprocess.Popen(
        [sys.executable, "-c", "from pomona.cli import main; main()", *map(str, words)],
        cwd=folder,
        env={**os.environ, "POMONA_THREADS": "1", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(*words, folder=None):
    """The exit code, standard output and standard error of the command."""
    process = start(*words, folder=folder)
    shown, told = process.communicate()
    assert "Traceback" not in told
    assert "internal error" not in told
    return process.returncode, shown, told


def refused(*words, folder=None):
    """The one line by which the command refuses."""
    code, shown, told = run(*words, folder=folder)
    assert (code, shown) == (2, "")
    last = told.strip().splitlines()[-1]
    assert last.startswith("pomona: ")
    return last


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a megabyte, which can be made read-only."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here: this needs the rights of root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A directory with data, and the comparison of two rankers on them, without a report."""
    folder = tmp_path_factory.mktemp("kept")
    write_table(folder / "f.csv")
    code, _, told = run("compare", "f.csv", *QUICK, "-o", "out", "--no-report", folder=folder)
    assert code == 0, told
    return folder


def test_results_are_read_where_nothing_can_be_written(kept, small_disk, tmp_path):
    shutil.copytree(kept / "out", small_disk / "out")
    shutil.copy(kept / "f.csv", small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    before = contents(small_disk)
    place = small_disk / "out"
    assert run("inspect", place)[0] == 0
    code, shown, _ = run("measures", place, "-m", "err@3", "--json")
    assert (code, "linearregression" in shown.lower()) == (0, True)
    last = refused("report", place)
    assert "cannot be written to: Read-only file system" in last
    assert last.endswith("give --out, a directory for the report")
    code, _, told = run("report", place, "-o", tmp_path / "report", "--only", "headline")
    assert (code, (tmp_path / "report" / "report.html").is_file()) == (0, True), told
    last = refused("compare", place / "spec.toml")
    assert last.startswith(f"pomona: {place}: cannot be written to: Read-only file system")
    assert contents(small_disk) == before


def test_what_a_killed_process_left_is_read_where_nothing_can_be_written(kept, small_disk):
    """The last transactions are in a log beside the store, which cannot be put in order there."""
    import sqlite3

    shutil.copytree(kept / "out", small_disk / "out")
    shutil.copy(kept / "f.csv", small_disk)
    store, copy = small_disk / "out" / "store.sqlite", kept.parent / "copy.sqlite"
    database = sqlite3.connect(store)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("UPDATE facts SET value = '\"pomona compare of the log\"' WHERE name = 'command'")
    database.commit()
    shutil.copy(store, copy)
    log = store.with_name("store.sqlite-wal").read_bytes()
    database.close()
    shutil.copy(copy, store)
    store.with_name("store.sqlite-wal").write_bytes(log)
    store.with_name("store.sqlite-shm").unlink(missing_ok=True)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    code, shown, told = run("inspect", small_disk / "out", "--json")
    assert code == 0, told
    assert json.loads(shown)["command"] == "pomona compare of the log"


def test_a_full_disk_is_called_full(kept, small_disk):
    filler = small_disk / "filler"
    filler.write_bytes(b"0" * (940 << 10))
    code, _, told = run("compare", kept / "f.csv", *QUICK, "-o", small_disk / "out", "--no-report")
    last = told.strip().splitlines()[-1]
    assert code == 2
    assert "no store" not in last
    assert "disk is full" in last or "No space left on device" in last or "is the disk full?" in last
    filler.unlink()
    code, shown, told = run("compare", kept / "f.csv", *QUICK, "-o", small_disk / "out", "--no-report")
    assert code == 0, told
    assert "8 runs done" in shown


def old_report(place, *names):
    (place / "tables").mkdir(parents=True)
    (place / ".pomona-report.json").write_text(json.dumps({"files": names}))
    for name in names:
        (place / name).write_text("the old report")
    return place


def test_a_full_disk_leaves_the_old_report(kept, small_disk):
    shutil.copytree(kept / "out", small_disk / "out")
    place = old_report(small_disk / "report", "report.html", "tables/f-results.csv")
    before = contents(place)
    last = refused("report", small_disk / "out", "-o", place)  # a page has more than a megabyte
    assert "No space left on device" in last
    assert contents(place) == before


def test_the_output_is_checked_before_the_work(kept, tmp_path):
    (tmp_path / "file").write_text("a file")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "report.html").write_text("a stranger's")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.pomona").write_text("a stranger's")
    data = kept / "f.csv"
    before = contents(tmp_path)
    compare = ("compare", data, "--rankers", "mart(n_trees=1000000, early_stopping=none)")  # an endless work
    assert "no such directory" in refused(*compare, "--refit-best", "-o", tmp_path / "none" / "b.pomona")
    assert "cannot be made" in refused(*compare, "-o", tmp_path / "file")
    assert "cannot be made" in refused(*compare, "-o", tmp_path / "file" / "below")
    assert "report.html: is not of Pomona's making" in refused(*compare, "-o", tmp_path / "taken")
    study = ("study", "size", data, "--trees", "1000000", "-o")
    assert "report.html: is not of Pomona's making" in refused(*study, tmp_path / "taken")
    best = ("best", data, "--time", "10m", "-o")
    assert "report.html: is not of Pomona's making" in refused(*best, tmp_path / "taken")
    assert "model.pomona: is there and no work" in refused(*best, tmp_path / "model")
    assert "cannot be made" in refused(*best, tmp_path / "file" / "below")
    assert "holds other files" in refused("report", kept / "out", "-o", tmp_path)
    assert contents(tmp_path) == before


def test_a_spec_in_the_directory_of_its_results_stays_as_it_is(kept, tmp_path):
    shutil.copy(kept / "f.csv", tmp_path)
    spec = tmp_path / "spec.toml"
    rankers = "[[ranker]]\nranker = 'linearregression'\neach.l2 = [0.1, 10.0]\n"
    spec.write_text(f"# mine\nn_folds = 2\n[[dataset]]\nsource = 'f.csv'\n{rankers}")
    before = spec.read_bytes()
    code, _, told = run("compare", spec, "--no-report", "-o", tmp_path)
    assert (code, spec.read_bytes()) == (0, before), told
    code, _, told = run("compare", "spec.toml", "--no-report", folder=tmp_path)  # by default: beside the spec
    assert (code, spec.read_bytes()) == (0, before)
    assert "8 of 8 runs were finished before" in told


def test_a_directory_and_its_data_move(kept, tmp_path):
    there = tmp_path / "on" / "another" / "machine"
    shutil.copytree(kept, there)
    hidden = kept.with_name("hidden")
    kept.rename(hidden)
    try:
        place = there / "out"
        code, _, told = run("compare", place / "spec.toml", "--no-report", "--refit-best")
        assert code == 0, told
        assert "8 of 8 runs were finished before" in told
        assert (place / "best.pomona").is_file()
        assert run("measures", place, "-m", "err@3")[0] == 0
        (there / "f.csv").rename(there / "g.csv")
        assert "the data of f are not at" in refused("measures", place, "-m", "err@3")
    finally:
        hidden.rename(kept)


def test_changed_data_are_not_joined_with_kept_scores(kept, tmp_path):
    shutil.copytree(kept, tmp_path / "copy")
    data = tmp_path / "copy" / "f.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:-1]))
    for words in (("measures", "-m", "err@3"), ("informative",)):
        last = refused(words[0], tmp_path / "copy" / "out", *words[1:])
        assert "changed since the comparison" in last
    assert run("measures", tmp_path / "copy" / "out", "-m", "ndcg@5")[0] == 0  # which was kept


def test_two_processes_in_one_directory(kept, tmp_path):
    rankers = "mart(n_trees=100000, early_stopping=none)"
    words = ("compare", kept / "f.csv", "--rankers", rankers, "-o", tmp_path / "out", "--no-report")
    first = start(*words, "--time-limit", "60")
    try:
        until = time.monotonic() + 120
        while not (tmp_path / "out" / "store.sqlite").exists() and time.monotonic() < until:
            time.sleep(0.1)
        last = refused(*words)
        assert f"process {first.pid} is comparing here" in last
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
    code, shown, _ = run("inspect", tmp_path / "out", "--json")
    assert (code, set(json.loads(shown)["runs"])) <= (0, {"queued", "running", "done"})


def test_a_report_that_was_killed_leaves_the_old_one(kept, tmp_path):
    shutil.copytree(kept, tmp_path / "copy")
    place = tmp_path / "copy" / "out"
    old_report(place, "report.html", "tables/f-results.csv")
    for _ in range(2):
        process = start("report", place)
        until = time.monotonic() + 120
        while not list(place.glob(".pomona-report-*-*/tables")) and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert (place / "report.html").read_text() == "the old report"
        assert (place / "tables" / "f-results.csv").read_text() == "the old report"
    assert run("report", place)[0] == 0
    assert "<html" in (place / "report.html").read_text(encoding="utf-8")
    assert not list(place.glob(".pomona-report-*-*"))


def test_stale_files_of_a_report_go_and_others_stay(kept, tmp_path):
    place = old_report(tmp_path / "report", "report.html", "tables/stale.csv", "tables/f-results.csv")
    (place / "tables" / "mine.csv").write_text("mine")
    code, shown, _ = run("report", kept / "out", "-o", place, "--only", "results")
    assert (code, shown) == (0, f"report: {place / 'report.html'}\n")
    now = contents(place)
    assert "tables/stale.csv" not in now
    assert now["tables/mine.csv"] == b"mine"
    assert b"the old report" not in now.values()
    assert not (kept / "out" / "report.html").exists()
