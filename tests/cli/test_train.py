import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.train import parsed_settings, train
from pomona.errors import InputError, PomonaError, UnknownNameError
from pomona.rankers.loading import load_model
from pomona.rankers.training_log import TrainingLog


def run(*words):
    app = typer.Typer()
    app.command()(train)
    result = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


@pytest.fixture
def files(tmp_path):
    pm.write_letor(pm.simulate(30, docs_per_query=10, n_features=6, seed=1), tmp_path / "train.txt")
    pm.write_letor(pm.simulate(20, docs_per_query=10, n_features=6, seed=2), tmp_path / "vali.txt")
    return tmp_path


def test_queries_that_are_learnt_from_do_not_validate(files):
    data, path = pm.read(files / "train.txt"), files / "some.txt"
    pm.write_letor(data.take([4, 2]), path)
    message = r"some\.txt: query \d has the same documents in .*train\.txt, so its measure would be too good"
    with pytest.raises(PomonaError, match=message):
        run("mart", files / "train.txt", "--valid", path, "-o", files / "m.pomona")
    assert not (files / "m.pomona").exists()


def test_ctrl_c_keeps_a_model_and_is_no_success(files, monkeypatch):
    record = TrainingLog.record

    def interrupted(self, /, **values):
        if self.iteration == 3:
            raise KeyboardInterrupt
        return record(self, **values)

    monkeypatch.setattr(TrainingLog, "record", interrupted)
    done = run("mart", files / "train.txt", "-o", files / "m.pomona")
    assert done.exit_code == 130
    assert "3 trees" in done.stdout
    assert load_model(files / "m.pomona").interrupted_
    assert run("mart", files / "train.txt", "-o", files / "m.pomona", "--json").exit_code == 130


def test_trains_and_saves(files):
    words = ["lambdamart", files / "train.txt", "--valid", files / "vali.txt", "-o", files / "m.pomona"]
    answer = json.loads(run(*words, "-s", "n_trees=5", "-s", "measure=letor4:ndcg@3", "--json").stdout)
    model = load_model(files / "m.pomona")
    assert model.measure == "letor4:ndcg@3"
    assert answer["trees"] == model.model_.n_trees <= 5
    assert "letor4:ndcg@3" in answer["valid"]


@pytest.mark.parametrize("ranker", ["linearcombination", "ensemble", "rankboost", "randomforest", "mcrank"])
def test_any_ranker_says_what_it_is_worth(files, ranker):
    words = [ranker, files / "train.txt", "--valid", files / "vali.txt", "-o", files / "m.pomona"]
    done = run(*words)
    assert (done.exit_code, "validation ndcg@10 " in done.stdout) == (0, True)


def test_the_trees_that_are_kept_are_counted(files):
    words = ["lambdamart", files / "train.txt", "--valid", files / "vali.txt", "-o", files / "m.pomona"]
    counts = {}
    for averaged in ("true", "false"):
        settings = ["-s", "early_stopping=2", "-s", f"averaged={averaged}"]
        shown = json.loads(run(*words, *settings, "--json").stdout)
        counts[averaged] = shown["trees"], load_model(files / "m.pomona").best_iteration_
    best = counts["false"][1]
    assert counts == {"true": (best + 2, best), "false": (best, best)}


def test_says_what_it_did(files):
    shown = run("MART", files / "train.txt", "-s", "n_trees=3", "-o", files / "m.pomona").stdout
    assert "mart: 3 trees" in shown
    assert "model in" in shown


def test_trees_upon_the_scores_of_a_model(files):
    run("linearregression", files / "train.txt", "-o", files / "linear.pomona")
    start = ("--base-model", files / "linear.pomona")
    run("mart", files / "train.txt", *start, "-s", "n_trees=3", "-o", files / "m.pomona")
    data, linear = pm.read(files / "train.txt"), load_model(files / "linear.pomona")
    expected = pm.MART(n_trees=3).fit(data, base_model=linear).predict(data)
    assert load_model(files / "m.pomona").predict(data).tolist() == expected.tolist()
    with pytest.raises(PomonaError, match="ranknet cannot start from the scores of a model"):
        run("ranknet", files / "train.txt", *start, "-o", files / "n.pomona")


class Tuned:
    def __init__(
        self, n=1, x: float | None = 0.5, flag=False, text="a", maybe: tuple[int, ...] | None = None
    ):
        pass


def test_settings():
    texts = ["n=3", "x=1", "flag=true", "text=b=c,d", "maybe=[1, 0, -1]"]
    assert parsed_settings(Tuned, texts) == {
        "n": 3,
        "x": 1.0,
        "flag": True,
        "text": "b=c,d",
        "maybe": (1, 0, -1),
    }
    assert parsed_settings(Tuned, ["x=none"]) == {"x": None}
    for wrong in ("n", "n=1.5", "n=x", "flag=maybe", "nn=1", "maybe=1,0"):
        with pytest.raises(PomonaError):
            parsed_settings(Tuned, [wrong])


def test_settings_of_rankers():
    given = parsed_settings(pm.LambdaRank, ["hidden=[64,32]", "valid_measure=ap", "measure=rbp(p=0.8)@5"])
    assert given == {"hidden": (64, 32), "valid_measure": "ap", "measure": "rbp(p=0.8)@5"}
    with pytest.raises(PomonaError, match="n_trees: found 'many', expected a whole number"):
        parsed_settings(pm.MART, ["n_trees=many"])
    with pytest.raises(PomonaError, match="unknown parameter of MART 'n_tree': did you mean 'n_trees'"):
        parsed_settings(pm.MART, ["n_tree=3"])
    with pytest.raises(PomonaError, match="n_estimators is called n_trees here"):
        parsed_settings(pm.MART, ["n_estimators=3"])


def test_refusals(files):
    with pytest.raises(PomonaError, match="did you mean 'lambdamart'"):
        run("lambdamartt", files / "train.txt", "-o", files / "m")
    with pytest.raises(PomonaError, match="no such directory"):
        run("mart", files / "train.txt", "-o", files / "none" / "m")


def test_a_cluster_trains_the_same_model(files):
    import distributed

    train = pm.read(files / "train.txt")
    for k, queries in enumerate((range(10), range(10, 30))):
        pm.write_letor(train.take(list(queries)), files / f"part-{k}.txt")
    words = ["--valid", files / "vali.txt", "-s", "n_trees=3"]
    run("mart", files / "train.txt", "-o", files / "one.pomona", *words)
    how = {"threads_per_worker": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=2, **how) as cluster:
        more = ["--dask", cluster.scheduler_address, "--json"]
        result = run("mart", files / "part-*.txt", "-o", files / "two.pomona", *words, *more)
        with pytest.raises(PomonaError, match="no forest that a cluster"):
            run("linearregression", files / "train.txt", "-o", files / "no.pomona", *more)
    one, two = load_model(files / "one.pomona"), load_model(files / "two.pomona")
    assert one.model_.value.tobytes() == two.model_.value.tobytes()
    assert one.evals_ == two.evals_
    assert json.loads(result.stdout)["valid"]["ndcg@10"] == one.evals_["valid"][one.best_iteration_ - 1]


def test_documents_that_are_not_judged(files, tmp_path):
    lines = (files / "train.txt").read_text().splitlines()
    unjudged = [line if i % 3 else f"nan {line.partition(' ')[2]}" for i, line in enumerate(lines)]
    (tmp_path / "some.txt").write_text("\n".join(unjudged) + "\n")
    n = -(-len(lines) // 3)
    words = ("linearregression", tmp_path / "some.txt", "-o", tmp_path / "m.pomona")
    assert f"note: {n} of {len(lines)} documents are not judged: weight 0" in run(*words).stderr
    data = pm.read(tmp_path / "some.txt")
    for how in ("ignored", "irrelevant"):
        assert json.loads(run(*words, "--unjudged", how, "--json").stdout)["n_not_judged"] == n
        expected = pm.LinearRegression().fit(data, unjudged=how).predict(data)
        assert np.array_equal(pm.load_model(tmp_path / "m.pomona").predict(data), expected)
    result = run("linearregression", files / "train.txt", "-o", tmp_path / "m", "--unjudged", "irrelevant")
    assert (result.exit_code, "--unjudged has no effect" in result.output) == (2, True)
    with pytest.raises(UnknownNameError, match="unknown unjudged 'no'"):
        run(*words, "--unjudged", "no")


def test_a_column_of_weights(tmp_path):
    data = pm.simulate(20, docs_per_query=6, n_features=2, seed=1)
    weights = np.random.default_rng(0).uniform(0, 2, data.n_docs)
    rows = zip(data.qid.tolist(), data.y.tolist(), weights.tolist(), data.X.tolist(), strict=True)
    table = "".join(f"{q},{y},{w!r},{x[0]},{x[1]}\n" for q, y, w, x in rows)
    (tmp_path / "d.csv").write_text(f"qid,label,trust,a,b\n{table}")
    named = pm.Dataset(data.X, data.y, data.qid, feature_names=("a", "b"))
    expected = pm.LinearRegression().fit(named, sample_weight=weights)
    run("linearregression", tmp_path / "d.csv", "-o", tmp_path / "m.pomona", "--weight", "trust")
    model = pm.load_model(tmp_path / "m.pomona")
    assert model.feature_names_ == ("a", "b")
    assert np.array_equal(model.coef_, expected.coef_)
    assert not np.array_equal(model.coef_, pm.LinearRegression().fit(named).coef_)
    for name, why in (("nothing", "no column 'nothing'"), ("label", "must be different columns")):
        with pytest.raises(InputError, match=why):
            run("linearregression", tmp_path / "d.csv", "-o", tmp_path / "m", "--weight", name)
