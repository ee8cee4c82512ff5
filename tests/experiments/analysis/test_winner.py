import polars as pl
import pytest

from pomona.experiments.analysis.winner import headline_table, winning_table


def table(*rows):
    full = [(*row, row[1].endswith("Ranker")) for row in rows]
    return pl.DataFrame(full, schema=["dataset", "ranker", "measure", "mean", "is_bound"], orient="row")


QUALITY = table(
    ("one", "a", "ap", 0.3),
    ("one", "b", "ap", 0.5),
    ("one", "c", "ap", 0.4),
    ("one", "IdealRanker", "ap", 0.9),
    ("one", "a", "ndcg@10", 0.6),
    ("one", "b", "ndcg@10", 0.5),
    ("one", "c", "ndcg@10", 0.4),
    ("two", "a", "ap", 0.3),
)
COSTS = pl.DataFrame(
    [("one", "b", 3.0, 1.5), ("one", "c", 7.0, None)],
    schema=["dataset", "ranker", "train_seconds", "score_microseconds"],
    orient="row",
)


def pairs(a, b, difference, low, high, holm_p, agree=True):
    names = ["dataset", "measure", "a", "b", "difference", "low", "high", "holm_p", "agree"]
    row = ("one", "ap", a, b, difference, low, high, holm_p, agree)
    schema = {name: pl.Float64 if name in names[4:8] else None for name in names}
    return pl.DataFrame([row], schema=schema, orient="row")


def test_the_best_two():
    one, two = headline_table(QUALITY, pairs("b", "c", 0.1, 0.04, 0.17, 0.01), COSTS, "ap", 0.05).to_dicts()
    assert (one["winner"], one["runner_up"], one["measure"], one["dataset"]) == ("b", "c", "ap", "one")
    assert (one["difference"], one["low"], one["high"], one["p"]) == (0.1, 0.04, 0.17, 0.01)
    assert one["is_significant"]
    assert (one["winner_train_seconds"], one["winner_score_microseconds"]) == (3.0, 1.5)
    assert (one["runner_up_train_seconds"], one["runner_up_score_microseconds"]) == (7.0, None)
    assert (two["winner"], two["runner_up"], two["difference"], two["is_significant"]) == (
        "a",
        None,
        None,
        None,
    )


def test_seen_from_the_winner():
    (one, _) = headline_table(
        QUALITY, pairs("c", "b", -0.1, -0.17, -0.04, 0.01), COSTS, "ap", 0.05
    ).to_dicts()
    assert (one["difference"], one["low"], one["high"]) == (0.1, 0.04, 0.17)
    (one, _) = headline_table(QUALITY, pairs("c", "b", -0.1, None, None, 0.01), COSTS, "ap", 0.05).to_dicts()
    assert (one["difference"], one["low"], one["high"]) == (0.1, None, None)


@pytest.mark.parametrize(
    ("p", "agree", "expected"), [(0.06, True, False), (0.04, False, False), (0.05, True, True)]
)
def test_significant_needs_both(p, agree, expected):
    found = headline_table(QUALITY, pairs("b", "c", 0.1, 0.04, 0.17, p, agree), COSTS, "ap", 0.05)
    assert found["is_significant"][0] is expected


def test_winning_numbers_over_datasets_and_measures():
    won = winning_table(QUALITY)
    # ap on one: b beats both, c one; ndcg@10 on one: a beats both, b one; ap on two has one result only.
    assert won.select("ranker", "winning", "ideal").rows() == [("a", 2, 4), ("b", 3, 4), ("c", 1, 4)]
    assert won["normalized"].to_list() == [0.5, 0.75, 0.25]
    assert won["is_pareto"].to_list() == [False, True, False]


def test_winning_numbers_of_one_ranker():
    assert winning_table(table(("one", "a", "ap", 0.3)))["normalized"].to_list() == [None]
    assert winning_table(table().cast({"is_bound": pl.Boolean})).is_empty()
