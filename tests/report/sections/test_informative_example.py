from pomona.experiments.analysis.informative import informativeness
from pomona.measures.lists import RankedLists
from pomona.report.sections.informative_example import example_curves
from report.drawn import spec_of


def test_the_actual_curve_and_one_for_each_measure():
    found = informativeness({"toy": {"a": RankedLists.of_labels([[1, 0, 1, 0, 0]])}}, ["ap", "ndcg"])
    spec, (rows, _) = spec_of(example_curves(found))
    assert {row["curve"] for row in rows} == {"actual", "from AP", "from NDCG"}
    actual = [(row["recall"], row["precision"]) for row in rows if row["curve"] == "actual"]
    assert actual == [(0.5, 1.0), (1.0, 0.666667)]
    assert sum(row["curve"] == "from AP" for row in rows) == 5
    assert "5 documents, 2 relevant" in spec["description"]
