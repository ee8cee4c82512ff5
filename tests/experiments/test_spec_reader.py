import re

import numpy as np
import pytest

import pomona as pm
from pomona.errors import PomonaError
from pomona.experiments.data_spec import Files, Simulated
from pomona.experiments.spec import ranker_class, read_spec

DATA = '[[dataset]]\nsource = "mq2008"\n'
RANKER = '[[ranker]]\nranker = "mart"\n'


def refusal(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(PomonaError) as caught:
        read_spec(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'measure = ["ap"]\n{DATA}{RANKER}', ":1: measure: unknown key 'measure': did you mean 'measures'?"),
        (
            f'measures = ["ndgc@10"]\n{DATA}{RANKER}',
            ":1: measures: unknown measure 'ndgc': did you mean 'ndcg'?",
        ),
        (f'measures = ["ndcg(gian=linear)"]\n{DATA}{RANKER}', "did you mean 'gain'?"),
        (
            f'measures = ["ndcg@10", "err@10"]\nconventions = ["letor4"]\n{DATA}{RANKER}',
            ":2: conventions: letor4 has no ERR: it has ap, meanndcg, ndcg, p",
        ),
        (f'\nconventions = ["leto4"]\n{DATA}{RANKER}', ":2: conventions: unknown convention 'leto4'"),
        (f"measures = []\n{DATA}{RANKER}", ":1: measures: expected one text at least"),
        (f"measures = [1]\n{DATA}{RANKER}", ":1: measures: found 1, expected a text"),
        (
            f"{DATA}{RANKER}[[ranker]]\nranker = 'lamdamart'\n",
            ":6: ranker 2 ranker: unknown ranker 'lamdamart'",
        ),
        (
            f"{DATA}{RANKER}features = ['a', 'a']\n",
            ":5: ranker 1 features: found ['a', 'a'], expected different",
        ),
        (f"{DATA}{RANKER}features = ['a']\nwithout = ['b']\n", "without is given as well"),
        (f"{DATA}{RANKER}n_tree = 3\n", ":5: ranker 1 n_tree: unknown parameter of MART 'n_tree'"),
        (f"{DATA}{RANKER}n_estimators = 3\n", "n_estimators is called n_trees here"),
        (f"{DATA}{RANKER}n_trees = 'many'\n", ":5: ranker 1 n_trees: found 'many', expected a whole number"),
        (f"{DATA}{RANKER}n_trees = true\n", ":5: ranker 1 n_trees: found True, expected a whole number"),
        (f"{DATA}{RANKER}measure = 'ndgc'\n", ":5: ranker 1 measure: unknown measure 'ndgc'"),
        (f"{DATA}{RANKER}seed = 3\n", ":5: ranker 1 seed: the comparison sets the seeds"),
        (f"{DATA}{RANKER}[[ranker]]\nranker='mart'\n", ":5: ranker 2 label: two are called 'MART'"),
        (f"{DATA}[[ranker]]\nlabel = 'x'\n", ":3: ranker 1: ranker is missing"),
        (f"{DATA}[[ranker]]\nmodel = 'no.txt'\n", ":4: ranker 1 model: no such file"),
        (f"{DATA}[[ranker]]\nmodel = 3\n", ":4: ranker 1 model: found 3, expected a text"),
        (f"{DATA}{RANKER}each.n_trees = 3\n", "ranker 1 each.n_trees: found 3, expected a list"),
        (f"{DATA}{RANKER}each.n_trees = []\n", "ranker 1 each.n_trees: expected one value at least"),
        (f"{DATA}{RANKER}n_trees = 2\neach.n_trees = [3]\n", "n_trees is given as well"),
        (f"{DATA}{RANKER}each.n_tree = [3]\n", "unknown parameter of MART 'n_tree'"),
        (f"{DATA}{RANKER}each.n_trees = [3]\nlabel = '{{trees}}'\n", "did you mean 'n_trees'?"),
        (f"{DATA}{RANKER}each.n_trees = [3, 4]\nlabel = 'x'\n", "ranker 1 label: two are called 'x'"),
        (DATA, "ranker: expected one table [[ranker]] at least"),
        (RANKER, "dataset: expected one table [[dataset]] at least"),
        (
            f"[[dataset]]\nsource = 'mq2006'\n{RANKER}",
            ":2: dataset 1 source: unknown collection, directory or file",
        ),
        (f"[[dataset]]\nfolds = [1]\n{RANKER}", ":1: dataset 1: found no data, expected one of"),
        (f"[[dataset]]\nsource = []\n{RANKER}", ":2: dataset 1 source: expected one collection"),
        (f"[[dataset]]\nsource = [1]\n{RANKER}", ":2: dataset 1 source: found 1, expected a text"),
        (f"[[dataset]]\nsource='mq2008'\nsimulate={{}}\n{RANKER}", "found source and simulate"),
        (
            f"[[dataset]]\nsource='mq2008'\ntest='x'\n{RANKER}",
            "valid and test go with train, not with source",
        ),
        (f"[[dataset]]\ntrain='x'\n{RANKER}", ":1: dataset 1: test is missing"),
        (f"[[dataset]]\ntrain='x'\ntest='y'\n{RANKER}", ":2: dataset 1 train: no such file"),
        (f"[[dataset]]\nsimulate={{quries=3}}\n{RANKER}", "unknown key 'quries': did you mean 'queries'?"),
        (f"[[dataset]]\nsimulate={{queries='x'}}\n{RANKER}", "found 'x', expected a whole number"),
        (f"[[dataset]]\nsource='mq2008'\nfolds=[0]\n{RANKER}", ":3: dataset 1 folds: found [0]"),
        (f"{DATA}{DATA}{RANKER}", ":3: dataset 2 name: two are called 'mq2008'"),
        (
            f"seeds = [0, 0]\n{DATA}{RANKER}",
            ":1: seeds: found [0, 0], expected different whole numbers from 0",
        ),
        (f"seeds = [0.5]\n{DATA}{RANKER}", ":1: seeds: found 0.5, expected a whole number"),
        (f"baseline = 'Mert'\n{DATA}{RANKER}", ":1: baseline: unknown ranker 'Mert': did you mean 'MART'?"),
        (f"time_limit = 0\n{DATA}{RANKER}", ":1: time_limit: found 0.0, expected more than 0"),
        (f"n_folds = 1\n{DATA}{RANKER}", ":1: n_folds: found 1, expected at least 2"),
        (f"bounds = 1\n{DATA}{RANKER}", ":1: bounds: found 1, expected true or false"),
        (f"{DATA}{RANKER}[search]\n", ":5: search: n_trials is missing"),
        (
            f"{DATA}{RANKER}[search]\nn_trails = 3\n",
            ":6: search n_trails: unknown key 'n_trails': did you mean",
        ),
        (f"{DATA}{RANKER}[search]\nn_trials = 0\n", ":6: search n_trials: found 0, expected at least 1"),
        (
            f"{DATA}{RANKER}search.n_tree = [1, 2]\n",
            ":5: ranker 1 search.n_tree: unknown parameter of mart 'n_tree': did you mean 'n_trees'?",
        ),
        (f"{DATA}{RANKER}search.l2 = 3\n", ":5: ranker 1 search.l2: found 3, expected a list"),
        (f"{DATA}{RANKER}search.l2 = []\n", "expected [least, most, scale] or a list of choices, found none"),
        (f"{DATA}{RANKER}l2 = 1.0\nsearch.l2 = [1.0]\n", "l2 is given, so it cannot be searched"),
        (f"{DATA}[[ranker]]\nranker = 'mine.py:Mine'\n", ":4: ranker 1 ranker: "),
        ("measures = [\n", ": not TOML: Invalid value (at end of document)"),
        ("a = 1\nb = = 2\n", ":2:5: not TOML: Invalid value"),
        ("a = 1\na = 2\n", ":2:6: not TOML: Cannot overwrite a value"),
    ],
)
def test_refusals_tell_file_line_place_and_the_nearest_name(tmp_path, text, expected):
    assert expected in refusal(tmp_path, text)


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "s.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(PomonaError, match=r"s\.toml: is not a text in UTF-8"):
        read_spec(tmp_path / "s.toml")
    with pytest.raises(PomonaError, match=r"none\.toml: cannot be read: No such file"):
        read_spec(tmp_path / "none.toml")


def test_paths_are_relative_to_the_file(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("train.txt", "test.txt", "mine.py"):
        (folder / name).write_text("")
    (folder / "mine.py").write_text(
        "from pomona.measures.base import Measure\n"
        "class Mine(Measure):\n    def of_query(self, labels):\n        return 1.0\n"
    )
    tables = "[[dataset]]\ntrain = 'data/train.txt'\ntest = 'data/test.txt'\n"
    tables += "[[dataset]]\nsource = 'data'\nname = 'b'\n"
    (tmp_path / "s.toml").write_text(f"measures = ['data/mine.py:Mine@3']\n{tables}{RANKER}")
    spec = read_spec(tmp_path / "s.toml")
    assert spec.datasets[0].source == Files(str(folder / "train.txt"), str(folder / "test.txt"))
    assert [data.name for data in spec.datasets] == ["data", "b"]
    assert spec.datasets[1].source == str(folder)
    assert spec.main == "Mine@3"
    assert spec.judged()["Mine@3"] == (f"{folder / 'mine.py'}:Mine@3", "definition")


def test_data_may_be_missing_when_nobody_needs_them(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f"[[dataset]]\nsource = '/gone/train.txt'\n{RANKER}")
    assert read_spec(path, needs_data=False).datasets[0].source == "/gone/train.txt"


def test_one_value_needs_no_brackets_and_all_conventions_have_a_word(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        "measures = 'ap'\nconventions = 'all'\nseeds = 3\n"
        f"[[dataset]]\nsimulate = {{queries = 9}}\n{RANKER}l2 = 1\n"
    )
    spec = read_spec(path)
    assert spec.measures == ("ap",)
    assert {"definition", "letor4", "trec_eval"} <= set(spec.conventions)
    assert not {"yahoo", "sklearn", "gdeval"} & set(spec.conventions)  # which have no AP
    assert spec.seeds == (3,)
    assert spec.datasets[0].source == Simulated(queries=9)
    assert spec.rankers[0].label == "MART(l2=1.0)"


def test_ranges_choices_and_joined_collections(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        "[[dataset]]\nsource = ['mq2007', 'MQ2008']\ndrop_empty = true\n[[ranker]]\nranker = 'ranknet'\n"
        "search.l2 = [0.1, 10, 'log']\nsearch.hidden = [[10], [20, 10]]\nsearch.seed = [1, 2, 3]\n"
        "[[ranker]]\nranker = 'mart'\nsearch = {}\n[search]\nn_trials = 3\n"
    )
    spec = read_spec(path)
    data = spec.datasets[0]
    assert (data.name, data.source, data.drop_empty) == ("mq2007+mq2008", ("mq2007", "mq2008"), True)
    searched = {"l2": (0.1, 10, "log"), "hidden": [(10,), (20, 10)], "seed": [1, 2, 3]}
    assert [row.search for row in spec.rankers] == [searched, {}]


def test_a_ranker_of_the_users_own_is_relative_to_the_file(own_ranker, tmp_path):
    (tmp_path / "s.toml").write_text(f"{DATA}[[ranker]]\nranker = 'own/mine.py:Mine'\nn_trees = 3\n")
    row = read_spec(tmp_path / "s.toml").rankers[0]
    assert (row.label, row.ranker) == ("Mine(n_trees=3)", own_ranker)


def test_each_is_a_row_for_every_combination(tmp_path):
    path = tmp_path / "s.toml"
    each = "each.n_trees = [2, 3]\neach.measure = ['ap', 'err@5']\nn_leaves = 4\n"
    path.write_text(f"{DATA}{RANKER}{each}label = 'M {{measure}} {{n_trees}}'\n")
    rows = read_spec(path).rankers
    assert [row.label for row in rows] == ["M ap 2", "M err@5 2", "M ap 3", "M err@5 3"]
    assert rows[1].parameters == {"n_leaves": 4, "n_trees": 2, "measure": "err@5"}
    path.write_text(f"{DATA}{RANKER}{each}")
    assert read_spec(path).rankers[0].label == "MART(n_leaves=4, n_trees=2, measure=ap)"


def test_a_model_of_another_trainer_is_a_row(tmp_path):
    data = pm.simulate(20, docs_per_query=10, n_features=5, seed=1)
    pm.MART(n_trees=3).fit(data).export(tmp_path / "old.txt")
    rows = (
        '[[ranker]]\nmodel = "old.txt"\n[[ranker]]\nranker = "imported"\nmodel = "old.txt"\nlabel = "again"\n'
    )
    (tmp_path / "s.toml").write_text(
        f"[[dataset]]\nsimulate = {{queries = 20, features = 5}}\n{RANKER}{rows}"
    )
    spec = read_spec(tmp_path / "s.toml")
    assert [row.label for row in spec.rankers] == ["MART", "old.txt", "again"]
    for row in spec.rankers[1:]:
        assert row.ranker == "imported"
        fitted = ranker_class(row.ranker)(**row.parameters).fit(data)
        np.testing.assert_array_equal(fitted.predict(data), pm.load_model(tmp_path / "old.txt").predict(data))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "x = " + "[" * 100_000,
        "x = " + "{a=" * 100_000,
        ".".join(["a"] * 50_000) + " = 1",
        "[" + ".".join(["a"] * 50_000) + "]",
        "x = {" + ".".join(["a"] * 50_000) + " = 1}",
        'x = "' + '\\"' * 50_000,
    ],
)
def test_what_is_nested_too_deeply_is_refused_in_a_line(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(f"# a spec\n{text}\n")
    with pytest.raises(PomonaError) as caught:
        read_spec(path)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    if '"' not in text:
        assert re.search(r"s\.toml:2:\d+: not TOML: nested more than 50 deep$", message)


def test_what_looks_nested_in_texts_and_comments_is_not(tmp_path):
    path = tmp_path / "s.toml"
    deep = "[" * 99 + "." * 99
    path.write_text(f'# {deep}\nname = \'{deep}\'\n{DATA}{RANKER}label = """{deep}"""\n')
    spec = read_spec(path)
    assert (spec.name, spec.rankers[0].label) == (deep, deep)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"n_folds = 3\n{DATA}{RANKER}", ":1: n_folds: every dataset has folds of its own"),
        (f"{DATA}draw = [0, 1]\n{RANKER}", ":3: dataset 1 draw: nothing is drawn at random here"),
        (
            f"{DATA}each.features = [['a'], ['a', 'b']]\ndraw = 1\n{RANKER}",
            ":4: dataset 1 draw: nothing is drawn",
        ),
        (f"{DATA}noise_valid = false\n{RANKER}", ":3: dataset 1 noise_valid: there is no label_noise"),
        (
            f"[[dataset]]\nsimulate = {{}}\nlabel = 'y'\n{RANKER}",
            ":3: dataset 1 label: simulated data have no",
        ),
        (f"{DATA}{RANKER}search.l2 = [1, 2]\n", ":5: ranker 1 search: nothing is searched without a table"),
        (f"{DATA}[[ranker]]\nranker = 'random'\n[search]\nn_trials = 2\n", "search: no ranker here has"),
        (f"{DATA}{RANKER}search = {{}}\n[search]\nn_trials = 2\n", "search: no ranker here has a parameter"),
        (f"{DATA}{RANKER}label = 'qid'\n", ":5: ranker 1 label: 'qid' is a column of the tables"),
        (f"{DATA}{RANKER}label = 'IdealRanker'\n", ":5: ranker 1 label: two are called 'IdealRanker'"),
    ],
)
def test_keys_without_an_effect_and_labels_that_collide_are_refused(tmp_path, text, expected):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(PomonaError) as caught:
        read_spec(path)
    assert expected in str(caught.value)
