from dataclasses import replace

import pomona as pm
from pomona.experiments.analysis.measure_values import all_orders
from pomona.report.sections.measure_values import value_curves, value_table
from report.drawn import spec_of


def test_figure_3_3_of_the_thesis():
    compared = pm.compare_measures(all_orders([4, 3, 2, 1]), ["ndcg", "err", "sr4(clip=false)"])
    spec, (lines, points) = spec_of(value_curves(compared))
    assert len(lines) == len(points) == 24 * 3
    assert {row["measure"] for row in lines} == {"NDCG", "ERR", "SR4(clip=false)"}
    value = {(row["number"], row["measure"]): row["value"] for row in lines}
    # What the thesis reads in it: at list 19 NDCG and ERR rise and SR4 falls.
    assert value[19, "NDCG"] > value[18, "NDCG"]
    assert value[19, "ERR"] > value[18, "ERR"]
    assert value[19, "SR4(clip=false)"] < value[18, "SR4(clip=false)"]
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1]


def test_many_measures_and_lists_without_an_order():
    names = [f"ndcg@{k}" for k in range(1, 9)]
    compared = pm.compare_measures(all_orders([1, 0, 0]), names)
    _, (lines, _) = spec_of(value_curves(compared))
    assert len({row["measure"] for row in lines}) == 6
    assert value_curves(replace(compared, is_ordered=False)) is None


def test_the_table_is_cut():
    compared = pm.compare_measures(all_orders([0, 1, 2, 3, 4, 5]), ["ndcg"])
    table = value_table(compared)
    assert len(table.rows) == 300
    assert table.title == "Values of the first 300 of 720 lists"
    assert [column.title for column in table.columns] == ["List", "Number", "NDCG"]
