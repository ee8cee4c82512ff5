import numpy as np
import pytest
from scipy import stats

import pomona as pm
from pomona.errors import InputError
from pomona.experiments.analysis.duel import duel_of_runs


@pytest.fixture(scope="module")
def data():
    return pm.simulate(60, docs_per_query=12, n_features=4, seed=3)


@pytest.fixture(scope="module")
def scores(data):
    random = np.random.default_rng(0)
    y = data.to_input_order(data.y)
    return {
        name: y + spread * random.standard_normal(len(y))
        for name, spread in (("old", 3), ("new", 1), ("x", 2))
    }


def test_the_tests_are_scipys(data, scores):
    found = pm.duel(data, scores, ["ndcg@10", "ap"])
    each = {name: pm.evaluate(data, given, "ap", per_query=True)["ap"] for name, given in scores.items()}
    d = each["new"] - each["old"]
    row = found.pairs.filter(measure="ap", a="new", b="old").row(0, named=True)
    assert row["difference"] == pytest.approx(d.mean())
    assert row["t_p"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    assert row["sign_p"] == pytest.approx(stats.binomtest(int((d > 0).sum()), int((d != 0).sum())).pvalue)
    assert (row["wins"], row["losses"]) == ((d > 0).sum(), (d < 0).sum())
    assert row["effect"] == pytest.approx(d.mean() / d.std(ddof=1))
    assert row["is_significant"]


def test_intervals_are_corrected_for_all_pairs(data, scores):
    three = pm.duel(data, scores, "ap").pairs.filter(a="new", b="old").row(0, named=True)
    two = pm.duel(data, {name: scores[name] for name in ("old", "new")}, "ap").pairs.row(0, named=True)
    assert three["low"] < two["low"] < two["difference"] < two["high"] < three["high"]
    values = [pm.evaluate(data, scores[name], "ap", per_query=True)["ap"] for name in ("new", "old")]
    expected = stats.bootstrap(
        (values[0] - values[1],), np.mean, confidence_level=1 - 0.05 / 3, rng=0
    ).confidence_interval
    assert three["low"] == pytest.approx(expected.low, abs=0.01)
    assert three["high"] == pytest.approx(expected.high, abs=0.01)


def test_no_difference_is_none(data, scores):
    found = pm.duel(data, {"a": scores["old"], "b": scores["old"] + 7}, "ndcg@5")
    row = found.pairs.row(0, named=True)
    assert (row["difference"], row["ties"], row["holm_p"], row["is_significant"]) == (0, 60, 1, False)
    assert "are the same on average" in found.verdicts[0]
    assert (found.dependence["p"] == 1).all()


def test_slices(data, scores):
    kinds = np.arange(data.n_queries) % 2
    found = pm.duel(data, scores, "ap", by={"kind": kinds})
    old, new = (pm.evaluate(data, scores[name], "ap", per_query=True)["ap"] for name in ("old", "new"))
    d = new - old
    for kind in (0, 1):
        row = found.slices.filter(slice="kind", group=str(kind), a="new", b="old").row(0, named=True)
        assert row["difference"] == pytest.approx(d[kinds == kind].mean())
        assert row["n_queries"] == 30
        assert row["t_p"] == pytest.approx(stats.ttest_1samp(d[kinds == kind], 0).pvalue)
    p = found.dependence.filter(slice="kind", a="new", b="old")["p"].item()
    assert p == pytest.approx(stats.kruskal(np.round(d[kinds == 0], 12), np.round(d[kinds == 1], 12)).pvalue)
    # Holm's family is every pair in every group.
    assert found.slices["holm_p"].min() == pytest.approx(
        min(1, found.slices["randomization_p"].min() * len(found.slices))
    )


def test_rows_in_any_order(data, scores):
    order = np.random.default_rng(1).permutation(data.n_docs)
    rows = [data.to_input_order(array) for array in (data.X, data.y, data.qid)]
    shuffled = pm.Dataset(*(array[order] for array in rows))
    moved = {name: given[order] for name, given in scores.items()}
    one = pm.duel(data, scores, "ap", ties="worst").queries.sort("query")
    other = pm.duel(shuffled, moved, "ap", ties="worst").queries.sort("query")
    assert one.equals(other)


def test_queries_are_sorted_by_their_difference(data, scores):
    found = pm.duel(data, scores, "ap")
    rows = found.differences("new", "old")
    assert rows["difference"].is_sorted()
    assert rows["difference"].to_numpy() == pytest.approx((rows["a"] - rows["b"]).to_numpy())


QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 c 2\n3 0 a 1\n"


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "one").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n2 Q0 c 1 2 t\n3 Q0 a 1 1 t\n")
    (tmp_path / "two").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 a 1 2 t\n")
    return tmp_path


def test_runs_are_compared_on_the_queries_of_all(runs):
    systems = {"one": runs / "one", "two": runs / "two"}
    found = duel_of_runs(runs / "qrels", systems, "rr", convention="trec_eval", by={"kind": {1: "x", 2: "y"}})
    assert found.n_left_out == 1
    assert found.queries["value of one"].to_list() == [0.5, 1.0]
    assert found.queries["value of two"].to_list() == [1.0, 1.0]
    assert found.queries["kind"].to_list() == ["x", "y"]
    complete = duel_of_runs(runs / "qrels", systems, "rr", convention="trec_eval", complete=True)
    assert complete.queries["value of two"].to_list() == [1.0, 1.0, 0.0]
    assert complete.queries["relevant documents"].to_list() == [1, 2, 1]


def test_refused(data, scores, runs):
    with pytest.raises(InputError, match="found 1 system, expected two or more"):
        pm.duel(data, {"old": scores["old"]})
    with pytest.raises(InputError, match="found alpha 5"):
        pm.duel(data, scores, alpha=5)
    with pytest.raises(InputError, match="no measure"):
        pm.duel(data, scores, [])
    with pytest.raises(InputError, match="found 3 scores for"):
        pm.duel(data, {"old": scores["old"], "new": [1, 2, 3]})
    (runs / "three").write_text("9 Q0 a 1 1 t\n")
    with pytest.raises(InputError, match="no query of"):
        duel_of_runs(runs / "qrels", {"one": runs / "one", "three": runs / "three"})


def test_one_query():
    one = pm.Dataset([[0.0]] * 3, [0, 1, 2], [1, 1, 1])
    row = pm.duel(one, {"old": [3, 2, 1], "new": [1, 2, 3]}).pairs.row(0, named=True)
    assert row["difference"] > 0
    assert not row["is_significant"]


def test_empty_queries_are_those_of_the_measure():
    data = pm.Dataset(np.zeros((4, 1)), [1, 0, 2, 0], [1, 1, 2, 2])
    systems = {"a": [2, 1, 2, 1], "b": [1, 2, 1, 2]}
    found = {
        text: pm.duel(data, systems, text).n_empty for text in ("ap", "p(relevant=2)@1", "rr(relevant=3)")
    }
    assert found == {"ap": 0, "p(relevant=2)@1": 1, "rr(relevant=3)": 2}


def test_a_measure_that_is_asked_for_twice_is_tested_once():
    labels = [2, 0, 1, 0, 0, 0, 1, 1]
    data = pm.Dataset([[0.0]] * 8, labels, np.repeat([1, 2, 3, 4], 2))
    given = {"one": np.arange(8.0), "two": -np.arange(8.0)}
    assert pm.duel(data, given, "ap").n_empty == 1
    assert pm.duel(data, given, "ap(relevant=2)").n_empty == 3
    assert len(pm.duel(data, given, ["ap", "ap"]).pairs) == 1  # asked for twice, tested once


def test_empty_queries_of_runs_are_those_of_the_measure(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b 0\n2 0 a 1\n2 0 b 0\n")
    paths = {}
    for name, order in (("one", "ab"), ("two", "ba")):
        lines = (f"{q} Q0 {doc} {i} {-i} t\n" for q in (1, 2) for i, doc in enumerate(order, 1))
        paths[name] = tmp_path / name
        paths[name].write_text("".join(lines))
    assert duel_of_runs(tmp_path / "qrels", paths, "ap").n_empty == 0
    assert duel_of_runs(tmp_path / "qrels", paths, "ap(relevant=2)").n_empty == 1


def test_two_measures_of_one_name_are_refused():
    def own(value):
        class Own(pm.Measure):
            def of_query(self, labels):
                return value

        return Own()

    data = pm.Dataset(np.zeros((4, 1)), [1, 0, 2, 0], [1, 1, 2, 2])
    with pytest.raises(InputError, match="two different measures are called Own"):
        pm.duel(data, {"a": [2, 1, 2, 1], "b": [1, 2, 1, 2]}, [own(0.1), own(0.2)])
