import polars as pl

from experiments.invented_results import Ranker, invent
from pomona.experiments.findings import Findings

QUALITY = (
    ("one", "a", "ap", 0.3),
    ("one", "b", "ap", 0.5),
    ("one", "c", "ap", 0.4),
    ("one", "IdealRanker", "ap", 0.9),
    ("one", "a", "ndcg@10", 0.6),
    ("one", "b", "ndcg@10", 0.5),
    ("one", "c", "ndcg@10", 0.4),
    ("two", "a", "ap", 0.3),
)


def won(*rows):
    """The Winning Numbers of rankers with these means."""
    full = [(*row, row[1].endswith("Ranker"), True) for row in rows]
    schema = ["dataset", "ranker", "measure", "mean", "is_bound", "is_comparable"]
    return Findings(invent(), tables={"quality": pl.DataFrame(full, schema=schema, orient="row")}).winning


def test_winning_numbers_over_datasets_and_measures():
    table = won(*QUALITY)
    # ap on one: b beats both, c one; ndcg@10 on one: a beats both, b one; ap on two has one result only.
    assert table.select("ranker", "winning", "ideal").rows() == [("a", 2, 4), ("b", 3, 4), ("c", 1, 4)]
    assert table["normalized"].to_list() == [0.5, 0.75, 0.25]
    assert table["is_pareto"].to_list() == [False, True, False]


def test_winning_numbers_of_one_ranker():
    assert won(("one", "a", "ap", 0.3))["normalized"].to_list() == [None]
    assert Findings(invent([Ranker("Ideal", is_bound=True)], baseline="none")).winning.is_empty()


def test_a_ranker_that_misses_queries_takes_part_where_it_has_all():
    rankers = [Ranker("a", 0.1, noise=0.0), Ranker("b", 0.3, noise=0.0), Ranker("c", 0.2, noise=0.0)]
    table = Findings(invent(rankers, datasets=("one", "two"), failed=[("two", 1, "c", 0)])).winning
    # Two measures each. On one: b beats both, c one. On two c cannot be ranked, and b beats a.
    assert table.select("ranker", "winning", "ideal").rows() == [("a", 0, 6), ("b", 6, 6), ("c", 2, 4)]


def test_what_differs_by_rounding_only_is_a_tie():
    rankers = [Ranker("a", noise=0.0), Ranker("b", 1e-15, noise=0.0)]
    assert Findings(invent(rankers)).winning["winning"].to_list() == [0, 0]
