"""Pages for users of other tools: their code runs, and their tables say what is so."""

import json
import re
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import sklearn
import xgboost
from typer.testing import CliRunner

import pomona as pm
from pomona._other_names import our_name
from pomona._registry import entries
from pomona.cli.app import build
from pomona.testing.estimator import _OF_WHOLE_QUERIES, DOES_NOT_APPLY

DOCS = Path(__file__).parents[1] / "docs"
DATA = pm.simulate(60, docs_per_query=12, n_features=6, seed=1)


def text(name):
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def rows(name, n_cells):
    """The cells of the tables of a page that have so many columns, without their quotes."""
    lines = [line.strip("|").split("|") for line in text(name).splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in line] for line in lines if len(line) == n_cells]


@pytest.mark.parametrize("name", ["scikit-learn", "coming-from-lightgbm", "coming-from-xgboost"])
def test_the_code_of_a_page_runs(name):
    blocks = re.findall(r"^```python\n(.*?)^```$", text(name), re.MULTILINE | re.DOTALL)
    with sklearn.config_context():
        found = {}
        exec(compile("\n".join(blocks), name, "exec"), found)
    if name == "scikit-learn":
        assert np.isfinite(found["found"]["test_score"]).all()
        assert found["search"].best_score_ > 0.3
    else:
        X = found["test"].X
        np.testing.assert_array_equal(found["same"].predict(X), found["theirs"].predict(X))


def defaults_of_xgboost():
    model = xgboost.XGBRanker(n_estimators=1).fit(DATA.X, DATA.y, qid=DATA.qid)
    learner = json.loads(model.get_booster().save_config())["learner"]
    trees = learner["gradient_booster"]["tree_train_param"]
    given = {name: float(value) for name, value in trees.items() if re.fullmatch(r"[\d.e+-]+", value)}
    seed = float(learner["generic_param"]["seed"])
    n_trees = xgboost.XGBRanker().get_num_boosting_rounds()
    return {**given, "reg_lambda": given["lambda"], "n_estimators": n_trees, "random_state": seed}


@pytest.mark.parametrize("peer", ["lightgbm", "xgboost"])
def test_names_and_defaults(peer):
    theirs = lightgbm.LGBMRanker().get_params() if peer == "lightgbm" else defaults_of_xgboost()
    ours = pm.LambdaMART().get_params()
    table = rows(f"coming-from-{peer}", 5)
    assert len(table) == {"lightgbm": 10, "xgboost": 12}[peer]
    for name, here, there_default, here_default, _ in table:
        assert here in (name, our_name(name, ours))
        assert str(ours[here]) == here_default
        assert str(theirs[name]) == there_default or theirs[name] == pytest.approx(float(there_default))


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_what_is_said_of_lightgbm():
    empty = np.where(DATA.qid == DATA.qids[0], 0, DATA.y)
    data, sizes = DATA.replace(y=empty.astype(np.float32)), DATA.query_lengths

    def fitted(labels=data.y, **parameters):
        model = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=5, verbose=-1, **parameters)
        evals = {"eval_set": [(data.X, labels)], "eval_group": [sizes], "eval_at": [10]}
        return model.fit(data.X, labels, group=sizes, **evals)

    model = fitted()
    (watched,) = model.evals_result_.values()
    numbers = pm.evaluate(data, model.predict(data.X), ["ndcg@10", "lightgbm:ndcg@10"])
    assert watched["ndcg@10"][-1] == pytest.approx(numbers["lightgbm:ndcg@10"], abs=1e-12)
    assert numbers["ndcg@10"] < numbers["lightgbm:ndcg@10"]
    assert np.array_equal(fitted(subsample=0.3).predict(data.X), model.predict(data.X))
    assert not np.array_equal(fitted(subsample=0.3, subsample_freq=1).predict(data.X), model.predict(data.X))
    for labels in (data.y + 0.5, data.y * 20):
        with pytest.raises(lightgbm.basic.LightGBMError):
            fitted(labels)
    assert not hasattr(model, "score")
    theirs = model.predict(data.X, pred_contrib=True)[:, :-1]
    np.testing.assert_allclose(pm.from_model(model).explain(data, method="path").values, theirs, atol=1e-9)


def test_what_is_said_of_xgboost():
    data = DATA.replace(y=np.where(DATA.qid == DATA.qids[0], 0, DATA.y).astype(np.float32))
    model = xgboost.XGBRanker(n_estimators=5, eval_metric=["ndcg@10", "ndcg@10-"])
    model.fit(data.X, data.y, qid=data.qid, eval_set=[(data.X, data.y)], eval_qid=[data.qid], verbose=False)
    watched = model.evals_result()["validation_0"]
    theirs = {"ndcg@10": "xgboost:ndcg@10", "ndcg@10-": "xgboost:ndcg(empty=0)@10"}
    numbers = pm.evaluate(data, model.predict(data.X), list(theirs.values()))
    for name, ours in theirs.items():
        assert watched[name][-1] == pytest.approx(numbers[ours], abs=1e-6)
    refused = {
        "sorted": {"qid": data.qid[::-1], "y": data.y},
        "weight": {"qid": data.qid, "y": data.y, "sample_weight": np.ones(data.n_docs)},
        "31": {"qid": data.qid, "y": data.y * 10},
    }
    for said, given in refused.items():
        with pytest.raises(xgboost.core.XGBoostError, match=said):
            xgboost.XGBRanker(n_estimators=1).fit(data.X, **given)
    weights = np.ones(data.n_queries)
    xgboost.XGBRanker(n_estimators=1).fit(data.X, data.y, qid=data.qid, sample_weight=weights)


def test_parameters_of_ranklib_lead_to_ours():
    table = rows("coming-from-ranklib", 3)
    assert len(table) == 14
    for name, ours, rankers in table:
        for ranker in rankers.split(", "):
            known = getattr(pm, ranker)().get_params()
            assert our_name(name, known) == ours
    named = re.findall(r"^\| \d [\w ]+ \| `(\w+)` \|$", text("coming-from-ranklib"), re.MULTILINE)
    assert len(named) == 10
    assert set(named) <= set(entries("rankers"))


def test_measures_of_trec_eval(tmp_path):
    app = build()
    qrels, run = tmp_path / "q", tmp_path / "r"
    qrels.write_text("".join(f"{q} 0 d{n} {(n * q) % 3}\n" for q in (1, 2, 4) for n in range(15)))
    run.write_text("".join(f"{q} Q0 d{n} 0 {(n * 7 * q) % 11} t\n" for q in (1, 2, 4) for n in range(15)))
    files = ["evaluate", "--qrels", str(qrels), "--run", str(run)]
    table = rows("coming-from-trec_eval", 2)
    assert len(table) >= 7
    for theirs, ours in table[:7]:
        asked = re.sub(r"_(\d+)$", r".\1", theirs)
        printed = CliRunner().invoke(app, [*files, "--as", "trec_eval", "-m", asked]).output.split()
        found = CliRunner().invoke(app, [*files, "--convention", "trec_eval", "-m", ours]).output.split()
        assert printed[:2] == [theirs, "all"]
        assert found[found.index(f"trec_eval:{ours}") + 1] == printed[2]


def test_the_checks_that_do_not_apply_are_listed():
    page = text("scikit-learn").replace(
        "`…_on_sparse_data`", "`check_sample_weight_equivalence_on_sparse_data`"
    )
    for name, reason in (DOES_NOT_APPLY | _OF_WHOLE_QUERIES).items():
        (row,) = [line for line in page.splitlines() if f"`{name}`" in line]
        assert reason in row
