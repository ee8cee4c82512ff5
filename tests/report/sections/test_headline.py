import polars as pl

from pomona.report.sections.headline import HeadlineSection, sentences_of
from report.invented import changed, invented

HEADLINE = {
    "dataset": "mq2008", "measure": "ndcg@10", "winner": "LambdaMART", "runner_up": "MART", "cheaper": None,
    "mean": 0.5, "n_queries": 240, "difference": 0.0123, "low": 0.004, "high": 0.0206, "p": 0.0314,
    "agree": True, "is_significant": True, "winner_train_seconds": 21.0, "winner_score_microseconds": 1.4,
    "runner_up_train_seconds": 14.2, "runner_up_score_microseconds": 1.3, "cheaper_train_seconds": None,
    "cheaper_score_microseconds": None, "winner_of": 1, "runner_up_of": 1, "chosen_by": None,
}  # fmt: skip


def sentences(**headline):
    """The sentences of a headline by hand."""
    findings = invented(3, conventions=("definition",), failed=False)
    schema = findings.headline.schema
    assert set(HEADLINE) == set(schema)
    by_hand = pl.DataFrame([{**HEADLINE, **headline}], schema=schema)
    return sentences_of(changed(findings, headline=by_hand))["mq2008"]


def test_a_significant_winner():
    outcome, cost = sentences()
    assert outcome == (
        "LambdaMART is best on mq2008 with NDCG@10 0.5000, 0.0123 above MART (uncorrected 95% interval "
        "+0.0040 to +0.0206): a significant difference (p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.031 after "
        "Holm’s correction, 240 queries)."
    )
    assert (
        cost == "It trains in 21 s a run and scores a document in 1.4 µs, against 14 s and 1.3 µs for MART."
    )


def test_a_winner_by_chance_and_who_is_as_good_for_less():
    outcome, cost = sentences(
        is_significant=False, low=-0.004, p=0.2, runner_up="LambdaMART yahoo", cheaper="MART",
        cheaper_train_seconds=14.2, cheaper_score_microseconds=1.3,
    )  # fmt: skip
    assert "−0.0040 to +0.0206): within chance (p" in outcome
    assert "do not agree" not in outcome
    assert outcome.endswith("240 queries cannot tell the two apart.")
    assert cost == (
        "It trains in 21 s a run and scores a document in 1.4 µs; MART, the fastest to train of those not "
        "significantly worse, needs 14 s and 1.3 µs."
    )


def test_a_small_p_that_the_other_tests_do_not_confirm():
    outcome, _ = sentences(is_significant=False, agree=False, p=0.01)
    assert "after Holm’s correction, and the t, Wilcoxon and sign tests do not agree), 240 queries" in outcome
    assert "do not agree" not in sentences(is_significant=False, agree=False, p=0.8)[0]


def test_an_interval_without_0_that_is_no_significance_is_no_contradiction():
    outcome, _ = sentences(is_significant=False, p=0.09)
    assert (
        "0.0123 above MART (95% interval of this pair alone +0.0040 to +0.0206, which leaves 0 out; "
        "the test, corrected for all pairs, does not): within chance (p"
    ) in outcome


def test_a_variant_is_said_to_be_chosen():
    outcome, _ = sentences(winner_of=4, runner_up_of=3, chosen_by="valid")
    assert outcome.startswith(
        "LambdaMART, of 4 variants the best on the validation queries, is best on mq2008 with NDCG@10 "
        "0.5000, 0.0123 above MART, chosen of 3 variants likewise (uncorrected"
    )
    outcome, _ = sentences(runner_up_of=3, chosen_by="valid")
    assert "0.0123 above MART, chosen of 3 variants on the validation queries (" in outcome
    outcome, _ = sentences(winner_of=4, chosen_by="valid", difference=-0.01, low=-0.02, high=0.01)
    assert "has NDCG@10 0.5000 on the test queries of mq2008, 0.0100 below MART (" in outcome
    outcome, _ = sentences(winner_of=4, chosen_by="test")
    assert "of 4 variants the best on these very test queries (there are no others to choose by" in outcome


def test_a_single_ranker():
    nobody = dict.fromkeys(("runner_up", "difference", "low", "high", "p", "agree", "is_significant"))
    outcome, cost = sentences(**nobody)
    assert outcome.endswith("; there is no other ranker to compare it with.")
    assert cost == "It trains in 21 s a run and scores a document in 1.4 µs."


def test_nobody_finished():
    findings = invented(3, conventions=("definition",), failed=False)
    nothing = changed(findings, headline=findings.headline.clear())
    assert sentences_of(nothing) == {"mq2008": ("No ranker finished: the table has the reasons.",)}


def test_times_that_nobody_measured():
    _, cost = sentences(**{name: None for name in HEADLINE if name.endswith("seconds")})
    assert cost.startswith("It trains in unknown time a run and scores a document in unknown time, against")


def test_warnings_stand_below():
    (said,) = HeadlineSection().overall(changed(invented(), warnings=["1 < 2"]))
    assert "Before you rely on it" in said.text
    assert "<li>1 &lt; 2</li>" in said.text
    (said,) = HeadlineSection().overall(changed(invented(), warnings=[]))
    assert "aside" not in said.text


def test_below_a_study_the_heading_says_what_is_answered():
    findings = invented(3, conventions=("definition",), failed=False)
    assert HeadlineSection().heading(findings) == "The answer"
    study = pl.DataFrame([dict.fromkeys(findings.study.columns)], schema=findings.study.schema)
    assert "complete data" in HeadlineSection().heading(changed(findings, study=study))
    grid = pl.DataFrame([dict.fromkeys(findings.grid.columns)], schema=findings.grid.schema)
    assert HeadlineSection().heading(changed(findings, grid=grid)) == "Which ranker is best"
