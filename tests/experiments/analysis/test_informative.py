import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.experiments.analysis.informative import informativeness
from pomona.measures.lists import RankedLists

LABELS = [1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("measure", "value", "expected"),
    [
        ("ap", 0.9, (0.8578, 0.5547, 0.3079, 0.1727, 0.1069)),
        ("ap", 0.7, (0.4524, 0.4107, 0.3906, 0.3778, 0.3686)),
        ("ap", 0.5, (0.0797, 0.3099, 0.4520, 0.5448, 0.6137)),
        ("ndcg", 0.9, (0.8821, 0.4598, 0.2825, 0.2074, 0.1682)),
        ("ndcg", 0.7, (0.3370, 0.3930, 0.4136, 0.4247, 0.4317)),
        ("p@2", 0.5, (1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3)),
        ("p@2", 1.0, (1, 1, 0, 0, 0)),
    ],
)
def test_values_checked_by_other_solvers(measure, value, expected):
    assert pm.infer_relevance(measure, value, LABELS) == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize(
    ("measure", "value", "multiplier"),
    [
        ("ap", 0.9, 9.055),
        ("ap", 0.7, 0.711),
        ("ap", 0.5, -5.352),
        ("ndcg", 0.9, 5.889),
        ("ndcg", 0.7, -0.656),
    ],
)
def test_multipliers_checked_by_other_solvers(measure, value, multiplier):
    """λ, read off the inferred p: its log odds are a line in what a relevant document at a rank adds."""
    p, ranks, n_relevant = pm.infer_relevance(measure, value, LABELS), np.arange(1, 6), 2
    adds = 1 / np.log2(ranks + 1)
    if measure == "ap":
        later = np.append(np.cumsum((p / ranks)[::-1])[::-1][1:], 0)
        adds = ((1 + np.cumsum(p) - p) / ranks + later) / n_relevant
    slopes = np.diff(np.log(p / (1 - p))) / np.diff(adds)
    assert slopes == pytest.approx(np.full(4, multiplier), abs=2e-3)


def test_any_sum_over_ranks():
    labels = np.repeat([0, 1, 2, 4], [9, 3, 2, 1])
    for measure, value in (
        ("rbp(p=0.9)", 0.4),
        ("ndcg@5", 0.6),
        ("dcg(gain=linear)", 7.0),
        ("recall@4", 0.5),
    ):
        p = pm.infer_relevance(measure, value, labels)
        assert p.sum() == pytest.approx(6)
        assert ((p >= 0) & (p <= 1)).all()
    rbp = pm.infer_relevance("rbp(p=0.9)", 0.4, labels)
    assert 0.1 * (rbp @ 0.9 ** np.arange(15)) == pytest.approx(0.4)


def test_lost_flips():
    # Yilmaz & Robertson 2009, 3.1.1: of 20 documents the 5 relevant at ranks 1, 2, 11, 12, 13 or at ranks
    # 8, 9, 18, 19, 20. PC(10) is 0.2 for both: what moved, it does not see, and it can infer nothing more.
    lists = np.zeros((2, 20))
    lists[0, np.array([1, 2, 11, 12, 13]) - 1] = lists[1, np.array([8, 9, 18, 19, 20]) - 1] = 1
    compared = pm.compare_measures(list(lists), ["p@10", "ap", "ndcg"])
    assert compared.values["p@10"].to_list() == [0.2, 0.2]
    assert compared.values["ap"].to_list() == pytest.approx([0.598, 0.195], abs=5e-4)
    assert pm.infer_relevance("p@10", 0.2, lists[0]) == pytest.approx([0.2] * 10 + [0.3] * 10)


def test_refusals():
    with pytest.raises(InputError, match=r"lies between 0.325 and 1, found 0.2"):
        pm.infer_relevance("ap", 0.2, LABELS)
    for measure in ("err", "sr4", "best"):
        with pytest.raises(InputError, match="relevance can be inferred from ap and from sums over ranks"):
            pm.infer_relevance(measure, 0.1, [1, 0])
    with pytest.raises(InputError, match="whole list"):
        pm.infer_relevance("ap@3", 0.5, LABELS)
    with pytest.raises(InputError, match="no labels"):
        pm.infer_relevance("ap", 0.5, [])


@pytest.fixture
def systems():
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, (30, 20)) * (random.random((30, 20)) < 0.4)

    def ranked(noise):
        return RankedLists.of_labels([one[np.argsort(-one - random.normal(0, noise, 20))] for one in labels])

    return {f"noise {noise}": ranked(noise) for noise in (0.5, 1.0, 2.0, 4.0)}


def test_tables(systems):
    found = informativeness({"toy": systems}, ["ap", "ndcg", "p@10"], n_top=10)
    assert found.measures == ["ap", "ndcg", "p@10"]
    assert found.summary.height == 3
    assert found.systems.height == 3 * 4
    p10 = found.summary.row(2, named=True)
    # From PC(10) itself, PC(10) is inferred without error.
    assert p10["rms_of_inferred_pc"] == pytest.approx(0, abs=1e-7)
    assert p10["tau_of_inferred_pc"] == p10["tau_to_pc"] == pytest.approx(1)
    assert (found.summary["rms"] >= found.summary["mae"]).all()
    assert found.summary["rms"][0] < p10["rms"]  # the whole list tells more than its first half
    means = found.systems.filter(measure="ap")["value"].to_list()
    assert means == sorted(means, reverse=True)
    assert set(found.example["curve"]) == {"actual", "from ap", "from ndcg", "from p@10"}
    for curve in found.example.partition_by("curve"):
        assert curve["recall"][-1] == pytest.approx(1, abs=1e-6)


def test_lists_that_tell_nothing_are_left_out(systems):
    nothing = RankedLists.of_labels([[0, 0, 0], [1, 2, 1], [1, 0, 0]])
    found = informativeness({"toy": {"one": nothing}}, ["ap"])
    row = found.summary.row(0, named=True)
    assert (row["n_lists"], row["n_left_out"], row["n_incomplete"]) == (1, 2, 0)
    assert row["tau_to_pc"] is None  # of one system
    with pytest.raises(InputError, match="none of the 1 lists of toy has both"):
        informativeness({"toy": {"one": RankedLists.of_labels([[0, 0]])}})


def test_a_value_that_no_order_changes_infers_nothing():
    # LETOR's script gives 0 to queries shorter than the cut-off, whatever their order.
    lists = RankedLists.of_labels([[1, 0, 0, 0]])
    found = informativeness({"toy": {"one": lists}}, ["letor4:ndcg@10"])
    assert found.systems["inferred_pc"].to_list() == [0.1]
    curve = found.example.filter(curve="from letor4:ndcg@10")
    assert curve["precision"].to_list() == pytest.approx([0.25] * 4)


def test_mq2007_as_expected():
    # Single features of MQ2007 fold 1: errors near 0.1 from either measure, AP's the smaller MAE.
    try:
        test = pm.load("mq2007", fold=1)[2]
    except pm.PomonaError:
        pytest.skip("MQ2007 is not here")
    from pomona.experiments.analysis.ranked_system import systems_of_features

    found = informativeness({"mq2007": systems_of_features([test])}, ["ap", "ndcg"])
    ap, ndcg = found.summary.to_dicts()
    assert 0.07 < ap["mae"] < ndcg["mae"] < 0.12
    assert ap["rms_of_inferred_pc"] < ndcg["rms_of_inferred_pc"] < 0.05
