import json

import polars as pl
import pytest

from pomona.report.sections.queries import QueriesSection, query_data, query_differences
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_query_differences_are_sorted_the_worst_first(findings):
    queries = pl.DataFrame(
        {
            "dataset": DATA,
            "fold": 1,
            "qid": list("abcd"),
            "A": [0.5, 0.2, 1.0, None],
            "B": [0.25, 0.7, 1.0, 0.5],
        }
    )
    chart = query_differences(changed(findings, queries=queries), DATA, "A", "B")
    spec, (rows, _, _) = spec_of(chart)
    assert rows == [
        {"query": 0, "difference": -0.5},
        {"query": 1, "difference": 0.0},
        {"query": 2, "difference": 0.25},
        {"query": 3, "difference": 0.25},  # where the last step ends
    ]
    assert "A is better on 1 queries, B on 1, of 3" in spec["description"]


def test_the_first_pair_is_winner_and_runner_up(findings):
    choice, figure, _ = QueriesSection().of_dataset(findings, DATA)
    assert choice.text.count(" selected") == 2
    assert "LambdaMART minus LambdaMART yahoo" in spec_of(figure.chart)[0]["description"]
    alone = findings.headline.with_columns(runner_up=pl.lit(None, pl.String))
    for headline in (alone, alone.clear()):
        (said,) = QueriesSection().of_dataset(changed(findings, headline=headline), DATA)
        assert said.text == "<p>There are no two rankers to compare.</p>"


def test_the_data_are_what_was_found(findings):
    data = query_data(findings, DATA)
    json.dumps(data, allow_nan=False)
    a, b = (data["rankers"].index(name) for name in ("LambdaMART", "MART"))
    queries = findings.queries.to_dicts()
    assert data["values"][a] == [round(row["LambdaMART"] * 10_000) for row in queries]
    pair = next(pair for pair in data["pairs"] if pair[:2] == [a, b])
    tested = findings.pairs.filter(measure="ndcg@10", a="LambdaMART", b="MART").row(0, named=True)
    assert pair[2] == pytest.approx(tested["difference"], rel=1e-6)
    assert pair[-1] is tested["is_significant"]
    place = next(iter(data["documents"]))
    shown = findings.documents.filter(qid=data["qids"][place])
    assert data["documents"][place]["ids"] == shown["doc"].to_list()


def test_a_number_that_is_none_is_null(findings):
    odd = findings.documents.with_columns(pl.lit(float("nan")).alias("score:MART"))
    features = odd.with_columns(features=pl.lit('{"x": NaN}'))
    data = query_data(changed(findings, documents=features), DATA)
    json.dumps(data, allow_nan=False)
