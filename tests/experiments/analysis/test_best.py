import polars as pl
import pytest

import pomona as pm
from experiments.best.here_pool import use
from pomona.experiments.analysis.best import BestFindings, members_of, progress_of


@pytest.fixture
def best(monkeypatch):
    use(monkeypatch)
    return pm.BestRanker(measure="ndcg@5").fit(pm.simulate(20, docs_per_query=8, n_features=4, seed=1))


def test_findings(best):
    findings = BestFindings.of(best, "train.txt", None)
    (row,) = findings.summary.to_dicts()
    assert (row["estimate"], row["queries"], row["tried"]) == (best.estimate_.mean, 20, 4)
    assert row["measure"] == "ndcg@5"
    members = members_of(best)
    assert members["weight"].sum() == pytest.approx(1)
    assert members["weight"].is_sorted(descending=True)
    assert members.equals(findings.members)


def test_the_best_so_far():
    trials = pl.DataFrame(
        {
            "n_folds": [5, 5, 5, 5, 1],
            "value": [0.5, 0.4, 0.3, 0.2, 0.9],
            "at": [20.0, 5.0, 10.0, 1.0, 2.0],
            "reason": ["", "", "", "too slow", ""],
        }
    )
    progress = progress_of(trials)
    assert progress["at"].to_list() == [5.0, 10.0, 20.0]
    assert progress["best"].to_list() == [0.4, 0.4, 0.5]
    assert progress["is_better"].to_list() == [True, False, True]
