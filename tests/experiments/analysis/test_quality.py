from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.stats

from experiments.invented_results import Ranker, invent
from pomona.experiments.analysis.quality import ABOVE, BELOW
from pomona.experiments.findings import Findings
from pomona.stats.bootstrap import interval
from pomona.stats.norm import avg_norm

SETTINGS = {"alpha": 0.1, "n_resamples": 300, "seed": 5}


def test_means_intervals_marks_and_norm():
    findings = Findings(invent(), **SETTINGS)
    (data,), table = findings.pooled, findings.quality
    assert len(table) == 2 * 5
    row = table.filter(ranker="MART", measure="ap").row(0, named=True)
    values = data.of_measure("ap")[1]
    assert row["mean"] == pytest.approx(values.mean())
    assert (row["low"], row["high"]) == pytest.approx(interval(values, 300, 5, 0.9))
    assert (row["n_queries"], row["mark"], row["is_bound"]) == (120, "▼", False)
    assert table.filter(mark="▼").height == 2 * 2
    means = np.array([[data.mean(r, m) for m in ("ndcg@10", "ap")] for r in data.rankers])
    assert table["norm"].head(5).to_list() == pytest.approx(avg_norm(means).tolist())
    ideal, worst = (table.filter(ranker=f"{name}Ranker")["norm"][0] for name in ("Ideal", "Worst"))
    assert (ideal, worst) == (1.0, 0.0)


def test_rankers_with_fewer_queries():
    findings = Findings(invent(failed=[("one", 1, "MART", 0)], measures=("ap",)), **SETTINGS)
    (data,), table = findings.pooled, findings.quality
    values = data.of_measure("ap")[1, 60:]
    row = table.filter(ranker="MART").row(0, named=True)
    assert (row["mean"], row["n_queries"]) == (pytest.approx(values.mean()), 60)
    assert (row["low"], row["high"]) == pytest.approx(interval(values, 300, 5, 0.9))
    assert table.filter(~pl.col("is_comparable"))["ranker"].to_list() == ["MART"]


def test_comparable_is_who_has_the_same_queries_not_as_many():
    # Each misses a fold, but not the same one: 60 queries each, of which none is common.
    failed = [("one", 2, "first", 0), ("one", 1, "second", 0), ("one", 1, "third", 0)]
    rankers = [Ranker("first"), Ranker("second"), Ranker("third", 0.2)]
    table = Findings(invent(rankers, failed=failed, measures=("ap",)), **SETTINGS).quality
    assert table["n_queries"].to_list() == [60, 60, 60]
    assert table["is_comparable"].to_list() == [True, False, False]


def test_a_mark_follows_the_pair():
    results = invent(
        [Ranker("base"), Ranker("same"), Ranker("good", 0.1), Ranker("bad", -0.1)], n_queries=100
    )
    findings = Findings(results, n_resamples=500)
    marks = dict(findings.quality.filter(measure="ap").select("ranker", "mark").iter_rows())
    assert marks == {"base": "", "same": "", "good": ABOVE, "bad": BELOW}


@pytest.mark.parametrize("seed", range(6))
def test_no_report_can_contradict_itself(seed):
    """A ranker is marked if and only if its pair with the baseline is significant, and in its direction."""
    skills = np.random.default_rng(seed).normal(0, 0.03, 5)
    rankers = [Ranker(f"r{i}", skill, noise=0.1) for i, skill in enumerate(skills)]
    failed = [("one", 2, "r3", 0)] * (seed % 2)
    findings = Findings(invent(rankers, failed=failed, random_seed=seed, baseline="r2"), n_resamples=300)
    pairs = {(p["measure"], p["a"], p["b"]): p for p in findings.pairs.iter_rows(named=True)}
    for row in findings.quality.iter_rows(named=True):
        one = pairs.get((row["measure"], row["ranker"], "r2"))
        other = pairs.get((row["measure"], "r2", row["ranker"]))
        pair = one or other or {"is_significant": False}
        difference = one["difference"] if one else -pair.get("difference", 0)
        assert row["mark"] == (("▲" if difference > 0 else "▼") if pair["is_significant"] else "")
    headline = findings.headline.row(0, named=True)
    who = (headline["winner"], headline["runner_up"])
    pair = pairs.get((findings.main, *who)) or pairs[(findings.main, *reversed(who))]
    assert headline["is_significant"] == pair["is_significant"]
    assert headline["p"] == pair["holm_p"]
    assert abs(headline["difference"]) == abs(pair["difference"])


def test_one_query_has_no_interval():
    table = Findings(invent(n_queries=1, n_folds=1, measures=("ap",)), **SETTINGS).quality
    assert table["low"].null_count() == table["high"].null_count() == 5


def test_cutoffs():
    findings = Findings(invent(conventions=("letor4", "definition")))
    (data,), table = findings.pooled, findings.cutoffs
    assert len(table) == 2 * 10 * 3  # the bounds are not there
    assert table["convention"].unique(maintain_order=True).to_list() == ["letor4", "definition"]
    row = table.filter(convention="letor4", ranker="Linear", k=3).row(0, named=True)
    assert row["mean"] == pytest.approx(data.mean("Linear", "letor4:ndcg@3"))


def test_the_errors_of_cutoffs_are_those_of_the_folds_in_quadrature():
    findings = Findings(invent(n_folds=3, failed=[("one", 2, "MART", 0)]))
    values = findings.results.values.filter(part="test")
    for ranker, n_folds in (("Linear", 3), ("MART", 2)):
        folds = [part["ndcg@4"].to_numpy() for part in values.filter(ranker=ranker).partition_by("fold")]
        expected = np.sqrt(sum(scipy.stats.sem(part) ** 2 for part in folds)) / n_folds
        row = findings.cutoffs.filter(ranker=ranker, k=4).row(0, named=True)
        assert row["error"] == pytest.approx(expected)
    assert Findings(invent(n_queries=1)).cutoffs["error"].null_count() == 30


def test_queries():
    findings = Findings(
        invent(datasets=("one", "two"), failed=[("two", 2, "MART", 0)], measures=("ap", "ndcg@10"))
    )
    datasets, table = findings.pooled, findings.queries
    assert table.columns == ["dataset", "fold", "qid", "LambdaMART", "MART", "Linear"]
    assert len(table) == 240
    assert table["MART"].null_count() == 60
    assert table["Linear"].mean() == pytest.approx(np.mean([d.mean("Linear", "ap") for d in datasets]))


def test_means_of_other_queries_do_not_move_the_norms():
    names = ("a", "b", "partly", "bound")
    results = invent([Ranker(name, 0.1 * i, is_bound=name == "bound") for i, name in enumerate(names)])
    is_partly, is_first = pl.col("ranker") == "partly", pl.col("fold") == results.values["fold"].min()
    # Of `partly` one fold is known: its mean is of other queries than those of the others.
    few = replace(results, values=results.values.filter(~is_partly | is_first))
    none = replace(results, values=results.values.filter(~is_partly))
    found, expected = (
        Findings(one).quality.filter(~is_partly).select("ranker", "measure", "norm", "norm_performance")
        for one in (few, none)
    )
    assert found.equals(expected)
    own = Findings(few).quality.filter(is_partly)
    assert own["norm"].is_null().all()
    assert own["norm_performance"].is_null().all()
