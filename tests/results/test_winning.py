"""What docs/results/winning.md says is what its tables say."""

import csv
import os

import pytest

import pomona as pm
from pomona.data.catalog import load_folds
from pomona.stats.winning import winning_numbers
from results.page import RESULTS, Page, chosen, column, number, ordinal, spec

PAGE, THESIS = Page("winning"), Page("thesis")
TABLE = PAGE.table("winning table")
PLACES = {row["ranker"]: place for place, row in enumerate(TABLE, 1)}
PUBLISHED = PAGE.table("winning published")
FRONT_OF_THE_PAPER = ("ListNet", "SmoothRank", "FenchelRank", "FSMRank", "LRUF", "LARF")


def places(table):
    """The place of every ranker but the bounds by AVG_Norm, in a table of the thesis page."""
    names = [
        row["ranker"] for row in THESIS.table(table) if row["ranker"] not in ("IdealRanker", "WorstRanker")
    ]
    return {name: place for place, name in enumerate(names, 1)}


def test_setup():
    run = spec("winning")
    assert sorted(run["measures"]) == ["ap", "ndcg@10", "ndcg@3", "ndcg@5"]
    assert "search" not in run
    assert len(run["ranker"]) == len(TABLE)


def test_every_ranker_has_every_result():
    n_results = len(spec("winning")["dataset"]) * 4
    assert {number(row["IWN"]) for row in TABLE} == {n_results * (len(TABLE) - 1)}
    assert [row["ranker"] for row in TABLE if row["front"] == "Pareto"] == [TABLE[0]["ranker"]]


def test_reconstructions():
    for cls in (pm.LRUF, pm.LARF, pm.FSMRank, pm.SmoothRank, pm.RCRank):
        assert "(reconstructed)" in cls.paper
    for cls in (pm.ListNet, pm.FenchelRank):
        assert "(reconstructed)" not in cls.paper


def test_linear_combination_wins():
    assert PLACES["LinearCombination"] == 1
    share = 100 * number(TABLE[0]["NWN"])
    PAGE.says(f"A linear combination of four fitted rankers wins {share:.0f} % of its comparisons")
    assert len(next(row["rankers"] for row in spec("winning")["ranker"] if "rankers" in row).split(",")) == 4


def test_front_of_the_paper():
    *most, last = sorted((PLACES[name], name) for name in FRONT_OF_THE_PAPER)
    told = ", ".join(f"{name} {ordinal(place)}" for place, name in most).replace(" ", " is ", 1)
    PAGE.says(f"{told} and {last[1]} {ordinal(last[0])} of {len(TABLE)}")


def test_boosted_forests_come_late():
    named = sorted(("LambdaMART", "McRank", "MART"), key=PLACES.get)
    found = [PLACES[name] for name in named]
    assert found[-1] - found[0] == 2
    assert [row["ranker"] for row in TABLE[found[-1] :]] == ["BestFeature", "RandomRanker"]
    PAGE.says(f"({', '.join(named[:2])} and {named[2]}) are {ordinal(found[0])} to {ordinal(found[-1])}")
    PAGE.says(f"the random forest is {ordinal(PLACES['RandomForest'])}")
    PAGE.says(f"RC-Rank enhanced {ordinal(PLACES['RC-Rank enhanced'])}")
    assert [row["label"] for row in spec("winning")["ranker"] if row.get("n_leaves") == 31] == [
        "McRank",
        "MART",
        "LambdaMART",
    ]


def test_with_searched_parameters():
    found = places("thesis letor4")
    PAGE.says(f"LambdaMART is {ordinal(found['LambdaMART'])} of {len(found)} by AVG_Norm on LETOR 4.0")
    PAGE.says(f"with oblivious trees {ordinal(found['LambdaMART oblivious'])}")
    PAGE.says(", ".join(f"{name} {ordinal(found[name])}" for name in ("McRank", "RC-Rank")))
    PAGE.says(f"MART {ordinal(found['MART'])}")


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
def test_the_datasets_are_small():
    sizes = [
        fold.train.n_queries for data in spec("winning")["dataset"] for fold in load_folds(data["source"])
    ]
    PAGE.says(f"({min(sizes)} to {max(sizes):,} training queries)")


def test_literature_csv_is_the_table():
    """The file and the page tell the same numbers, and the file's Winning Numbers are the page's."""
    rows = PAGE.table("winning literature")
    with (RESULTS / "literature.csv").open(encoding="utf-8") as file:
        values = {(row["method"], row["measure"]): float(row["value"]) for row in csv.DictReader(file)}
    names = ("MAP", "NDCG@3", "NDCG@5", "NDCG@10")
    grid = [[values.get((row["method"], name), float("nan")) for name in names] for row in rows]
    for row, cells in zip(rows, grid, strict=True):
        assert [row[name] for name in names] == ["–" if cell != cell else f"{cell:.4f}" for cell in cells]
    assert winning_numbers(grid).winning.tolist() == [number(row["WN"]) for row in rows]
    assert chosen(rows, method="ListNet")[0]["MAP"] == "–"


def test_published_numbers():
    with (RESULTS / "published.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    methods, data = ({row[name] for row in rows} for name in ("method", "dataset"))
    PAGE.says(f"{len(rows)} published results of {len(methods)} methods on {len(data)} datasets")
    front = sorted((row for row in PUBLISHED if row["front"] == "Pareto"), key=lambda row: number(row["IWN"]))
    first, second, *rest = (row["method"] for row in front)
    PAGE.says(f"Its front is {first}, {second}, {' and '.join(rest)}")
    assert column(PUBLISHED, "NWN", by="method")["AdaRank-NDCG"] == 1
    PAGE.says(f"with {chosen(PUBLISHED, method='AdaRank-NDCG')[0]['results']} results")
    assert (
        min(column(PUBLISHED, "IWN", by="method").values())
        < max(column(PUBLISHED, "IWN", by="method").values()) / 5
    )
