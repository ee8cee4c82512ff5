import polars as pl
import pytest

from experiments.invented_results import Ranker, invent
from pomona.experiments.analysis import pairs as pairs_module
from pomona.experiments.analysis.pairs import both_ways
from pomona.experiments.findings import Findings
from pomona.stats.corrections import benjamini_hochberg, holm
from pomona.stats.paired import PairedTests, compare_pair

SETTINGS = {"alpha": 0.1, "n_resamples": 500, "seed": 3}


def paired_tests(pair):
    """What the tests said of a pair, as they say it."""
    return PairedTests(**{name: pair[name] for name in PairedTests.__dataclass_fields__})


def test_pairs_are_compared_one_by_one():
    findings = Findings(invent(measures=("ap", "ndcg@10")), **SETTINGS)
    pairs = findings.pairs.to_dicts()
    assert [(pair["measure"], pair["a"], pair["b"]) for pair in pairs] == [
        (measure, a, b)
        for measure in ("ap", "ndcg@10")
        for a, b in (("LambdaMART", "MART"), ("LambdaMART", "Linear"), ("MART", "Linear"))
    ]
    values = findings.pooled[0].of_measure("ap")
    assert paired_tests(pairs[2]) == compare_pair(values[1], values[2], **SETTINGS)


def test_on_the_queries_that_both_have():
    failed = [("one", 2, "MART", 0), ("one", 1, "Linear", 0)]
    rankers = [*_alike(3), Ranker("MART"), Ranker("Linear")]
    findings = Findings(invent(rankers, n_queries=30, failed=failed, measures=("ap",)), **SETTINGS)
    pairs = {(p["a"], p["b"]): paired_tests(p) for p in findings.pairs.iter_rows(named=True)}
    assert ("MART", "Linear") not in pairs  # they have no query in common
    assert {tests.n_queries for tests in pairs.values()} == {30, 60}
    values = findings.pooled[0].of_measure("ap")
    assert pairs["r0", "MART"] == compare_pair(values[0, :30], values[3, :30], **SETTINGS)
    assert pairs["r1", "Linear"] == compare_pair(values[1, 30:], values[4, 30:], **SETTINGS)


def _alike(n):
    return [Ranker(f"r{i}", noise=0.2) for i in range(n)]


def test_families_are_datasets_and_measures():
    findings = Findings(invent(_alike(5), datasets=("one", "two")), **SETTINGS)
    for _, family in findings.pairs.group_by("dataset", "measure"):
        p = family["randomization_p"].to_list()
        assert family["holm_p"].to_list() == holm(p).tolist()
        assert family["bh_p"].to_list() == benjamini_hochberg(p).tolist()
        assert len(family) == 10
    pairs = findings.pairs.to_dicts()
    assert [pair["agree"] for pair in pairs] == [paired_tests(pair).agree(0.1) for pair in pairs]


def test_many_pairs_can_still_be_told_apart():
    results = invent([*_alike(7), Ranker("good", 0.5)], n_queries=100, measures=("ap",))
    pairs = Findings(results, n_resamples=100).pairs
    # 28 pairs: p = 1 / 101 would become 0.28.
    assert pairs.filter(b="good")["holm_p"].max() < 0.05


def test_what_cannot_be_told_is_null():
    row = Findings(invent(_alike(2), n_queries=1, n_folds=1), **SETTINGS).pairs.row(0, named=True)
    assert row["low"] is row["high"] is row["effect"] is row["detectable"] is None
    assert row["t_p"] == row["holm_p"] == 1.0
    assert row["is_significant"] is False


def test_no_pair():
    assert Findings(invent(_alike(1)), **SETTINGS).pairs.is_empty()


def verdicts(monkeypatch, *p_values):
    """Which of three pairs are significant at 0.05, of given p-values of randomization and of all others."""

    def tests(data, findings):
        return {
            (0, pair): PairedTests(
                **dict.fromkeys(("n_queries", "low", "high", "effect", "ties", "detectable"), 0),
                **{"difference": 0.1, "wins": 9, "losses": 3, "randomization_p": randomization},
                **dict.fromkeys(("t_p", "wilcoxon_p", "sign_p"), others),
            )
            for pair, (randomization, others) in enumerate(p_values)
        }

    monkeypatch.setattr(pairs_module, "_tests", tests)
    return Findings(invent(_alike(3), measures=("ap",))).pairs["is_significant"].to_list()


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        # Three pairs: the smallest p is held against 0.05 / 3, the next against 0.05 / 2.
        ([(0.016, 0.04), (0.9, 0.9), (0.9, 0.9)], [True, False, False]),
        ([(0.017, 0.04), (0.9, 0.9), (0.9, 0.9)], [False, False, False]),
        ([(0.01, 0.04), (0.02, 0.04), (0.04, 0.04)], [True, True, True]),
        # The other tests must agree, uncorrected.
        ([(0.001, 0.05), (0.001, 0.051), (0.9, 0.001)], [True, False, False]),
    ],
)
def test_significance_needs_agreement_and_correction(monkeypatch, p_values, expected):
    assert verdicts(monkeypatch, *p_values) == expected


def test_a_clear_difference_is_significant_and_none_is_not():
    results = invent([Ranker("base"), Ranker("same"), Ranker("good", 0.1)], n_queries=100, measures=("ap",))
    significant = Findings(results, n_resamples=500).pairs.filter(pl.col("is_significant"))
    assert significant.select("a", "b").rows() == [("base", "good"), ("same", "good")]


def test_a_pair_seen_from_either_side():
    pairs = Findings(invent(measures=("ap",)), **SETTINGS).pairs
    one, other = both_ways(pairs.head(1)).to_dicts()
    assert one == pairs.row(0, named=True)
    assert (other["a"], other["b"]) == (one["b"], one["a"])
    assert (other["difference"], other["effect"]) == (-one["difference"], -one["effect"])
    assert (other["low"], other["high"]) == (-one["high"], -one["low"])
    assert (other["wins"], other["ties"], other["losses"]) == (one["losses"], one["ties"], one["wins"])
    assert {other[name] == one[name] for name in ("holm_p", "agree", "is_significant", "n_queries")} == {True}


def test_of_many_rankers_those_pairs_are_tested_that_have_the_best_or_the_baseline(monkeypatch):
    monkeypatch.setattr("pomona.experiments.analysis.pairs.MOST_PAIRED", 3)
    rankers = tuple(
        Ranker(name, skill) for name, skill in zip("abcde", (0.0, 0.1, 0.3, 0.2, 0.05), strict=True)
    )
    findings = Findings(invent(rankers, baseline="b"), n_resamples=50)
    pairs = findings.pairs.filter(measure="ndcg@10").select("a", "b").rows()
    assert {frozenset(pair) for pair in pairs} == {
        *(frozenset("b" + other) for other in "acde"),
        *(frozenset("c" + other) for other in "ade"),
    }
    assert findings.headline["winner"].to_list() == ["c"]
