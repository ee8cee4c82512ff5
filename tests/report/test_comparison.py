import pytest

from experiments.small_study import curves, grid, noises, searched, sizes
from pomona.report.comparison import comparison_report, question_of, summary_of
from report.invented import changed, invented


def test_a_report_of_all_sections():
    report = comparison_report(invented(datasets=("a", "b")))
    assert report.title == "invented"
    assert report.datasets == ["a", "b"]
    assert [one.title for one in report.sections][:3] == ["The answer", "The table", "By cut-off"]


def test_the_summary_counts():
    findings = invented(2, 5)
    timed = changed(findings, results=changed(findings.results, facts={"total_seconds": 22.214356}))
    assert summary_of(timed) == "2 rankers · 1 dataset · 10 test queries · 2 folds · 2 seeds · 22 s in all"
    silent = changed(findings, results=changed(findings.results, facts={}))
    assert summary_of(silent).endswith("2 seeds")


@pytest.mark.parametrize(
    ("findings", "question"),
    [
        (sizes, "how much training data is enough"),
        (noises, "what wrong labels cost"),
        (curves, "when training goes too far"),
        (grid, "which parameters are best"),
        (searched, "which ranker is best"),
        (invented, "which ranker is best"),
    ],
)
def test_a_study_asks_its_own_question(findings, question):
    assert question_of(findings()) == question
