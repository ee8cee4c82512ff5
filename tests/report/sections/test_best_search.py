from dataclasses import replace

import pytest

import pomona as pm
from experiments.best.here_pool import use
from pomona.experiments.analysis.best import BestFindings
from pomona.report.section import report_of
from pomona.report.sections.best_search import latency_chart, time_chart, trial_table
from report.drawn import spec_of


@pytest.fixture
def findings(monkeypatch):
    use(monkeypatch)
    best = pm.BestRanker(measure="ndcg@5").fit(pm.simulate(20, docs_per_query=8, n_features=4, seed=1))
    return BestFindings.of(best, "train.txt", None)


def test_the_best_so_far_and_the_front_are_joined(findings):
    for chart, column in ((time_chart(findings), "is_better"), (latency_chart(findings), "is_on_front")):
        _, (line, points, *_) = spec_of(chart)
        assert {row["recipe"] for row in line} == {
            row["recipe"] for row in findings.progress.filter(column).to_dicts()
        }
        assert len(points) <= findings.progress.height
        assert "NDCG@5 against" in chart.to_dict(validate=False)["description"]
    _, (line, *_) = spec_of(time_chart(findings))
    assert [row["value"] for row in line] == sorted(row["value"] for row in line)


def test_nothing_to_draw(findings):
    empty = replace(findings, progress=findings.progress.head(0))
    assert time_chart(empty) is None
    assert latency_chart(empty) is None


def test_every_trial_stands_in_the_table(findings):
    assert len(trial_table(findings).rows) == findings.trials.height == 4


def test_the_page(findings):
    report = report_of("best", findings, title="t", question="q", summary="s")
    assert [one.section.name for one in report.sections] == ["best-model", "best-search"]
    assert len(report.figures) == 2
    assert len(report.tables) == 2
