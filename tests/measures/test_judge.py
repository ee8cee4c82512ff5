from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.measures.judge import sum_in_order


@pytest.fixture
def data():
    return pm.Dataset(np.zeros((5, 1)), [0, 2, 1, 0, 0], ["b", "b", "b", "a", "a"], doc_ids=list("vwxyz"))


SCORES = [3, 2, 1, 2, 1]


def test_means_and_per_query(data):
    result = pm.evaluate(data, SCORES, ["letor4:ndcg@2", "ap", pm.measure("p@3")])
    assert result == {"letor4:ndcg@2": 0.375, "ap": (1 / 2 + 2 / 3) / 2 / 2, "p@3": (2 / 3) / 2}
    per_query = pm.evaluate(data, SCORES, "ap", per_query=True)
    assert per_query["ap"].tolist() == [pytest.approx(7 / 12), 0]


def test_counts_stand_beside_the_mean(data):
    result = pm.evaluate(data, SCORES, ["ndcg@3", "ap"])
    assert (result.n_queries, result.n_empty) == (2, 1)
    assert [judgement.n_short for judgement in result.judgements] == [1, 0]
    assert "2 queries, 1 empty" in str(result)
    assert "1 short" in str(result)


def test_convention_and_ties(data):
    assert pm.evaluate(data, SCORES, "ndcg@10", convention="yahoo")["ndcg@10"] == pytest.approx(0.8295009024)
    assert pm.evaluate(data, np.zeros(5), "ap", ties="best")["ap"] == 1 / 2
    expected = pm.evaluate(data, np.zeros(5), "p@1", ties="expected")["p@1"]
    assert expected == pytest.approx((2 / 3) / 2)
    # trec_eval ranks x, w, v by descending id.
    assert pm.evaluate(data, np.zeros(5), "trec_eval:rr")["trec_eval:rr"] == 1 / 2


@pytest.mark.parametrize(
    ("scores", "measures", "why"),
    [
        ([1, 2], "ap", "found 2 scores for 5 documents"),
        ([1, 2, np.nan, 4, 5], "ap", "score of document 3 is NaN"),
        (["a"] * 5, "ap", "scores must be numbers"),
        (SCORES, [], "no measure"),
        (SCORES, "apx", "unknown measure"),
    ],
)
def test_refusals(data, scores, measures, why):
    with pytest.raises(pm.PomonaError, match=why):
        pm.evaluate(data, scores, measures)


def test_a_users_measure_must_give_numbers(data):
    class Bad(pm.Measure):
        def of_query(self, labels):
            return float("nan")

    with pytest.raises(InputError, match="not finite for query number 1"):
        pm.evaluate(data, SCORES, Bad())


def test_scores_that_would_change_in_silence_are_refused(data):
    import pandas

    for scores, why in (
        (np.ma.array(SCORES, mask=[0, 0, 1, 0, 0]), "masked"),
        (np.array(SCORES) + 1j, "complex"),
        (np.array(SCORES, "datetime64[D]"), "datetime64"),
        ([str(score) for score in SCORES], "found <U1"),
        (np.array(["3", 2, 1, 2, 1], object), "texts"),
    ):
        with pytest.raises(InputError, match=why):
            pm.evaluate(data, scores, "ap")
    X = pandas.DataFrame({"x": np.zeros(5)}, index=[10, 20, 30, 40, 50])
    named, expected = pm.Dataset(X, data.y, data.qid), pm.evaluate(data, SCORES, "ap")
    assert pm.evaluate(named, pandas.Series(SCORES, index=X.index), "ap") == expected
    assert pm.evaluate(named, SCORES, "ap") == pm.evaluate(data, pandas.Series(SCORES), "ap") == expected
    for index in ([50, 40, 30, 20, 10], range(5)):
        with pytest.raises(InputError, match="index of scores is not that of the data"):
            pm.evaluate(named, pandas.Series(SCORES, index=index), "ap")


def test_a_cut_off_that_changes_nothing_is_not_in_the_name():
    data = pm.Dataset(np.zeros((3, 1)), [1, 0, 1], [1, 1, 1])
    for asked, convention, name in (("letor4:ap@1", None, "letor4:ap"), ("map_cut_1", "letor4", "map_cut")):
        found = pm.evaluate(data, [3, 2, 1], asked, convention=convention)
        assert found == {name: (1 / 1 + 2 / 3) / 2}
        assert f"{name}: letor4 has no cut-off here" in str(found)
    assert pm.evaluate(data, [3, 2, 1], pm.measure("ap@1"), convention="ranklib").keys() == {"ap"}
    assert pm.evaluate(data, [3, 2, 1], "ap@1") == {"ap@1": 1 / 2}


def test_two_measures_never_have_one_name():
    data = pm.Dataset(np.zeros((3, 1)), [1, 0, 1], [1, 1, 1])
    rbp = pm.measure("rbp")
    near = [replace(rbp, p=0.9500001), replace(rbp, p=0.9500002)]
    assert list(pm.evaluate(data, [3, 2, 1], near)) == ["rbp(p=0.9500001)", "rbp(p=0.9500002)"]

    def constant(value):
        class Own(pm.Measure):
            def of_query(self, labels):
                return value

        return Own()

    found = pm.evaluate(data, [3, 2, 1], [constant(0.1), constant(0.2), "ap"])
    assert list(found.values())[:2] == [0.1, 0.2]
    assert list(found) == ["Own", "Own#2", "ap"]


def test_notes_are_printed(data):
    found = pm.evaluate(data, SCORES, ["err@3", "p(relevant=2)@1"])
    assert found.notes[0].startswith("err@3: the largest label is 2")
    assert str(found).splitlines()[0].endswith("of 2 queries, 1 empty")
    assert "note: err@3: the largest label is 2" in str(found)
    differ = str(pm.evaluate(data, SCORES, ["ap", "rr(relevant=3)"])).splitlines()
    assert [line.partition("   ")[2].split("   ")[-1] for line in differ[1:3]] == ["1 empty", "2 empty"]


def test_infinite_scores_are_scores(data):
    assert pm.evaluate(data, [-np.inf, np.inf, 0, 1, 2], "rr")["rr"] == 1 / 2


def test_sums_go_left_to_right():
    values = np.array([1e16, 1.0, -1e16])
    assert sum_in_order(values) == 0.0


def test_a_measure_that_is_asked_for_twice_is_judged_once():
    data = pm.Dataset([[0.0], [0.0], [0.0]], [0, 2, 1], [1, 1, 1])
    found = pm.evaluate(data, [3, 2, 1], ["ap", "p@2", "ap"])
    assert found == {"ap": pytest.approx(7 / 12), "p@2": 0.5}
    assert [line.split()[0] for line in str(found).splitlines()] == ["measure", "ap", "p@2"]


def test_a_tie_rule_that_a_measure_names_is_kept():
    data = pm.Dataset(np.zeros((4, 1)), [3, 2, 1, 0], [1] * 4)
    found = pm.evaluate(data, np.zeros(4), ["rr(relevant=3)", "rr(relevant=3,ties=stable)"], ties="worst")
    assert found == {"rr(relevant=3)": 1 / 4, "rr(relevant=3,ties=stable)": 1.0}


def test_what_is_no_number_is_refused_in_a_line():
    class Odd(pm.Measure):
        def of_query(self, labels):
            return labels[:2] if labels[0] else None

    for scores, found in ((np.arange(4), "None"), (-np.arange(4), r"array\("), (np.zeros(4), ".")):
        with pytest.raises(pm.PomonaError, match=rf"of_query must return one number, found .*{found}"):
            pm.evaluate(pm.Dataset(np.zeros((4, 1)), [3, 2, 1, 0], [1] * 4), scores, Odd())


def test_no_tool_has_a_measure_that_was_made_of_a_shipped_one():
    data = pm.Dataset(np.zeros((3, 1)), [2, 1, 0], [1] * 3)

    class Half(type(pm.measure("ndcg"))):
        def of_query(self, labels):
            return labels[0] / 2

    class Third(Half):
        conventions = MappingProxyType({"letor4": {}})

    assert pm.evaluate(data, [3, 2, 1], Half()) == {"Half": 1.0}
    assert pm.evaluate(data, [3, 2, 1], Third(), convention="letor4") == {"Third": 1.0}
    with pytest.raises(pm.PomonaError, match="letor4 has no Half"):
        pm.evaluate(data, [3, 2, 1], Half(), convention="letor4")
