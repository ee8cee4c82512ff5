import pomona as pm
from pomona.experiments.analysis.measure_values import all_orders
from pomona.report.sections.measure_correlation import correlation_map, correlation_table
from report.drawn import spec_of


def test_every_pair_has_two_cells_with_its_number():
    compared = pm.compare_measures(all_orders([4, 3, 2, 1]), ["ndcg", "err", "sr4"])
    _, (cells, *_) = spec_of(correlation_map(compared))
    assert len(cells) == 6
    numbers = {(cell["row"], cell["column"]): cell["text"] for cell in cells}
    assert numbers["NDCG", "ERR"] == numbers["ERR", "NDCG"] == "0.935"
    bands = {cell["text"]: cell["band"] for cell in cells}
    assert bands == {"0.935": "0.9 or more", "0.891": "0.5 to 0.9", "0.928": "0.9 or more"}
    assert len(correlation_table(compared).rows) == 3


def test_what_is_unknown_is_left_out():
    compared = pm.compare_measures([[1, 0], [0, 1]], ["p@2", "ap"])
    assert correlation_map(compared) is None
    assert correlation_table(compared).rows[0].cells[2].text == "–"
