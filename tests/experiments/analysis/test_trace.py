import polars as pl
import pytest

import pomona as pm
from pomona.experiments.analysis.trace import (
    MOST_DOCUMENTS,
    MOST_ITERATIONS,
    drawn,
    gains,
    journeys,
    watched,
    watched_in,
)

DATA = pm.simulate(20, docs_per_query=60, n_features=6, seed=2)
LONG = max(range(DATA.n_queries), key=lambda q: DATA.query_ptr[q + 1] - DATA.query_ptr[q])


def traced(n_trees=5, queries=(str(DATA.qids[LONG]), str(DATA.qids[0])), **parameters):
    trace = pm.Trace(queries)
    pm.MART(n_trees=n_trees, n_leaves=4, min_docs=5, **parameters).fit(DATA, trace=trace)
    return trace


def test_journeys_by_hand():
    trace = traced()
    table = journeys(trace)
    assert table["qid"].unique(maintain_order=True).to_list() == trace.qids
    for row in table.head(5).to_dicts():
        way = trace.documents.filter(qid=row["qid"], doc=row["doc"]).sort("iteration")
        places = way["rank"].to_list()
        assert (row["rank_first"], row["rank_last"], row["rank_best"]) == (places[0], places[-1], min(places))
        assert row["climbed"] == places[0] - places[-1]
        assert row["moves"] == sum(a != b for a, b in zip(places[1:], places[:-1], strict=True))
        assert row["score_last"] == way["score"][-1]
        assert (row["lambda_first"], row["lambda_last"]) == (way["lambda"][0], way["lambda"][-1])


def test_gains_by_hand():
    trace = traced()
    table = gains(trace)
    assert table["qid"].to_list() == [*trace.qids, "mean of all training queries"]
    values = trace.measures.filter(qid=trace.qids[0]).sort("iteration")["value"]
    first = table.row(0, named=True)
    assert (first["first"], first["last"], first["best"]) == (values[0], values[-1], values.max())
    assert values[first["best_iteration"]] == values.max()


def test_bars_cover_every_place_at_every_iteration():
    part = drawn(traced(), str(DATA.qids[0]))
    n = part.places["rank"].max()
    for rank in range(1, n + 1):
        bars = part.bars.filter(rank=rank)
        assert bars["begin"].to_list() == [-0.5, *bars["end"].to_list()[:-1]]
        assert bars["end"][-1] == 5.5
        for bar in bars.to_dicts():
            inside = part.places.filter(
                pl.col("rank") == rank, pl.col("iteration").is_between(bar["begin"], bar["end"])
            )
            assert set(inside["row"]) == {bar["row"]}
            assert set(inside["label"]) == {bar["label"]}


def test_of_many_documents_the_highest_and_the_most_relevant_have_lines():
    part = drawn(traced(), str(DATA.qids[LONG]))
    assert part.n_documents > MOST_DOCUMENTS
    assert part.places["rank"].max() == MOST_DOCUMENTS
    chosen = part.documents.filter(iteration=5)
    assert len(chosen) == MOST_DOCUMENTS
    assert set(range(1, MOST_DOCUMENTS // 2 + 1)) <= set(chosen["rank"])
    everything = traced().documents.filter(qid=part.qid, iteration=5)
    left_out = everything.join(chosen, on="row", how="anti")
    by_label = chosen.filter(pl.col("rank") > MOST_DOCUMENTS // 2)
    assert left_out["label"].max() <= by_label["label"].min()
    assert part.documents["label"].is_sorted()


def test_of_many_iterations_some_are_drawn_with_the_first_and_the_last():
    part = drawn(traced(n_trees=250), str(DATA.qids[0]))
    times = part.documents["iteration"].unique().sort().to_list()
    assert len(times) == MOST_ITERATIONS
    assert (times[0], times[-1], part.n_iterations) == (0, 250, 251)
    assert set(part.measures["iteration"]) == set(times)
    assert part.bars["begin"].min() < 0
    assert part.bars["end"].max() > 250


def test_a_single_moment_has_a_width():
    trace = pm.Trace([str(DATA.qids[0])])
    ranker = pm.MART(n_trees=2, warm_start=True).fit(DATA)
    ranker.fit(DATA, trace=trace)  # nothing is left to learn
    part = watched(trace).queries[0]
    assert part.bars.select("begin", "end").unique().rows() == [(1.5, 2.5)]


@pytest.mark.parametrize("name", ["demo", "another"])
def test_a_trace_belongs_to_the_comparison_that_it_was_made_for(tmp_path, name):
    assert watched_in(None, name) is None
    assert watched_in(tmp_path, name) is None
    trace = traced()
    trace.facts["comparison"] = "demo"
    trace.write(tmp_path)
    assert (watched_in(tmp_path, name) is not None) == (name == "demo")
