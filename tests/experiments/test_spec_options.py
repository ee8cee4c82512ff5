import pytest

from pomona.errors import PomonaError
from pomona.experiments.data_spec import DataSpec, Files, Simulated
from pomona.experiments.spec import RankerSpec, SearchSpec
from pomona.experiments.spec_options import spec_from_options


def test_options_are_a_spec():
    spec = spec_from_options(
        ["mq2008", "other=mq2007"],
        "lambdamart, LambdaMART(growth=oblivious, monotone=[1, 0, -1], early_stopping=none), a=mart(l2=1)",
        folds=[1, 2],
        measures=["ndcg@10"],
        conventions=None,
        seeds=[0, 1],
        n_trials=5,
    )
    assert spec.datasets == (DataSpec("mq2008", "mq2008", (1, 2)), DataSpec("other", "mq2007", (1, 2)))
    given = {"growth": "oblivious", "monotone": (1, 0, -1), "early_stopping": None}
    assert spec.rankers == (
        RankerSpec("LambdaMART", "lambdamart"),
        RankerSpec(
            "LambdaMART(growth=oblivious, monotone=[1, 0, -1], early_stopping=none)", "lambdamart", given
        ),
        RankerSpec("a", "mart", {"l2": 1.0}),
    )
    assert spec.search == SearchSpec(5)
    assert spec.name == "mq2008 other"


def test_a_measure_with_parameters_in_a_ranker_with_parameters():
    spec = spec_from_options(["mq2008"], "lambdamart(measure=definition:rbp(p=0.9)@5,n_trees=3)")
    assert spec.rankers[0].parameters == {"measure": "rbp(p=0.9)@5", "n_trees": 3}


def test_simulated_data():
    spec = spec_from_options(["simulate", "a b=simulate(queries=9, noise=1)"], "mart")
    assert spec.datasets[0] == DataSpec("simulated", Simulated())
    assert spec.datasets[1] == DataSpec("a b", Simulated(queries=9, noise=1.0))


def test_files_and_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "c.csv", "x=y.csv"):
        (tmp_path / name).write_text("")
    columns = {"label": "relevance", "doc_id": "url"}
    spec = spec_from_options(["a.csv"], "mart", valid="b.csv", test="c.csv", columns=columns)
    source = Files(*(str(tmp_path / name) for name in ("a.csv", "c.csv", "b.csv")))
    assert spec.datasets == (DataSpec(tmp_path.name, source, label="relevance", doc_id="url"),)
    named = spec_from_options(["small=a.csv", "x=y.csv"], "mart")
    assert [data.name for data in named.datasets] == ["small", "x=y"]


@pytest.mark.parametrize(
    ("rankers", "expected"),
    [
        ("lambdamrt", "did you mean 'lambdamart'"),
        ("mart(trees=3)", "did you mean 'n_trees'"),
        ("mart(n_trees)", "found 'n_trees' in 'mart\\(n_trees\\)', expected name=value"),
        ("mart(n_trees=3", "found ranker"),
        ("mart, mart", "two are called 'MART'"),
        ("mart(n_trees=x)", "found 'x', expected a whole number"),
        ("", "--rankers names no ranker"),
        ("mart(n_trees=3, l2=1, n_trees=3)", "n_trees was given twice"),
        ("mart mart", "found ranker 'mart mart', expected name"),
    ],
)
def test_refusals(rankers, expected):
    with pytest.raises(PomonaError, match=expected):
        spec_from_options(["mq2008"], rankers)


OWN = "from pomona.rankers.forests.mart import MART\n\nclass R(MART):\n    name = 'r'\n"


@pytest.mark.parametrize(
    ("folder", "written"),
    [
        ("my dir", "{}"),
        ("my dir", "mine={}(n_trees=3)"),
        ("my dir", "'{}'"),
        ("a (b), c=d", "'{}'"),
        ("a (b), c=d", 'mine="{}"(n_trees=3)'),
        ("my dir", "{escaped}(n_trees=3)"),
    ],
)
def test_a_ranker_in_a_folder_of_any_name(tmp_path, folder, written):
    path = tmp_path / folder / "mine.py"
    path.parent.mkdir()
    path.write_text(OWN)
    name = f"{path}:R"
    rankers = f"mart(n_trees=9), {written.format(name, escaped=name.replace(' ', chr(92) + ' '))}"
    spec = spec_from_options(["simulate"], rankers)
    assert [row.ranker for row in spec.rankers] == ["mart", name]
    assert spec.rankers[1].parameters.get("n_trees", 3) == 3


@pytest.mark.parametrize(
    ("data", "rankers", "settings", "expected"),
    [
        (["simulate"], "mart", {"measures": ["ndgc"]}, "--measure: unknown measure"),
        (["simulate"], "mart", {"n_trials": 0}, "--trials: found 0, expected at least 1"),
        (["simulate"], "mart, adarank(n_trees=1)", {}, "--rankers adarank n_trees: unknown parameter"),
        (["simulate"], "mart", {"n_folds": 1}, "--n-folds: found 1, expected at least 2"),
        (["mq2008"], "mart", {"n_folds": 3}, "--n-folds: every dataset has folds of its own"),
        (["t.txt"], "mart", {"n_folds": 3, "test": "u.txt"}, "--n-folds cuts data that have no --test"),
        (["mq2008"], "mart", {"folds": [1, 1]}, "--folds: found .1, 1."),
        (["mq2008", "x/y.txt"], "mart", {}, "x/y.txt: no such file or directory"),
        (["mq2009"], "mart", {}, "mq2009: unknown collection, directory or file 'mq2009'"),
        (
            ["simulate"],
            "mart",
            {"valid": "v.txt", "test": "t.txt"},
            "--test and --valid go with a training file, found simulate",
        ),
    ],
)
def test_messages_name_what_was_typed(data, rankers, settings, expected):
    with pytest.raises(PomonaError, match=f"^{expected}|{expected}: "):
        spec_from_options(data, rankers, **settings)
