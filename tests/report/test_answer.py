import polars as pl

from pomona.report.answer import answers, headline_of, is_significant
from report.invented import changed, invented


def small(**headline):
    """Three rankers on one dataset, by hand."""
    findings = invented(3, conventions=("definition",), failed=False)
    table = findings.table.filter(measure="ndcg@10", ranker="LambdaMART").with_columns(mean=pl.lit(0.5))
    told = {
        "winner": "LambdaMART", "runner_up": "MART", "measure": "ndcg@10", "dataset": "mq2008",
        "difference": 0.0123, "low": 0.004, "high": 0.0206, "p": 0.0314, "is_significant": True, **headline,
    }  # fmt: skip
    others = findings.table.filter(~pl.col("ranker").is_in(["LambdaMART"]))
    return changed(findings, table=pl.concat([table, others]), headline=pl.DataFrame([told]))


def verdicts(findings, *significant):
    """The winner beats exactly these rankers significantly."""
    is_real = (pl.col("a").is_in(significant)) | (pl.col("b").is_in(significant))
    pairs = findings.pairs.with_columns(agree=is_real, holm_p=pl.when(is_real).then(0.01).otherwise(0.5))
    return changed(findings, pairs=pairs)


def test_a_significant_winner():
    outcome, cost = answers(verdicts(small(), "MART", "LambdaMART yahoo"))["mq2008"]
    assert outcome == (
        "LambdaMART is best on mq2008 with NDCG@10 0.5000, 0.0123 above MART (95% interval +0.0040 to "
        "+0.0206): a significant difference (p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.031 after Holm’s "
        "correction, 240 queries)."
    )
    assert (
        cost == "It trains in 21 s a run and scores a document in 1.4 µs, against 14 s and 1.3 µs for MART."
    )


def test_a_winner_by_chance_and_who_is_as_good_for_less():
    findings = small(is_significant=False, low=-0.004, p=0.2, runner_up="LambdaMART yahoo")
    outcome, cost = answers(verdicts(findings))["mq2008"]
    assert "−0.0040 to +0.0206): within chance" in outcome
    assert outcome.endswith("240 queries cannot tell the two apart.")
    assert cost == (
        "It trains in 21 s a run and scores a document in 1.4 µs; MART, the fastest to train of those not "
        "significantly worse, needs 14 s and 1.3 µs."
    )


def test_a_slower_equal_is_not_recommended():
    _, cost = answers(verdicts(small(), "MART"))["mq2008"]
    assert cost.endswith("against 14 s and 1.3 µs for MART.")


def test_a_single_ranker():
    nobody = dict.fromkeys(("runner_up", "difference", "low", "high", "p", "is_significant"))
    findings = changed(small(**nobody), pairs=small().pairs.clear())
    outcome, cost = answers(findings)["mq2008"]
    assert outcome.endswith("; there is no other ranker to compare it with.")
    assert cost == "It trains in 21 s a run and scores a document in 1.4 µs."


def test_nobody_finished():
    findings = small()
    findings = changed(findings, headline=findings.headline.clear())
    assert headline_of(findings, "mq2008") is None
    assert answers(findings) == {"mq2008": ("No ranker finished: the table has the reasons.",)}


def test_times_that_nobody_measured():
    findings = verdicts(small(), "MART", "LambdaMART yahoo")
    costs = findings.costs.with_columns(train_seconds=None, score_microseconds=None)
    _, cost = answers(changed(findings, costs=costs))["mq2008"]
    assert cost.startswith("It trains in unknown time a run and scores a document in unknown time, against")


def test_significance_needs_agreement_and_correction():
    assert is_significant({"agree": True, "holm_p": 0.05}, 0.05)
    assert not is_significant({"agree": False, "holm_p": 0.001}, 0.05)
    assert not is_significant({"agree": True, "holm_p": 0.051}, 0.05)
    assert not is_significant({"agree": True, "holm_p": None}, 0.05)
