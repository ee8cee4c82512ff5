"""A trace tells what the training did: scores, places, forces and the measure, iteration by iteration."""

import numpy as np
import polars as pl
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.trace import instructive_query

DATA = pm.simulate(25, docs_per_query=12, n_features=8, seed=4)
PUBLISHED = {"normalize": False, "truncation": None, "noise": 0}
COLUMNS = ["iteration", "qid", "doc", "row", "label", "score", "rank", "lambda", "weight"]


def traced(ranker, queries=("3", "7"), data=DATA, every=1, **how):
    trace = pm.Trace(queries, every=every)
    return ranker.fit(data, trace=trace, **how), trace


def states(trace):
    """(labels, scores, ranks, forces, weights) of each query at each iteration."""
    names = ("label", "score", "rank", "lambda", "weight")
    for _, part in trace.documents.group_by("iteration", "qid", maintain_order=True):
        yield tuple(part[name].to_numpy() for name in names)


def swap_in_ndcg(labels, ranks, i, j, k):
    """What NDCG@k changes by when two documents trade places, by evaluating both rankings."""

    def dcg(places):
        gains = 2.0**labels - 1.0
        return sum(g / np.log2(1 + r) for g, r in zip(gains, places, strict=True) if r <= k)

    ideal = np.empty(len(labels), int)
    ideal[np.argsort(-labels, kind="stable")] = np.arange(1, len(labels) + 1)
    swapped = ranks.copy()
    swapped[[i, j]] = swapped[[j, i]]
    return abs(dcg(ranks) - dcg(swapped)) / dcg(ideal) if dcg(ideal) else 0.0


def test_lambdas_are_the_published_ones():
    ranker, trace = traced(pm.LambdaMART(n_trees=6, min_docs=5, n_leaves=4, measure="ndcg@5", **PUBLISHED))
    for labels, scores, ranks, forces, weights in states(trace):
        expected, curvature = np.zeros(len(labels)), np.zeros(len(labels))
        for i in range(len(labels)):
            for j in range(len(labels)):
                if labels[i] > labels[j]:
                    rho = 1 / (1 + np.exp(scores[i] - scores[j]))
                    delta = swap_in_ndcg(labels, ranks, i, j, 5)
                    expected[i] += delta * rho
                    expected[j] -= delta * rho
                    curvature[[i, j]] += delta * rho * (1 - rho)
        np.testing.assert_allclose(forces, expected, atol=1e-5)
        np.testing.assert_allclose(weights, curvature, atol=1e-5)
    assert ranker.best_iteration_ == 6


@pytest.mark.parametrize(
    "ranker",
    [
        pm.LambdaMART(n_trees=5),
        pm.LambdaMART(n_trees=5, measure="err@5", **PUBLISHED),
        pm.LambdaRank(n_epochs=3),
        pm.RankNet(n_epochs=3, dropout=0.0),
        pm.ListNet(n_epochs=3),
    ],
    ids=repr,
)
def test_forces_of_a_query_cancel(ranker):
    _, trace = traced(ranker)
    pushed = False
    for *_, forces, _ in states(trace):
        assert abs(forces.sum()) < 1e-5
        pushed |= bool(np.abs(forces).max() > 1e-4)
    assert pushed


@pytest.mark.parametrize("ranker", [pm.MART(n_trees=5), pm.RCRank(n_trees=5)], ids=repr)
def test_the_force_of_regression_is_the_residual(ranker):
    _, trace = traced(ranker)
    for labels, scores, _, forces, weights in states(trace):
        np.testing.assert_allclose(forces, labels - scores, atol=1e-5)
        np.testing.assert_array_equal(weights, 1.0)


def test_forces_on_a_network_are_those_of_its_loss():
    _, trace = traced(pm.RankNet(n_epochs=3))
    for labels, scores, _, forces, _ in states(trace):
        better = labels[:, None] > labels[None, :]
        pushes = better / (1 + np.exp(scores[:, None] - scores[None, :])) / max(better.sum(), 1)
        np.testing.assert_allclose(forces, pushes.sum(axis=1) - pushes.sum(axis=0), atol=1e-5)


@pytest.mark.parametrize(
    "ranker",
    [
        pm.LambdaMART(n_trees=7),
        pm.MART(n_trees=7),
        pm.RCRank(n_trees=20, enhanced=True),
        pm.McRank(n_trees=4),
        pm.LambdaRank(n_epochs=4),
        pm.SoftRank(n_epochs=4),
        pm.ListMLE(n_epochs=4),
    ],
    ids=repr,
)
def test_the_last_scores_are_those_of_the_model_which_the_trace_does_not_change(ranker):
    alone = ranker.fit(DATA).predict(DATA)
    fitted, trace = traced(ranker)
    np.testing.assert_array_equal(fitted.predict(DATA), alone)
    iterations = trace.documents["iteration"].unique().sort().to_list()
    assert iterations == list(range(fitted.best_iteration_ + 1))
    last = trace.documents.filter(iteration=iterations[-1])
    np.testing.assert_allclose(last["score"], alone[last["row"]], atol=1e-6)
    assert trace.documents.columns == COLUMNS
    is_unknown = trace.documents["lambda"].is_null()
    assert is_unknown.all() if isinstance(ranker, pm.McRank) else not is_unknown.any()


def test_places_and_measures_are_those_of_the_scores():
    _, trace = traced(pm.LambdaMART(n_trees=5, measure="ndcg@5"))
    for (t, qid), part in trace.documents.group_by("iteration", "qid"):
        places = part.sort("rank")
        assert places["rank"].to_list() == list(range(1, len(part) + 1))
        assert places["score"].is_sorted(descending=True)
        alone = pm.Dataset(np.zeros((len(part), 1)), part["label"].to_numpy(), [1] * len(part))
        judged = pm.evaluate(alone, -part["rank"].to_numpy(), "ndcg@5")["ndcg@5"]
        assert trace.measures.filter(iteration=t, qid=qid)["value"].item() == pytest.approx(judged)
    everything = pm.Trace([str(qid) for qid in DATA.qids])
    pm.LambdaMART(n_trees=5, measure="ndcg@5").fit(DATA, trace=everything)
    by_query = (
        everything.measures.drop_nulls().group_by("iteration").agg(pl.col("value").mean()).sort("iteration")
    )
    means = everything.measures.filter(pl.col("qid").is_null())["value"]
    np.testing.assert_allclose(by_query["value"], means)


def test_a_file_that_is_sorted_by_label_seems_not_ranked_before_it_is():
    order = np.lexsort((-DATA.y, DATA.qid))
    data = pm.Dataset(DATA.X[order], DATA.y[order], DATA.qid[order])
    for ranker in (pm.LambdaMART(n_trees=2), pm.MART(n_trees=2)):
        _, trace = traced(ranker, data=data)
        start = trace.measures.filter(iteration=0)
        assert start.filter(pl.col("qid").is_null())["value"].item() < 0.8


def test_rows_in_any_order_and_ids_of_letters():
    order = np.random.default_rng(0).permutation(DATA.n_docs)
    names = np.array([f"q{qid}" for qid in DATA.qid])[order]
    data = pm.Dataset(DATA.X[order], DATA.y[order], names)
    fitted, trace = traced(pm.MART(n_trees=3), ["q7", "q3"], data)
    assert trace.qids == ["q7", "q3"]
    last = trace.documents.filter(iteration=3)
    rows = last["row"].to_numpy()
    assert names[rows].tolist() == last["qid"].to_list()
    np.testing.assert_array_equal(last["label"], DATA.y[order][rows])
    np.testing.assert_allclose(last["score"], fitted.predict(data)[rows], atol=1e-9)
    _, in_arrays = traced(pm.MART(n_trees=3), ["q7", "q3"], data.replace())
    assert in_arrays.documents.equals(trace.documents)


def test_documents_go_by_their_ids_or_else_their_numbers():
    data = pm.Dataset(
        DATA.X, DATA.y, DATA.qid, doc_ids=[f"d{i}" if i % 2 else "" for i in range(DATA.n_docs)]
    )
    _, trace = traced(pm.MART(n_trees=1), [DATA.qids[0]], data)
    assert trace.documents["doc"].head(4).to_list() == ["1", "d1", "3", "d3"]


def test_ties_by_document_ids_where_the_convention_breaks_them_so():
    data, trace = pm.simulate(20, docs_per_query=10, seed=1), pm.Trace()
    pm.LambdaMART(n_trees=2, measure="trec_eval:ndcg@10").fit(data, trace=trace)
    assert trace.measures["measure"].unique().to_list() == ["trec_eval:ndcg@10"]


def test_every_so_many_iterations_and_the_last():
    _, trace = traced(pm.LambdaMART(n_trees=7), every=3)
    assert sorted(set(trace.documents["iteration"])) == [0, 3, 6, 7]
    fitted, trace = traced(pm.LambdaMART(n_trees=300, early_stopping=2), valid=DATA, every=100)
    assert max(trace.documents["iteration"]) == len(fitted.evals_["valid"])
    assert trace.facts["kept"] == fitted.best_iteration_


def test_of_several_trainings_the_one_that_is_kept_is_traced():
    fitted, trace = traced(pm.RankNet(n_epochs=3, learning_rate=(0.003, 1e-6)), valid=DATA)
    again, alone = traced(pm.RankNet(n_epochs=3, learning_rate=fitted.learning_rate_), valid=DATA)
    assert again.learning_rate_ == 0.003
    assert trace.documents.equals(alone.documents)


def test_a_warm_start_is_watched_from_where_it_begins():
    ranker = pm.LambdaMART(n_trees=3, warm_start=True).fit(DATA)
    _, trace = traced(ranker.set_params(n_trees=5))
    assert sorted(set(trace.documents["iteration"])) == [3, 4, 5]


def test_an_interrupted_training_leaves_what_was_seen(monkeypatch):
    see = pm.Trace.see

    def interrupted(self, iteration):
        if iteration == 3:
            raise KeyboardInterrupt
        see(self, iteration)

    monkeypatch.setattr(pm.Trace, "see", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        fitted, trace = traced(pm.LambdaMART(n_trees=9))
    assert fitted.interrupted_
    assert sorted(set(trace.documents["iteration"])) == [0, 1, 2]


def test_kept_in_files(tmp_path):
    _, trace = traced(pm.LambdaMART(n_trees=2))
    trace.write(tmp_path)
    again = pm.Trace.read(tmp_path)
    assert again.documents.equals(trace.documents)
    assert again.measures.equals(trace.measures)
    assert again.facts == trace.facts
    assert again.qids == ["3", "7"]
    assert pl.read_parquet(tmp_path / "trace.parquet").columns == COLUMNS
    (tmp_path / "trace.json").write_text("{")
    with pytest.raises(InputError, match="no trace can be read here"):
        pm.Trace.read(tmp_path)


def test_refusals():
    with pytest.raises(
        InputError, match=r"no training query has the id '77': did you mean '7'\? \(25 queries\)"
    ):
        traced(ranker := pm.MART(n_trees=1), ["77"])
    assert not ranker.__sklearn_is_fitted__()
    with pytest.raises(InputError, match="every must be a whole number of at least 1, found 0"):
        pm.Trace(["1"], every=0)
    with pytest.raises(InputError, match="no query is named"):
        pm.Trace([])
    with pytest.raises(InputError, match="RandomForest has no steps that a trace could show"):
        traced(pm.RandomForest(n_trees=2))
    with pytest.raises(InputError, match="LinearRegression has no steps"):
        traced(pm.LinearRegression())
    with pytest.raises(InputError, match="nothing was recorded yet"):
        _ = pm.Trace(["1"]).documents


def test_a_query_that_shows_much():
    sizes = {1: 40, 2: 20, 3: 25, 4: 2}
    qid = np.repeat(list(sizes), list(sizes.values()))
    y = np.concatenate([np.arange(40) % 5, np.arange(20) % 3, np.arange(25) % 4, [0, 1]])
    data = pm.Dataset(np.ones((len(y), 1)), y, qid)
    assert data.qids[instructive_query(data)] == 3
    assert instructive_query(data.take([0, 3])) == 0
    assert instructive_query(pm.Dataset([[1.0]], [0], [5])) == 0


def test_the_documented_query():
    """What docs/analyses/trace.md says of its picture."""
    trace = pm.Trace(["51"])
    ranker = pm.LambdaMART(n_trees=6, n_leaves=10, seed=6, **PUBLISHED)
    ranker.fit(pm.simulate(100, seed=1), trace=trace)
    before, after = (trace.documents.filter(pl.col("label") >= 3, iteration=t).sort("label") for t in (4, 5))
    assert before["score"].n_unique() == 1
    assert (before["rank"].to_list(), after["rank"].to_list()) == ([1, 2], [2, 1])
    assert before["lambda"].round(2).to_list() == [0.9, 1.25]
    assert after["lambda"].round(2).to_list() == [0.43, 2.01]
    values = trace.measures.drop_nulls().sort("iteration")["value"].round(3)
    assert (values[4], values[5]) == (0.818, 0.925)


def test_a_real_query_that_others_outweigh():
    try:
        train = pm.load("mslr-subset")[0]
    except pm.PomonaError:
        pytest.skip("MSLR-subset is not on this machine")
    trace = pm.Trace([76])
    pm.LambdaMART(measure="ndcg@20", n_trees=50, n_leaves=10, **PUBLISHED).fit(train, trace=trace)
    values = trace.measures.drop_nulls().sort("iteration")["value"]
    assert (values.arg_max(), round(values.max(), 3), round(values[-1], 3)) == (2, 0.894, 0.887)
    third = trace.documents.filter(pl.col("iteration") >= 1, rank=3)
    assert third["label"].unique().to_list() == [4]
    assert third["lambda"].min() > 0
    assert trace.documents.filter(iteration=50, rank=2)["label"].item() == 2
