import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

import pomona as pm
from experiments.small_study import done as done_here
from pomona.errors import MissingExtraError, PomonaError
from pomona.experiments import run as run_module
from pomona.experiments.analysis.measure_values import compare_measures_of
from pomona.experiments.analysis.ranked_system import systems_of_results
from pomona.experiments.compare import compare
from pomona.experiments.data_spec import DataSpec
from pomona.experiments.findings import find
from pomona.experiments.refit import refit_best
from pomona.experiments.results import read_results
from pomona.experiments.spec import read_spec
from pomona.experiments.spec_options import spec_from_options
from pomona.experiments.store import Store


class Record:
    """Remembers what it is told."""

    def __init__(self):
        self.runs, self.finished, self.ended = [], {}, []

    def start(self, runs, finished):
        self.runs, self.finished = runs, finished

    def see(self, event):
        if event.result:
            self.ended.append(event.run)


def same(one, other):
    """The same numbers, whatever they cost."""
    keys = ("dataset", "fold", "ranker", "seed")
    columns = [*keys, "state", "best_iteration", "parameters", "model_bytes"]
    return (
        one.values.equals(other.values)
        and one.curves.equals(other.curves)
        and one.runs.select(columns).equals(other.runs.select(columns))
        and all(
            one.scores(*row).tolist() == other.scores(*row).tolist()
            for row in one.runs.select(keys).iter_rows()
        )
    )


def test_the_time_in_all_has_the_rehearsal_in_it(make_spec, in_process, monkeypatch, tmp_path):
    now = [0.0]
    monkeypatch.setattr(
        "pomona.experiments.compare.time", SimpleNamespace(time=time.time, monotonic=lambda: now[0])
    )
    monkeypatch.setattr("pomona.experiments.compare._rehearse", lambda *_: now.__setitem__(0, 60.0) or {})
    results = compare(make_spec("mart(n_trees=2)"), tmp_path)
    assert results.facts["total_seconds"] == 60


def test_the_same_command_again_does_nothing_again(finished):
    before = {path: path.stat().st_mtime_ns for path in finished.directory.rglob("*.p*")}
    watch = Record()
    again = compare(finished.spec, finished.directory, watch=watch)
    assert (len(watch.runs), len(watch.finished), watch.ended) == (8, 8, [])
    assert same(again, finished)
    assert again.runs.equals(finished.runs)
    assert {path: path.stat().st_mtime_ns for path in finished.directory.rglob("*.p*")} == before


def test_threads_and_processes_do_not_change_a_number(finished, tmp_path):
    assert same(compare(finished.spec, tmp_path, n_jobs=1), finished)


@pytest.mark.usefixtures("in_process")
def test_a_changed_spec_reuses_what_it_can(make_spec, tmp_path):
    first = compare(make_spec("a=mart(n_trees=2), b=mart(n_trees=3)", measures=["ap"]), tmp_path)
    models = {path: path.stat().st_mtime_ns for path in (tmp_path / "models").iterdir()}
    watch = Record()
    # One more measure, one ranker renamed, one dropped, one new.
    spec = make_spec("c=mart(n_trees=4, measure=ap), d=mart(n_trees=2, measure=ap)", measures=["ap", "err"])
    second = compare(spec, tmp_path, watch=watch)
    assert sorted(run.ranker for run in watch.ended) == ["c", "c", "d", "d"]  # d is only judged again
    assert {path for path in models if path.stat().st_mtime_ns == models[path]} == set(models)
    old, new = first.values.filter(ranker="a"), second.values.filter(ranker="d")
    assert new["ap"].to_list() == old["ap"].to_list()
    assert new["err"].null_count() == 0
    assert set(second.runs["ranker"]) == {"c", "d"}
    kept = first.runs.filter(ranker="a")["train_seconds"].to_list()
    assert second.runs.filter(ranker="d")["train_seconds"].to_list() == kept
    # Back to the first: everything is there.
    watch = Record()
    assert same(compare(first.spec, tmp_path, watch=watch), first)
    assert watch.ended == []


def test_an_optional_dataset_that_is_not_here_is_named(make_spec, tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_DATA", str(tmp_path))
    absent = DataSpec("the big one", "mslr-web10k", optional=True)
    spec = make_spec("mart(n_trees=2)")
    results = compare(replace(spec, datasets=(*spec.datasets, absent)), tmp_path / "out", n_jobs=1)
    assert results.runs["dataset"].unique().to_list() == ["toy"]
    (told,) = [text for text in find(results, n_resamples=100).warnings if "the big one" in text]
    assert told.startswith("the big one is left out: MSLR-WEB10K is not here: get it from")


def test_a_failed_ranker_is_a_row_and_the_rest_goes_on(make_spec, tmp_path):
    rankers = "a=mart(n_trees=2), b=lambdamart(n_trees=100000000, early_stopping=none)"
    spec = make_spec(rankers, time_limit=1.0, folds=[1])
    results = compare(spec, tmp_path, n_jobs=1)
    states = dict(results.runs.select("ranker", "state").iter_rows())
    assert states == {"a": "done", "b": "failed"}
    assert results.runs.filter(ranker="b")["reason"].to_list() == ["took longer than the time limit of 1 s"]
    assert set(results.values["ranker"]) == {"a"}
    watch = Record()
    compare(spec, tmp_path, n_jobs=1, watch=watch)
    assert watch.ended == []  # a failure is an outcome too
    compare(spec, tmp_path, n_jobs=1, watch=watch, retry=True)
    assert [run.ranker for run in watch.ended] == ["b"]
    compare(make_spec(rankers, time_limit=1.5, folds=[1]), tmp_path, n_jobs=1, watch=watch)
    assert [run.ranker for run in watch.ended] == ["b", "b"]  # there is more time now
    attempts = dict(read_results(tmp_path).runs.select("ranker", "attempts").iter_rows())
    assert attempts == {"a": 1, "b": 3}


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("ranker", "expected"),
    [
        ("lambdamart(growth=oblivios)", "ranker LambdaMART.*did you mean 'oblivious'"),
        ("mart(n_trees=0)", r"ranker MART\(n_trees=0\): n_trees must be an integer of at least 1, found 0"),
        ("mart(monotone=[1, 0])", "found 2 monotone constraints for 5 features"),
    ],
)
def test_a_value_that_a_ranker_refuses_stops_the_comparison_before_any_training(
    make_spec, tmp_path, ranker, expected
):
    with pytest.raises(PomonaError, match=expected):
        compare(make_spec(f"lambdamart(n_trees=3), {ranker}"), tmp_path)
    with Store(tmp_path, to_write=False) as store:
        assert {row["attempts"] for row in store.rows().values()} == {0}


def test_bad_data_leave_no_directory_behind(make_spec, tmp_path):
    (tmp_path / "bad.txt").write_text("1 qid:1 1:0.5\n2 qid:1 1:x\n")
    spec = spec_from_options([str(tmp_path / "bad.txt")], "mart")
    with pytest.raises(PomonaError, match=r"bad\.txt:2:\d+: found 'x'"):
        compare(spec, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_search_without_optuna_is_refused_at_once(make_spec, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError):
        compare(make_spec("mart", n_trials=3), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("in_process")
def test_killed_before_the_first_run(make_spec, tmp_path):
    spec = make_spec("a=mart(n_trees=2)")
    (tmp_path / "store.sqlite").touch()  # all that there may be
    with pytest.raises(PomonaError, match="is no store"):
        read_results(tmp_path)
    with Store(tmp_path) as store:
        store.remember(spec=spec.to_toml())
    with pytest.raises(PomonaError, match="was stopped before its first run"):
        read_results(tmp_path)
    assert set(compare(spec, tmp_path).runs["state"]) == {"done"}


@pytest.mark.usefixtures("in_process")
def test_a_finished_run_without_its_files_is_done_again(make_spec, tmp_path):
    spec = make_spec("a=mart(n_trees=2)")
    first = compare(spec, tmp_path)
    lost = first.runs["run"][0]
    (tmp_path / "values" / f"{lost}.parquet").unlink()
    watch = Record()
    with pytest.warns(
        UserWarning, match=rf"{lost}\.parquet: cannot be read .*: toy fold . a seed 0 is done again"
    ):
        assert same(compare(spec, tmp_path, watch=watch), first)
    assert [run.id for run in watch.ended] == [lost]


def damaged(files, random):
    """One of the files changed in a byte, cut short, lost, or another in its place; put back at the end."""
    file, other = random.sample(files, 2)
    whole, content = file.read_bytes(), bytearray(file.read_bytes())
    kind = random.randrange(6)
    if kind < 3:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    elif kind == 3:
        content = content[: random.randrange(len(content))]
    elif kind == 4:
        content = other.read_bytes() if other.read_bytes() != whole else content + b"0"
    file.unlink() if kind == 5 else file.write_bytes(content)
    yield file
    file.write_bytes(whole)


def test_no_damage_goes_unnoticed(finished, tmp_path):
    """Whatever happens to any file of a run, the store names the file; and nothing else."""
    shutil.copytree(finished.directory, tmp_path / "copy")
    chance = random.Random(1)
    with Store(tmp_path / "copy", to_write=False) as store:
        runs = sorted(store.rows())
        assert [store.damage(run) for run in runs] == [None] * len(runs)
        kinds = ("values", "scores", "model")
        files = [store.path(run, kind) for run in runs for kind in kinds]
        for _ in range(300):
            for file in damaged(files, chance):
                run = next(run for run in runs if run in file.name)
                assert store.damage(run).startswith(f"{file}: ")
        assert [store.damage(run) for run in runs] == [None] * len(runs)


@pytest.mark.usefixtures("in_process")
def test_damaged_results_are_refused_by_name_and_made_again(make_spec, tmp_path):
    spec = make_spec("a=mart(n_trees=2), b=random")
    first = compare(spec, tmp_path)
    one, other = (tmp_path / "values" / f"{run}.parquet" for run in first.runs["run"][:2])
    one_content, other_content = one.read_bytes(), other.read_bytes()
    one.write_bytes(other_content)
    other.write_bytes(one_content)
    with pytest.raises(
        PomonaError, match=r"parquet: is not as toy fold 1 a seed 0 left it: the same compar"
    ) as e:
        read_results(tmp_path)
    assert "\n" not in str(e.value)
    watch = Record()
    with pytest.warns(UserWarning, match="is done again"):
        assert same(compare(spec, tmp_path, watch=watch), first)
    assert {run.id for run in watch.ended} == set(first.runs["run"][:2])
    scores = tmp_path / "scores" / one.name
    scores.write_bytes(scores.read_bytes()[:-1])
    with pytest.raises(PomonaError, match="is not as toy fold 1 a seed 0 left it"):
        read_results(tmp_path).scores("toy", 1, "a", 0)


@pytest.mark.usefixtures("in_process")
def test_a_store_of_an_earlier_version_is_done_again(make_spec, tmp_path):
    spec = make_spec("a=mart(n_trees=2)", folds=[1])
    first = compare(spec, tmp_path)
    with sqlite3.connect(tmp_path / "store.sqlite") as database:
        database.execute("ALTER TABLE runs DROP COLUMN digests")
    database.close()
    with pytest.raises(PomonaError, match="is not as toy fold 1 a seed 0 left it"):
        read_results(tmp_path)
    with pytest.warns(UserWarning, match="is done again"):
        assert same(compare(spec, tmp_path), first)


def test_a_ranker_that_never_gets_ready_costs_one_rehearsal(make_spec, tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(
        "import time\nfrom pomona.rankers.forests.mart import MART\n"
        "class Slow(MART):\n    name = 'slow'\n    def learn(self, *given):\n        time.sleep(600)\n"
    )
    monkeypatch.setattr("pomona.experiments.runner.PREPARATION_SECONDS", 4.0)
    spec = make_spec(f"slow={tmp_path / 'slow.py'}:Slow", time_limit=0.5, seeds=[0, 1, 2])
    started = time.monotonic()
    results = compare(spec, tmp_path / "out", n_jobs=1)
    assert time.monotonic() - started < 60
    assert set(results.runs.filter(ranker="slow")["state"]) == {"failed"}
    assert set(results.runs.filter(ranker="slow")["reason"]) == {"was not ready to run after 4.5 s"}


@pytest.mark.usefixtures("in_process")
def test_a_ranker_without_chance_is_run_once_for_all_seeds(make_spec, tmp_path, monkeypatch):
    real = run_module._run_of
    monkeypatch.setattr(run_module, "_run_of", lambda *given: replace(real(*given), uses_seed=False))
    watch = Record()
    results = compare(make_spec("a=mart(n_trees=2)", seeds=[0, 1, 2], folds=[1]), tmp_path, watch=watch)
    assert len(watch.ended) == 1
    assert results.runs["seed"].to_list() == [0, 1, 2]
    assert results.runs["run"].n_unique() == 1
    assert results.values.group_by("seed").agg(pl.col("ap").sum())["ap"].n_unique() == 1


@pytest.mark.usefixtures("in_process")
def test_ctrl_c_keeps_what_is_done(make_spec, tmp_path):
    class Impatient(Record):
        def see(self, event):
            super().see(event)
            if len(self.ended) == 2:
                raise KeyboardInterrupt

    spec = make_spec("mart(n_trees=2), lambdamart(n_trees=2)", seeds=[0, 1])
    with pytest.raises(KeyboardInterrupt):
        compare(spec, tmp_path, watch=Impatient())
    states = read_results(tmp_path).runs["state"].to_list()
    assert (states.count("done"), states.count("queued")) == (2, 6)


SLOW = "lambdamart(n_trees=150, early_stopping=none), mart(n_trees=400, early_stopping=none)"


def finished_runs(directory):
    """What another process has finished so far: id → when."""
    if not (directory / "store.sqlite").exists():
        return {}
    database = sqlite3.connect(directory / "store.sqlite")
    try:
        return dict(database.execute("SELECT run, finished FROM runs WHERE state = 'done'"))
    except sqlite3.OperationalError:  # it has only just begun
        return {}
    finally:
        database.close()


def test_kill_9_at_any_moment(make_spec, tmp_path):
    """Killed several times, at moments that differ, then left alone: as if it had never been killed."""
    spec = make_spec(SLOW, seeds=[0, 1])
    (tmp_path / "spec.toml").write_text(spec.to_toml())
    directory = tmp_path / "killed"
    code = (
        "from pomona.experiments.compare import compare; from pomona.experiments.spec import read_spec;"
        f"compare(read_spec({str(tmp_path / 'spec.toml')!r}), {str(directory)!r}, n_jobs=2)"
    )
    chance = random.Random(1)
    histories = [{}]
    for kill in range(2):
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        while len(finished_runs(directory)) < 2 * (kill + 1) and process.poll() is None:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.2))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        done = finished_runs(directory)
        assert done.items() >= histories[-1].items()  # none lost, none done again
        assert len(done) < 8  # it was indeed cut short
        histories.append(done)
    resumed = compare(spec, directory, n_jobs=2)
    assert finished_runs(directory).items() >= histories[-1].items()
    assert set(resumed.runs["state"]) == {"done"}
    attempts = dict(resumed.runs.select("run", "attempts").iter_rows())
    assert all(attempts[run] == 1 for run in histories[1])
    assert sum(attempts.values()) <= 8 + 2 * 2  # each kill costs at most the two that were under way
    assert not list(directory.rglob("*.part"))
    assert same(resumed, done_here(spec, tmp_path / "undisturbed"))


@pytest.mark.usefixtures("in_process")
def test_a_second_process_is_refused(make_spec, tmp_path):
    spec = make_spec("a=mart(n_trees=2)")

    class Meddler(Record):
        def start(self, runs, finished):
            with pytest.raises(PomonaError, match=f"process {os.getpid()} is comparing here"):
                compare(spec, tmp_path)
            self.was_refused = True

    watch = Meddler()
    compare(spec, tmp_path, watch=watch)
    assert watch.was_refused


def test_a_script_needs_no_guard(make_spec, tmp_path):
    """Workers import nothing of the program that started them."""
    (tmp_path / "spec.toml").write_text(make_spec("a=mart(n_trees=2)").to_toml())
    (tmp_path / "script.py").write_text(
        "from pomona.experiments.compare import compare\nfrom pomona.experiments.spec import read_spec\n"
        f"spec = read_spec({str(tmp_path / 'spec.toml')!r})\n"
        f"results = compare(spec, {str(tmp_path / 'out')!r}, n_jobs=1)\n"
        "print(results.runs['state'].to_list())"
    )
    shown = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "['done', 'done']\n"


@pytest.mark.usefixtures("in_process")
def test_a_store_goes_on_on_another_machine(tmp_path, monkeypatch, own_ranker):
    """Copied with everything else, to where data, rankers and the spec lie elsewhere."""
    here, there = tmp_path / "here", tmp_path / "there"
    for k in range(1, 6):
        data = pm.simulate(4, docs_per_query=6, n_features=3, seed=k)
        path = here / "data" / "MQ2008" / f"S{k}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        pm.write_letor(pm.Dataset(data.X, data.y, data.qid + 100 * k), path)
    shutil.copy(own_ranker.rpartition(":")[0], here / "mine.py")
    (here / "spec.toml").write_text(
        "[[dataset]]\nsource = 'mq2008'\nfolds = [1, 2]\n"
        "[[ranker]]\nranker = 'mine.py:Mine'\nn_trees = 2\nsearch.n_leaves = [2, 3]\n[search]\nn_trials = 2\n"
    )
    monkeypatch.setenv("POMONA_DATA", str(here / "data"))
    first = compare(read_spec(here / "spec.toml"), here / "out")
    assert set(first.runs["state"]) == {"done"}
    assert set(first.runs["kind"]) == {"Mine", "IdealRanker", "WorstRanker"}
    here.rename(there)
    monkeypatch.setenv("POMONA_DATA", str(there / "data"))
    watch = Record()
    second = compare(read_spec(there / "spec.toml"), there / "out", watch=watch)
    assert watch.ended == []
    assert second.values.equals(first.values)


FILE = "mart(n_trees=2, min_docs=1)"


def write_table(path, names="bm25,clicks,noise", seed=0, n_queries=12):
    """A table of which only `clicks`, the second feature, tells the label."""
    chance = random.Random(seed)
    lines = [f"label,qid,{names}"]
    for row in range(6 * n_queries):
        label = chance.randrange(3)
        lines.append(f"{label},{row // 6},{chance.random():.3f},{label},{chance.random():.3f}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.usefixtures("in_process")
def test_other_names_of_features_are_other_data(tmp_path):
    source = write_table(tmp_path / "f.csv")
    spec = spec_from_options([source], "linearregression(without=[bm25])", n_folds=3, bounds=False)
    first = compare(spec, tmp_path / "out")
    write_table(tmp_path / "f.csv", "label2,bm25,noise")
    watch = Record()
    second = compare(spec, tmp_path / "out", watch=watch)
    assert len(watch.ended) == 3
    fresh = compare(spec, tmp_path / "fresh")
    assert second.values.equals(fresh.values)
    assert not second.values.equals(first.values)


@pytest.mark.usefixtures("in_process")
def test_other_categories_are_other_data(tmp_path):
    """Codes 0 and 1 of (a, b), then of (b, c): models match them by name."""
    lines = [f"{row % 3},{row // 6},{'ab'[row % 2]},{row % 5}" for row in range(48)]
    path = tmp_path / "f.csv"
    path.write_text("\n".join(["label,qid,color,x", *lines]))
    spec = spec_from_options([str(path)], "mart(n_trees=2)", n_folds=2, bounds=False)
    compare(spec, tmp_path / "out")
    path.write_text("\n".join(["label,qid,color,x", *lines]).replace(",b,", ",c,"))
    watch = Record()
    compare(spec, tmp_path / "out", watch=watch)
    assert len(watch.ended) == 2


OWN = """
from pomona.rankers.baselines.random_ranker import RandomRanker

class Mine(RandomRanker):
    name = "mine"
    def predict_rows(self, X):
        return SIGN * X[:, 0].astype(float)
    def predict_queries(self, data):
        return SIGN * data.X[:, 0].astype(float)
"""


@pytest.mark.usefixtures("in_process")
def test_an_edited_ranker_is_another_ranker_in_the_same_process(make_spec, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN.replace("SIGN", "+1"))
    spec = make_spec(f"mine={file}:Mine", measures=["ap"])
    first = compare(spec, tmp_path / "out").values
    stamp = file.stat()
    file.write_text(OWN.replace("SIGN", "-1"))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as an editor may leave it
    watch = Record()
    second = compare(spec, tmp_path / "out", watch=watch).values
    assert len(watch.ended) == 2
    assert second["ap"].to_list() != first["ap"].to_list()
    file.write_text(OWN.replace("SIGN", "+1"))
    assert compare(spec, tmp_path / "out").values.equals(first)


MEASURE = """
from dataclasses import dataclass
from pomona.measures.base import Measure

@dataclass(frozen=True)
class First(Measure):
    name = "first"
    def of_query(self, labels):
        return FACTOR * float(labels[0])
"""


@pytest.mark.usefixtures("in_process")
def test_an_edited_measure_judges_again(make_spec, tmp_path):
    file = tmp_path / "measures.py"
    file.write_text(MEASURE.replace("FACTOR", "1"))
    spec = make_spec("a=mart(n_trees=2)", measures=["ap", f"{file}:First"])
    first = compare(spec, tmp_path / "out")
    (column,) = (name for name in first.values.columns if "irst" in name)
    file.write_text(MEASURE.replace("FACTOR", "10"))
    second = compare(spec, tmp_path / "out")
    assert second.values[column].to_list() == pytest.approx([10 * value for value in first.values[column]])
    assert second.values["ap"].equals(first.values["ap"])
    attempts = dict(second.runs.select("run", "attempts").iter_rows())
    assert attempts.keys() == set(first.runs["run"])  # judged again, not trained again


@pytest.mark.usefixtures("in_process")
def test_another_model_in_the_same_file_is_another_ranker(tmp_path):
    data = pm.simulate(24, docs_per_query=8, n_features=3, seed=3)
    pm.write_letor(data, tmp_path / "d.txt")
    spec_text = "n_folds = 2\nbounds = false\n[[dataset]]\nsource = 'd.txt'\n[[ranker]]\nmodel = 'old.txt'\n"
    (tmp_path / "spec.toml").write_text(spec_text)
    values = []
    for n_trees in (1, 60):
        pm.MART(n_trees=n_trees, n_leaves=8, min_docs=2).fit(data).export(tmp_path / "old.txt")
        watch = Record()
        values.append(compare(read_spec(tmp_path / "spec.toml"), tmp_path / "out", watch=watch).values)
        assert len(watch.ended) == 2
    assert not values[0].equals(values[1])


@pytest.mark.usefixtures("in_process")
def test_a_spec_of_the_user_stays_as_it_is(tmp_path):
    write_table(tmp_path / "f.csv")
    text = f"# mine\nn_folds = 2\n[[dataset]]\nsource = 'f.csv'\n[[ranker]]\nranker='{FILE.split('(')[0]}'\n"
    text += "n_trees = 2\neach.min_docs = [1, 2]\n"
    path = tmp_path / "spec.toml"
    path.write_text(text)
    results = compare(read_spec(path), tmp_path)
    assert path.read_text() == text
    assert "min_docs = 2" in (tmp_path / "spec.resolved.toml").read_text()
    assert read_results(tmp_path).spec == results.spec
    compare(read_spec(path), tmp_path / "out")
    kept = tmp_path / "out" / "spec.toml"
    assert read_spec(kept) == results.spec
    kept.write_text(kept.read_text() + "# edited\n")
    compare(read_spec(path), tmp_path / "out")
    assert kept.read_text().endswith("# edited\n")
    assert (path.read_text(), (tmp_path / "out" / "spec.resolved.toml").is_file()) == (text, True)


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("out", ["out", "a/b/out"])
def test_a_directory_moves_with_its_data(tmp_path, out):
    here, there = tmp_path / "here", tmp_path / "elsewhere" / "there"
    (here / "own").mkdir(parents=True)
    write_table(here / "f.csv")
    (here / "own" / "mine.py").write_text(OWN.replace("SIGN", "+1"))
    (here / "own" / "m.py").write_text(MEASURE.replace("FACTOR", "1"))
    rankers = f"mart(n_trees=2), {here}/own/mine.py:Mine"
    measures = ["ap", f"{here}/own/m.py:First"]
    first = compare(
        spec_from_options([str(here / "f.csv")], rankers, n_folds=2, measures=measures), here / out
    )
    there.parent.mkdir()
    here.rename(there)
    moved = read_results(there / out)
    assert moved.values.equals(first.values)
    findings = find(moved, n_resamples=50)
    assert findings.measures == find(first, n_resamples=50).measures
    assert set(findings.measures) <= set(moved.values.columns)
    assert moved.test_data("f", 1).n_docs == 36
    assert refit_best(moved).n_queries == 12
    watch = Record()
    again = compare(read_spec(there / out / "spec.toml"), there / out, watch=watch)
    assert watch.ended == []
    assert again.values.equals(first.values)


@pytest.mark.usefixtures("in_process")
def test_a_directory_moves_alone(tmp_path):
    """What lay beside it is found where it was; data that are nowhere are asked for in one sentence."""
    source = write_table(tmp_path / "f.csv")
    first = compare(spec_from_options([source], FILE, n_folds=2), tmp_path / "out")
    (tmp_path / "far" / "away").mkdir(parents=True)
    place = (tmp_path / "out").rename(tmp_path / "far" / "away" / "out")
    watch = Record()
    assert compare(read_spec(place / "spec.toml"), place, watch=watch).values.equals(first.values)
    assert watch.ended == []
    (tmp_path / "f.csv").rename(tmp_path / "g.csv")
    with pytest.raises(
        PomonaError, match=r"data of f are not at .*f\.csv: write their place into .*spec\.toml"
    ):
        read_results(place).test_data("f", 1)
    spec = (place / "spec.toml").read_text()
    (place / "spec.toml").write_text(spec.replace("f.csv", "g.csv"))
    assert compare(read_spec(place / "spec.toml"), place, watch=watch).values.equals(first.values)
    assert watch.ended == []
    assert read_results(place).test_data("f", 1).n_docs == 36


@pytest.mark.usefixtures("in_process")
def test_only_the_command_that_did_runs_is_kept(make_spec, tmp_path):
    spec = make_spec("a=mart(n_trees=2)")
    compare(spec, tmp_path, command="pomona compare first")
    assert compare(spec, tmp_path, command="pomona compare second").facts["command"] == "pomona compare first"
    more = make_spec("a=mart(n_trees=2), b=mart(n_trees=3)")
    assert compare(more, tmp_path, command="pomona compare third").facts["command"] == "pomona compare third"


@pytest.mark.parametrize("n_jobs", [0, -5])
def test_fewer_than_one_process(make_spec, tmp_path, n_jobs):
    with pytest.raises(PomonaError, match=f"n_jobs must be at least 1, found {n_jobs}"):
        compare(make_spec("mart"), tmp_path / "out", n_jobs=n_jobs)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("in_process")
def test_files_are_read_when_they_are_used_or_all_if_asked(make_spec, tmp_path):
    spec = make_spec("a=mart(n_trees=2)")
    first = compare(spec, tmp_path)
    damaged_file = tmp_path / "models" / f"{first.runs['run'][0]}.pomona"
    damaged_file.write_bytes(damaged_file.read_bytes()[:-1])
    watch = Record()
    compare(spec, tmp_path, watch=watch)  # which has no use for the models
    assert watch.ended == []
    with pytest.warns(UserWarning, match="is done again"):
        compare(spec, tmp_path, watch=watch, verify=True)
    assert [run.id for run in watch.ended] == [first.runs["run"][0]]


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("change", ["labels", "names", "a row less", "gone"])
def test_kept_scores_are_never_joined_with_changed_data(tmp_path, change):
    path = tmp_path / "f.csv"
    write_table(path)
    spec = spec_from_options([str(path)], "random, linearregression", n_folds=2)
    first = compare(spec, tmp_path / "out")
    lines = path.read_text().splitlines()
    if change == "labels":
        lines[1] = ("1" if lines[1][0] != "1" else "2") + lines[1][1:]
    elif change == "names":
        lines[0] = "label,qid,bm25,noise,clicks"
    elif change == "a row less":
        lines.pop()
    path.unlink() if change == "gone" else path.write_text("\n".join(lines))
    expected = "are not at" if change == "gone" else "changed since the comparison"
    for results in (first, read_results(tmp_path / "out")):
        with pytest.raises(PomonaError, match=expected):
            [results.test_data("f", fold) for fold in (1, 2)]
        with pytest.raises(PomonaError, match=expected):
            refit_best(results)
        with pytest.raises(PomonaError, match=expected):
            compare_measures_of(results, ["err@5"])
        with pytest.raises(PomonaError, match=expected):
            systems_of_results(results)
    findings = find(read_results(tmp_path / "out"), n_resamples=100)
    assert [text for text in findings.warnings if expected in text]
    assert findings.documents.is_empty()
