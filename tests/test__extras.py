"""What works where only the base is installed, and what the rest says."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pomona._extras import EXTRAS, naming_extras
from pomona.errors import MissingExtraError

ROOT = Path(__file__).parents[1]
BLOCKED = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""
SLIM = """
import numpy as np
import pandas as pd
import pomona as pm
from pomona.errors import MissingExtraError

data = pm.simulate(30, docs_per_query=8, n_features=4, seed=1)
train, valid, test = data.split([0.6, 0.2, 0.2], seed=1)
pm.write_letor(test, "test.txt")
again = pm.read("test.txt")
for ranker in (pm.LambdaMART(n_trees=5), pm.LinearRegression(), pm.RankSVM(), pm.AdaRank(n_rounds=3)):
    scores = ranker.fit(train, valid=valid).predict(test)
    ranker.save("model.pomona")
    assert (pm.load_model("model.pomona").predict(test) == scores).all()
values = pm.evaluate(again, scores, ["ndcg@10", "letor4:ap", "err@20"])
assert all(0 <= value <= 1 for value in values.values()), values
print(values)
frame = pd.DataFrame(test.X, columns=test.feature_names).assign(qid=test.qid)
ranker = pm.load_model("model.pomona")
np.testing.assert_array_equal(ranker.predict(frame.drop(columns="qid"), qid=frame.qid), scores)
np.testing.assert_array_equal(pm.LambdaMART(n_trees=3).fit(train).predict(test.X[:1]).shape, (1,))
for refused in (
    lambda: pm.duel(test, {"a": scores, "b": -scores}),
    lambda: pm.BestRanker(),
    lambda: pm.read("test.csv"),
    lambda: pm.read("test.txt.zst"),
    lambda: pm.convert("test.txt", "test.parquet"),
):
    try:
        refused()
    except MissingExtraError as error:
        print(error)
    else:
        raise AssertionError("was not refused")
"""


def slim(code, folder):
    """What Python prints that cannot import the packages of extras."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKED + code], cwd=folder, capture_output=True, text=True
    )


def test_train_predict_evaluate_save_and_load_need_no_extra(tmp_path):
    (tmp_path / "test.csv").write_text("label,qid,f1\n1,1,0.5\n0,1,0.1\n")
    (tmp_path / "test.txt.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    done = slim(SLIM, tmp_path)
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()[-5:]
    assert set(lines) | {last} == {
        "polars is not installed: pip install 'pomona[report]'",
        "zstandard is not installed: pip install 'pomona[report]'",
    }


# One verb after another in the same process: to load what they need takes longer than they do.
VERBS = """
import contextlib, io, json, sys
from pomona.cli import main

done = []
for words in {verbs}:
    sys.argv, out, err, code = ["pomona", *words], io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    done.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(done))
"""


def test_the_command_trains_scores_and_judges_and_names_what_else_it_needs(tmp_path):
    import pomona as pm

    pm.write_letor(pm.simulate(20, docs_per_query=6, n_features=3, seed=1), tmp_path / "data.txt")
    verbs = [
        "train lambdamart data.txt --set n_trees=3 -o m.pomona",
        "score m.pomona data.txt -o scores.txt",
        "evaluate data.txt scores.txt -m ndcg@10 --all-conventions",
        "--help",
        "list rankers",
        "demo",
        "compare data.txt --rankers mart",
        "duel data.txt scores.txt",
    ]
    shown = slim(VERBS.format(verbs=[verb.split() for verb in verbs]), tmp_path)
    assert shown.returncode == 0, shown.stderr
    done = dict(zip(verbs, json.loads(shown.stdout), strict=True))
    for verb in verbs[:5]:
        assert done[verb][0] == 0, done[verb]
    assert "letor4" in done[verbs[2]][1]
    for verb in verbs[5:]:
        code, _, errors = done[verb]
        assert code == 2
        last = errors.splitlines()[-1]
        assert re.fullmatch(r"pomona: \w+ is not installed: pip install 'pomona\[report\]'", last), last


def test_the_packages_are_those_of_the_extra():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = {re.split(r"[<>=\[; ]", text)[0] for text in declared["dependencies"]}
    report = {re.split(r"[<>=\[; ]", text)[0] for text in declared["optional-dependencies"]["report"]}
    modules = {"vl-convert-python": "vl_convert"}
    # markupsafe comes with Jinja.
    assert {modules.get(name, name) for name in report} | {"markupsafe"} == set(EXTRAS)
    assert report < base
    assert not base & {"torch", "optuna", "distributed"}
    lines = (ROOT / "requirements-serve.txt").read_text().splitlines()
    served = {line for line in lines if not line.startswith("#")}
    assert served == set(declared["dependencies"]) - set(declared["optional-dependencies"]["report"])


def test_other_packages_are_not_ours_to_name():
    with pytest.raises(ModuleNotFoundError, match="nowhere"), naming_extras():
        import nowhere  # noqa: F401
    with pytest.raises(MissingExtraError), naming_extras():
        raise ModuleNotFoundError("No module named 'altair.utils'", name="altair.utils")
