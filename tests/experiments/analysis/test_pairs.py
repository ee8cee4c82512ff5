from experiments.invented_results import Ranker, invent
from pomona.experiments.analysis.pairs import ABOVE, BELOW, Pair, marks_of, pairs_of, pairs_table
from pomona.experiments.analysis.pooled import pooled
from pomona.stats.corrections import benjamini_hochberg, holm
from pomona.stats.paired import PairedTests, compare_pair

SETTINGS = {"alpha": 0.1, "n_resamples": 500, "seed": 3}


def test_pairs_are_compared_one_by_one():
    (data,) = pooled(invent())
    pairs = pairs_of(data, ["ap", "ndcg@10"], **SETTINGS)
    assert [(pair.measure, pair.a, pair.b) for pair in pairs] == [
        (measure, a, b)
        for measure in ("ap", "ndcg@10")
        for a, b in (("LambdaMART", "MART"), ("LambdaMART", "Linear"), ("MART", "Linear"))
    ]
    values = data.of_measure("ap")
    assert pairs[2].tests == compare_pair(values[1], values[2], **SETTINGS)


def test_on_the_queries_that_both_have():
    failed = [("one", 2, "MART", 0), ("one", 1, "Linear", 0)]
    (data,) = pooled(invent([*_alike(3), Ranker("MART"), Ranker("Linear")], n_queries=30, failed=failed))
    pairs = {(p.a, p.b): p.tests for p in pairs_of(data, ["ap"], **SETTINGS)}
    assert ("MART", "Linear") not in pairs  # they have no query in common
    assert {tests.n_queries for tests in pairs.values()} == {30, 60}
    values = data.of_measure("ap")
    assert pairs["r0", "MART"] == compare_pair(values[0, :30], values[3, :30], **SETTINGS)
    assert pairs["r1", "Linear"] == compare_pair(values[1, 30:], values[4, 30:], **SETTINGS)


def _alike(n):
    return [Ranker(f"r{i}", noise=0.2) for i in range(n)]


def test_families_are_datasets_and_measures():
    datasets = pooled(invent(_alike(5), datasets=("one", "two")))
    pairs = [pair for data in datasets for pair in pairs_of(data, ["ap", "ndcg@10"], **SETTINGS)]
    table = pairs_table(pairs, 0.1)
    for _, family in table.group_by("dataset", "measure"):
        p = family["randomization_p"].to_list()
        assert family["holm_p"].to_list() == holm(p).tolist()
        assert family["bh_p"].to_list() == benjamini_hochberg(p).tolist()
        assert len(family) == 10
    assert table["agree"].to_list() == [pair.tests.agree(0.1) for pair in pairs]


def test_many_pairs_can_still_be_told_apart():
    (data,) = pooled(invent([*_alike(7), Ranker("good", 0.5)], n_queries=100))
    table = pairs_table(pairs_of(data, ["ap"], alpha=0.05, n_resamples=100, seed=0), 0.05)
    # 28 pairs: p = 1 / 101 would become 0.28.
    assert table.filter(b="good")["holm_p"].max() < 0.05


def test_what_cannot_be_told_is_null():
    (data,) = pooled(invent(_alike(2), n_queries=1, n_folds=1))
    row = pairs_table(pairs_of(data, ["ap"], **SETTINGS), 0.1).row(0, named=True)
    assert row["low"] is row["high"] is row["effect"] is row["detectable"] is None
    assert row["t_p"] == row["holm_p"] == 1.0


def test_no_pair():
    (data,) = pooled(invent(_alike(1)))
    assert pairs_table(pairs_of(data, ["ap"], **SETTINGS), 0.1).is_empty()


def _tests(difference, p):
    counts = {"wins": 9, "losses": 3} if difference > 0 else {"wins": 3, "losses": 9}
    return PairedTests(
        **dict.fromkeys(("n_queries", "low", "high", "effect", "randomization_p", "ties", "detectable"), 0),
        **{"difference": difference, "t_p": p, "wilcoxon_p": p, "sign_p": p},
        **counts,
    )


def marks(*pairs):
    return marks_of([Pair("one", "ap", a, b, _tests(d, p)) for a, b, d, p in pairs], "base", 0.05)


def test_marks_are_seen_from_the_baseline():
    found = marks(
        ("base", "worse", 0.1, 0.001), ("better", "base", 0.1, 0.001), ("base", "best", -0.1, 0.001),
        ("best", "worse", 0.2, 0.001),
    )  # fmt: skip
    assert found == {
        ("one", "ap", "worse"): BELOW,
        ("one", "ap", "better"): ABOVE,
        ("one", "ap", "best"): ABOVE,
    }


def test_marks_are_corrected_for_the_number_of_rankers():
    assert marks(("base", "a", -0.1, 0.03)) == {("one", "ap", "a"): ABOVE}
    # Two are compared with the baseline: the smaller p is held against 0.05 / 2; other pairs do not count.
    assert marks(("base", "a", -0.1, 0.03), ("base", "b", -0.1, 0.9)) == {}
    assert len(marks(("base", "a", -0.1, 0.02), ("base", "b", -0.1, 0.9), ("a", "b", 0.1, 0.9))) == 1


def test_a_clear_difference_is_marked_and_none_is_not():
    results = invent([Ranker("base"), Ranker("same"), Ranker("good", 0.1)], n_queries=100)
    (data,) = pooled(results)
    found = marks_of(pairs_of(data, ["ap"], alpha=0.05, n_resamples=500, seed=0), "base", 0.05)
    assert found == {("one", "ap", "good"): ABOVE}
