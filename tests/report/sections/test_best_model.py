from dataclasses import replace

import pytest

import pomona as pm
from experiments.best.here_pool import use
from pomona.experiments.analysis.best import BestFindings
from pomona.report.sections.best_model import BestModelSection, member_table


@pytest.fixture
def findings(monkeypatch):
    use(monkeypatch)
    best = pm.BestRanker(measure="ndcg@5").fit(pm.simulate(20, docs_per_query=8, n_features=4, seed=1))
    return BestFindings.of(best, "train.txt", None)


def test_the_words_tell_what_was_done(findings):
    words = " ".join(next(iter(BestModelSection().overall(findings))).text.split())
    estimate = findings.conclusion.estimate
    assert (
        f"NDCG@5 {estimate.mean:.4f}</strong>, 95% interval {estimate.low:.4f} to {estimate.high:.4f}"
        in words
    )
    assert "the mean over 20 queries" in words
    assert "cut into 5 folds" in words
    assert "Not as asked for" not in words
    assert "did not suffice" not in words


def test_what_did_not_go_as_asked_is_told(findings):
    conclusion = replace(
        findings.conclusion, notes=("scoring takes <long>",), is_partial=True, form="one fold"
    )
    told = replace(findings, conclusion=conclusion, valid="vali.txt", was_interrupted=True)
    words = " ".join(next(iter(BestModelSection().overall(told))).text.split())
    assert "Not as asked for:</strong> scoring takes &lt;long&gt;." in words
    assert "did not suffice to judge any recipe by all folds" in words
    assert "the queries of vali.txt decided when to stop" in words
    assert "until it was interrupted" in words


def test_the_members(findings):
    table = member_table(findings)
    weights = [row.cells[1].value for row in table.rows]
    assert sum(weights) == pytest.approx(1)
    assert len(weights) == len(findings.conclusion.members)
