import polars as pl
import pytest

from experiments.invented_results import invent
from pomona.experiments.analysis.headline import Headline
from pomona.experiments.analysis.pairs import Pairs
from pomona.experiments.findings import Findings


def findings(pairs, costs=(("b", 3.0, 1.5), ("c", 7.0, None))):
    """Findings whose quality is a 0.3, b 0.5, c 0.4 on `one`, and a alone on `two`."""
    means = [("one", "a", 0.3), ("one", "b", 0.5), ("one", "c", 0.4), ("two", "a", 0.3)]
    quality = [
        {"dataset": dataset, "ranker": ranker, "measure": "ap", "mean": mean, "n_queries": 9,
         "is_bound": False, "is_comparable": True}
        for dataset, ranker, mean in means
    ]  # fmt: skip
    quality.append({**quality[0], "ranker": "IdealRanker", "mean": 0.9, "is_bound": True})
    quality.append({**quality[0], "ranker": "partly", "mean": 0.8, "is_comparable": False})
    names = ["dataset", "ranker", "train_seconds", "score_microseconds"]
    schema = dict(zip(names, (pl.String, pl.String, pl.Float64, pl.Float64), strict=True))
    tables = {
        "quality": pl.DataFrame(quality),
        "pairs": pl.DataFrame(pairs, schema=Pairs.schema),
        "costs": pl.DataFrame([("one", *row) for row in costs], schema=schema, orient="row"),
    }
    return Findings(invent(measures=("ap",)), tables=tables)


def pair(a, b, difference, low, high, is_significant=True):
    return dict.fromkeys(Pairs.schema, 0) | {
        "dataset": "one", "measure": "ap", "a": a, "b": b, "difference": difference, "low": low,
        "high": high, "holm_p": 0.01, "agree": True, "is_significant": is_significant,
    }  # fmt: skip


def test_the_best_two():
    one, two = Headline.compute(findings([pair("b", "c", 0.1, 0.04, 0.17)])).to_dicts()
    assert (one["winner"], one["runner_up"], one["measure"], one["dataset"]) == ("b", "c", "ap", "one")
    assert (one["difference"], one["low"], one["high"], one["p"]) == (0.1, 0.04, 0.17, 0.01)
    assert (one["mean"], one["n_queries"]) == (0.5, 9)
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
    (one, _) = findings([pair("c", "b", -0.1, -0.17, -0.04)]).headline.to_dicts()
    assert (one["difference"], one["low"], one["high"]) == (0.1, 0.04, 0.17)
    (one, _) = findings([pair("c", "b", -0.1, None, None)]).headline.to_dicts()
    assert (one["difference"], one["low"], one["high"]) == (0.1, None, None)


@pytest.mark.parametrize("expected", [True, False])
def test_significant_is_what_the_pair_says(expected):
    given = findings([pair("b", "c", 0.1, 0.04, 0.17, expected)])
    assert given.headline["is_significant"][0] is expected


@pytest.mark.parametrize(
    ("times", "c_is_worse", "expected"),
    [
        ({"b": 3.0, "c": 1.0, "a": 0.1}, False, "c"),  # a is faster still, but significantly worse
        ({"b": 3.0, "c": 1.0, "a": 0.1}, True, None),
        ({"b": 3.0, "c": 7.0, "a": 0.1}, False, None),
        ({"b": 3.0, "c": 3.0, "a": 0.1}, False, None),
        ({"b": 3.0, "c": None, "a": 0.1}, False, None),
        ({"b": None, "c": None, "a": None}, False, None),
    ],
)
def test_who_is_as_good_for_less(times, c_is_worse, expected):
    pairs = [
        pair("a", "b", -0.2, -0.3, -0.1),
        pair("b", "c", 0.1, 0.0, 0.2, c_is_worse),
        pair("b", "partly", 0.1, 0.0, 0.2, False),
    ]
    costs = [(ranker, time, 1.0) for ranker, time in {**times, "partly": 0.01}.items()]
    one = findings(pairs, costs).headline.row(0, named=True)
    assert one["cheaper"] == expected
    assert one["cheaper_train_seconds"] == times.get(expected)
