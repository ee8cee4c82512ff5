from dataclasses import replace

import pytest

from experiments.invented_results import Ranker, invent
from pomona.experiments.analysis import pairs
from pomona.experiments.analysis.variant import Contender, contenders, valid_means, variants
from pomona.experiments.findings import Findings, find


def leaves(n, skill, valid_skill, kind="lambdamart"):
    return Ranker(
        f"{kind} {n}",
        skill,
        kind=kind,
        valid_skill=valid_skill,
        varied=("n_leaves",),
        parameters={"n_leaves": n},
    )


THREE = (leaves(7, 0.0, 0.1), leaves(31, 0.3, 0.0), leaves(63, 0.1, 0.3))
MART = Ranker("MART", 0.2, kind="mart")


def standing(rankers, **how):
    findings = Findings(invent(rankers, **how))
    (data,) = findings.pooled
    return contenders(findings, "one", {ranker: data.mean(ranker, "ndcg@10") for ranker in data.comparable})


def test_rows_of_one_method_that_differ_on_purpose():
    findings = Findings(invent((*THREE, MART, leaves(7, 0, 0, "rcrank"))))
    assert variants(findings) == {"lambdamart": {f"lambdamart {n}": {"n_leaves": n} for n in (7, 31, 63)}}


def test_validation_chooses_and_the_test_queries_judge():
    # 31 leaves are best on the test queries, 63 on the validation queries; MART lies between them.
    assert standing((*THREE, MART)) == [Contender("MART"), Contender("lambdamart 63", 3, "valid")]
    assert standing((*THREE, replace(MART, skill=0.0)))[0] == Contender("lambdamart 63", 3, "valid")


def test_variants_of_one_method_alone_are_ranked_by_validation():
    assert standing(THREE) == [Contender("lambdamart 63", 3, "valid"), Contender("lambdamart 7")]


def test_without_validation_queries_it_is_said_that_the_test_queries_chose():
    assert standing((*THREE, MART), with_valid=False)[0] == Contender("lambdamart 31", 3, "test")


def test_a_ranker_alone_and_rankers_that_are_no_variants():
    assert standing((MART,)) == [Contender("MART")]
    assert standing((replace(MART, label="b", skill=0.0), MART)) == [Contender("MART"), Contender("b")]


def test_means_of_validation_queries():
    findings = Findings(invent((MART,)))
    valid = findings.results.values.filter(part="valid")
    assert valid_means(findings, "one") == {"MART": pytest.approx(valid["ndcg@10"].mean())}


@pytest.mark.parametrize("most", [40, 2])
def test_the_headline_crowns_what_validation_chose(most, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_PAIRED", most)  # of more rankers, only some pairs are tested
    findings = find(invent((*THREE, replace(MART, skill=0.0)), n_queries=40), n_resamples=200)
    (row,) = findings.headline.to_dicts()
    assert (row["winner"], row["winner_of"], row["chosen_by"]) == ("lambdamart 63", 3, "valid")
    assert (row["runner_up"], row["runner_up_of"]) == ("MART", 1)
    assert row["p"] is not None
    assert row["difference"] > 0
