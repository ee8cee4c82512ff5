import sqlite3
import subprocess
import sys

import pytest

from pomona.errors import PomonaError
from pomona.experiments.execute import RunResult
from pomona.experiments.run import RunSpec
from pomona.experiments.store import Store

RUN = RunSpec("toy", 1, "MART", "mart", {"n_trees": 3}, 0, "digest")
OTHER = RunSpec("toy", 2, "MART", "mart", {"n_trees": 3}, 0, "other")

KINDS = ("values", "scores", "model")


def done(run, **record):
    files = {"values": b"values", "scores": b"scores", "model": b"model"}
    return RunResult(run.id, "done", record=record, files=files)


def test_a_run_from_queued_to_done(tmp_path):
    with Store(tmp_path / "new") as store:
        store.enqueue([RUN, OTHER])
        row = store.rows()[RUN.id]
        assert (row["dataset"], row["fold"], row["ranker"], row["state"]) == ("toy", 1, "MART", "queued")
        store.begin(RUN.id)
        assert store.rows()[RUN.id]["state"] == "running"
        store.finish(done(RUN, train_seconds=1.5))
        assert store.damage(RUN.id) is None
        assert store.read(RUN.id, "model") == b"model"
        assert store.path(RUN.id, "values").read_bytes() == b"values"
    with Store(tmp_path / "new", to_write=False) as store:
        row = store.rows()[RUN.id]
        assert (row["state"], row["attempts"], row["record"]) == ("done", 1, {"train_seconds": 1.5})
        assert row["started"] <= row["finished"]
        assert store.rows()[OTHER.id]["state"] == "queued"


def test_enqueueing_again_touches_nothing_that_is_finished(tmp_path):
    with Store(tmp_path) as store:
        store.enqueue([RUN])
        store.begin(RUN.id)
        store.finish(done(RUN))
        before = store.rows()[RUN.id]
        store.enqueue([RUN])
        assert store.rows()[RUN.id] == before
        store.finish(RunResult(RUN.id, "failed", "late news of a finished run"))
        assert store.rows()[RUN.id] == before


def test_what_a_dead_process_left_is_put_in_order(tmp_path):
    with Store(tmp_path) as store:
        store.enqueue([RUN])
    # As kill -9 leaves it: files of a run are there, one half-written, and its row says running.
    with sqlite3.connect(tmp_path / "store.sqlite") as database:
        database.execute("UPDATE runs SET state = 'running', attempts = 1")
    database.close()
    (tmp_path / "values" / f"{RUN.id}.parquet").write_bytes(b"from the dead")
    (tmp_path / "models" / f".{RUN.id}.pomona.0011.part").write_bytes(b"half")
    with Store(tmp_path) as store:
        assert store.rows()[RUN.id]["state"] == "queued"
        assert store.damage(RUN.id).endswith("store.sqlite: is not as toy fold 1 MART seed 0 left it")
        assert list((tmp_path / "models").iterdir()) == []
        store.begin(RUN.id)
        store.finish(done(RUN))
        assert store.rows()[RUN.id]["attempts"] == 2
        assert store.path(RUN.id, "values").read_bytes() == b"values"


def test_nothing_is_running_once_the_store_is_closed(tmp_path):
    with Store(tmp_path) as store:
        store.enqueue([RUN])
        store.begin(RUN.id)
    with Store(tmp_path, to_write=False) as store:
        assert store.rows()[RUN.id]["state"] == "queued"


def test_one_process_at_a_time_and_its_lock_dies_with_it(tmp_path):
    code = "from pomona.experiments.store import Store\n"
    code += f"store = Store({str(tmp_path)!r}); print('held', flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(PomonaError, match=f"process {holder.pid} is comparing here"):
        Store(tmp_path)
    with Store(tmp_path, to_write=False) as looking:  # looking on is allowed
        assert looking.rows() == {}
    holder.kill()
    holder.communicate()
    with Store(tmp_path):
        pass


def test_in_one_process_too(tmp_path):
    with Store(tmp_path), pytest.raises(PomonaError, match="is comparing here"):
        Store(tmp_path)


def test_it_is_in_wal_mode(tmp_path):
    with Store(tmp_path) as store:
        assert store.database.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_directory_of_any_name(tmp_path):
    folder = tmp_path / "a b?mode=x#%20é"
    with Store(folder) as store:
        store.remember(seconds=1.5)
    with Store(folder, to_write=False) as store:
        assert store.fact("seconds") == 1.5
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_a_database_of_others_is_not_touched(tmp_path):
    with sqlite3.connect(tmp_path / "store.sqlite") as database:
        database.execute("CREATE TABLE mine (a)")
    database.close()
    before = (tmp_path / "store.sqlite").read_bytes()
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / ".mine.part").write_text("mine")
    for to_write in (True, False):
        with pytest.raises(PomonaError, match="is no store of Pomona's"):
            Store(tmp_path, to_write=to_write)
    assert (tmp_path / "store.sqlite").read_bytes() == before
    (tmp_path / "store.sqlite").unlink()
    with Store(tmp_path):
        pass
    assert (tmp_path / "models" / ".mine.part").read_text() == "mine"


def test_looking_writes_nothing(tmp_path):
    with Store(tmp_path) as store:
        store.enqueue([RUN])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with Store(tmp_path, to_write=False) as store:
        assert store.rows()[RUN.id]["state"] == "queued"
        with pytest.raises(PomonaError, match="cannot be written"):
            store.remember(seconds=1.5)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_fails_in_the_middle_is_undone(tmp_path):
    """And the next transaction is a new one."""
    with Store(tmp_path) as store:
        with pytest.raises(AttributeError):
            store.enqueue([RUN, None])
        assert store.rows() == {}
        store.enqueue([RUN])
        assert list(store.rows()) == [RUN.id]


def test_facts(tmp_path):
    with Store(tmp_path) as store:
        assert store.fact("seconds", 0.0) == 0.0
        store.remember(seconds=1.5, command="pomona")
        store.remember(seconds=2.5)
        assert (store.fact("seconds"), store.fact("command")) == (2.5, "pomona")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(PomonaError, match="is no comparison"):
        Store(tmp_path, to_write=False)
    (tmp_path / "store.sqlite").write_text("something else entirely, and long enough to be looked at")
    with pytest.raises(PomonaError, match=r"store\.sqlite: is no store of Pomona's"):
        Store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(PomonaError, match="cannot be made"):
        Store(tmp_path / "file" / "below")


@pytest.mark.parametrize("kind", ["values", "scores", "model"])
def test_what_is_not_as_a_run_left_it(tmp_path, kind):
    with Store(tmp_path) as store:
        store.enqueue([RUN, OTHER])
        for run in (RUN, OTHER):
            store.begin(run.id)
            store.finish(RunResult(run.id, "done", files=dict.fromkeys(KINDS, run.id.encode())))
        path = store.path(RUN.id, kind)
        for content in (b"", RUN.id.encode()[:-1], RUN.id.encode() + b"0", OTHER.id.encode()):
            path.write_bytes(content)
            text = f"{path}: is not as toy fold 1 MART seed 0 left it"
            assert store.damage(RUN.id) == text
            with pytest.raises(
                PomonaError, match=f"{text}: the same comparison again with --verify does this"
            ):
                store.read(RUN.id, kind)
        path.unlink()
        assert store.damage(RUN.id).startswith(f"{path}: cannot be read (No such file or directory)")
        assert store.damage(OTHER.id) is None


def test_what_a_run_leaves_later_is_added_to_its_digests(tmp_path):
    with Store(tmp_path) as store:
        store.enqueue([RUN])
        store.begin(RUN.id)
        store.finish(done(RUN))
        store.requeue(RUN.id)
        store.begin(RUN.id)
        store.finish(RunResult(RUN.id, "done", files={"values": b"judged again"}))
        assert store.damage(RUN.id) is None
