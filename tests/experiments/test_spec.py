import dataclasses
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona._registry import entries
from pomona.errors import PomonaError
from pomona.experiments.data_spec import DataSpec, Simulated
from pomona.experiments.spec import RankerSpec, SearchSpec, Spec, _ranker_class, ranker_class, read_spec
from pomona.experiments.spec_options import spec_from_options
from pomona.experiments.spec_reader import spec_of

# A text that is a key of none of the tables, and no character that a file cannot hold.
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text.lower() != "none"
)
rankers = st.one_of(
    st.builds(
        RankerSpec,
        names,
        st.just("lambdamart"),
        st.fixed_dictionaries(
            {},
            optional={
                "n_trees": st.integers(1, 10**6),
                "l2": st.floats(allow_nan=False),
                "growth": names,
                "normalize": st.booleans(),
                "early_stopping": st.none() | st.integers(1, 9),
                "monotone": st.lists(st.integers(-1, 1), min_size=1).map(tuple),
                "measure": st.sampled_from(["ndcg@10", "yahoo:ndcg@20", "rbp(p=0.95)"]),
            },
        ),
        st.none()
        | st.fixed_dictionaries(
            {},
            optional={
                "min_docs": st.tuples(
                    st.integers(1, 9), st.integers(10, 99), st.sampled_from(["int", "log int"])
                ),
                "learning_rate": st.lists(st.floats(0.1, 1), min_size=1),
            },
        ),
    ),
    st.builds(RankerSpec, names, st.just("mart")),
)
datasets = st.builds(
    DataSpec,
    names,
    st.just("mq2008")
    | st.just(("mq2007", "mq2008"))
    | st.builds(
        Simulated,
        st.integers(),
        st.integers(),
        st.floats(allow_nan=False),
        st.floats(allow_nan=False),
        st.integers(),
    ),
    st.none() | st.sets(st.integers(1, 5), min_size=1).map(tuple),
    drop_empty=st.booleans(),
    label=names,
    qid=names,
    doc_id=st.none() | names,
)
specs = st.builds(
    Spec,
    names,
    st.lists(datasets, min_size=1, max_size=3, unique_by=lambda data: data.name).map(tuple),
    st.lists(rankers, min_size=1, max_size=3, unique_by=lambda row: row.label).map(tuple),
    measures=st.sets(st.sampled_from(["ndcg@10", "letor4:ap", "ndcg(gain=linear)@3"]), min_size=1).map(tuple),
    conventions=st.sets(st.sampled_from(["definition", "lightgbm"]), min_size=1).map(tuple),
    seeds=st.sets(st.integers(0, 2**63 - 1), min_size=1).map(tuple),
    search=st.none() | st.builds(SearchSpec, st.integers(1, 10**9), st.integers(0, 2**63 - 1)),
    time_limit=st.none() | st.floats(0.001, 1e9),
    n_folds=st.integers(2, 10**9),
    bounds=st.booleans(),
)


@given(specs)
def test_toml_and_back(spec):
    assert spec_of(tomllib.loads(spec.to_toml())) == spec


def test_the_sketch_reads_as_meant(tmp_path):
    (tmp_path / "mq.toml").write_text(
        """
        measures = ["NDCG@10", "map"]
        conventions = ["definition", "letor4"]
        seeds = [0, 1]
        baseline = "mart"
        time_limit = 600
        [[dataset]]
        source = "MQ2008"
        folds = [1, 2]
        [[ranker]]
        ranker = "LambdaMART"
        label = "LambdaMART yahoo"
        measure = "yahoo:NDCG@10"
        n_trees = 300
        early_stopping = "none"
        [[ranker]]
        ranker = "mart"
        [search]
        n_trials = 20
        """
    )
    spec = read_spec(tmp_path / "mq.toml")
    given = {"measure": "yahoo:ndcg@10", "n_trees": 300, "early_stopping": None}
    assert spec == Spec(
        "mq",
        (DataSpec("mq2008", "mq2008", (1, 2)),),
        (RankerSpec("LambdaMART yahoo", "lambdamart", given), RankerSpec("MART", "mart")),
        measures=("ndcg@10", "ap"),
        conventions=("definition", "letor4"),
        seeds=(0, 1),
        baseline="MART",
        search=SearchSpec(20),
        time_limit=600.0,
    )
    (tmp_path / "again.toml").write_text(spec.to_toml())
    assert read_spec(tmp_path / "again.toml") == spec


def test_what_is_judged(make_spec):
    spec = make_spec(measures=["ap", "letor4:p@5"], conventions=["definition", "lightgbm"])
    assert spec.main == "ap"
    assert make_spec(measures=["ap"], conventions=["lightgbm"]).main == "lightgbm:ap"
    ndcg = [f"ndcg@{k}" for k in range(1, 11)]
    assert list(spec.judged()) == [
        "ap",
        "letor4:p@5",
        *ndcg,
        "lightgbm:ap",
        *(f"lightgbm:{one}" for one in ndcg),
    ]
    assert spec.judged()["lightgbm:ap"] == ("ap", "lightgbm")


def test_bounds_are_added_once_and_only_where_there_are_any(make_spec, monkeypatch):
    spec = make_spec("lambdamart", bounds=True)
    known = dict(entries("rankers"))
    known |= {"ideal": known["mart"], "worst": known["mart"]}
    monkeypatch.setattr("pomona._registry.entries", lambda folder: known)
    assert [row.ranker for row in spec.rows()] == ["lambdamart", "mart", "mart"]
    monkeypatch.setattr("pomona._registry.entries", lambda folder: {"mart": known["mart"]})
    assert spec.rows() == spec.rankers


def test_a_baseline_may_be_written_in_other_capitals(make_spec):
    assert make_spec("mart, lambdamart").baseline is None
    assert make_spec("mart, lambdamart", baseline="lambdamart").baseline == "LambdaMART"


def test_a_record_made_by_hand_is_checked(make_spec):
    with pytest.raises(PomonaError, match=r"n_tree: unknown parameter .* did you mean 'n_trees'"):
        RankerSpec("a", "lambdamart", {"n_tree": 3})
    with pytest.raises(PomonaError, match="valid_measure: found 3, expected a text or none"):
        RankerSpec("a", "lambdarank", {"valid_measure": 3})
    with pytest.raises(PomonaError, match="queries: found 'many', expected a whole number"):
        Simulated(queries="many")
    spec = make_spec("mart, lambdamart")
    with pytest.raises(PomonaError, match="label: two are called 'MART'"):
        dataclasses.replace(spec, rankers=spec.rankers[:1] * 2)
    with pytest.raises(PomonaError, match="rankers: expected one at least"):
        dataclasses.replace(spec, rankers=())
    with pytest.raises(PomonaError, match="measures: unknown measure 'ndgc'"):
        dataclasses.replace(spec, measures=["ndgc"])


def test_a_ranker_that_cannot_be_imported_is_a_clear_refusal(monkeypatch):
    def load(entry):
        raise ImportError("No module named 'torch'")

    monkeypatch.setattr("pomona._registry.Entry.load", load)
    with pytest.raises(PomonaError, match="McRank cannot be loaded: No module named 'torch'"):
        _ranker_class.__wrapped__("mcrank", "")


def test_texts_survive_toml():
    strange = 'quote " backslash \\ tab \t delete \x7f control \x01 ü 中'
    spec = Spec(strange, (DataSpec(strange, Simulated()),), (RankerSpec(strange, "mart"),))
    assert tomllib.loads(spec.to_toml())["name"] == strange


def test_a_ranker_of_the_users_own(own_ranker, make_spec):
    cls = ranker_class(own_ranker)
    assert (cls.__name__, cls.name) == ("Mine", "mine")
    assert make_spec(own_ranker).rankers == (RankerSpec("Mine", own_ranker),)
    with pytest.raises(PomonaError, match="did you mean 'Mine'"):
        ranker_class(own_ranker.replace(":Mine", ":mine"))


def test_a_package_that_a_ranker_needs_is_missing(tmp_path):
    (tmp_path / "mine.py").write_text("import no_such_package")
    with pytest.raises(PomonaError, match="Mine cannot be loaded: No module named 'no_such_package'"):
        ranker_class(f"{tmp_path / 'mine.py'}:Mine")


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf"), float("-inf")])
def test_a_time_limit_is_a_finite_time(limit):
    with pytest.raises(
        PomonaError, match=r"--time-limit: found .*, expected more than 0, and a finite number"
    ):
        spec_from_options(["simulate"], "mart", time_limit=limit)


def test_seeds_fit_the_store():
    assert spec_from_options(["simulate"], "mart", seeds=[2**63 - 1]).seeds == (2**63 - 1,)
    for seeds in ([2**63], [0, 10**30], [-1], [1, 1]):
        with pytest.raises(
            PomonaError, match=r"seeds: found .*, expected different whole numbers from 0 to 9223"
        ):
            spec_from_options(["simulate"], "mart", seeds=seeds)


def test_two_measures_never_share_a_column(make_spec, tmp_path):
    for name in ("one", "other"):
        (tmp_path / f"{name}.py").write_text(
            "import pomona\nclass Top(pomona.Measure):\n  def of_query(self, labels):\n    return labels[0]\n"
        )
    texts = [f"{tmp_path}/{name}.py:Top" for name in ("one", "other")]
    assert next(iter(make_spec(measures=texts[:1]).judged())) == "Top"
    with pytest.raises(PomonaError, match="is called Top, as another is"):
        make_spec(measures=texts).judged()


def test_a_measure_that_names_the_definition_is_judged_by_it(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(
        'measures = ["ndcg@10", "definition:ndcg(gain=linear)@10", "Definition:sr4"]\n'
        'conventions = ["letor4"]\n'
        '[[dataset]]\nsource = "mq2008"\n[[ranker]]\nranker = "mart"\n'
    )
    spec = read_spec(path, needs_data=False)
    assert spec.measures == ("ndcg@10", "definition:ndcg(gain=linear)@10", "definition:sr4")
    columns = {text: column for (text, _), column in spec.columns().items() if text in spec.measures}
    assert list(columns.values()) == ["letor4:ndcg@10", "ndcg(gain=linear)@10", "sr4"]
    path.write_text(spec.to_toml())
    assert read_spec(path, needs_data=False).measures == spec.measures
