import numpy as np
import pytest

from experiments.invented_results import invent
from pomona.experiments.analysis.pooled import pooled
from pomona.experiments.analysis.quality import cutoff_table, quality_table, query_table
from pomona.stats.bootstrap import interval
from pomona.stats.norm import avg_norm

SETTINGS = {"alpha": 0.1, "n_resamples": 300, "seed": 5}


def test_means_intervals_marks_and_norm():
    (data,) = pooled(invent())
    marks = {("one", "ap", "MART"): "▼"}
    table = quality_table([data], ["ndcg@10", "ap"], marks, **SETTINGS)
    assert len(table) == 2 * 5
    row = table.filter(ranker="MART", measure="ap").row(0, named=True)
    own = data.of_measure("ap")[1]
    assert row["mean"] == pytest.approx(own.mean())
    assert (row["low"], row["high"]) == pytest.approx(interval(own, 300, 5, 0.9))
    assert (row["n_queries"], row["mark"], row["is_bound"]) == (120, "▼", False)
    assert table.filter(mark="▼").height == 1
    means = np.array([[data.mean(r, m) for m in ("ndcg@10", "ap")] for r in data.rankers])
    assert table["norm"].head(5).to_list() == pytest.approx(avg_norm(means).tolist())
    ideal, worst = (table.filter(ranker=f"{name}Ranker")["norm"][0] for name in ("Ideal", "Worst"))
    assert (ideal, worst) == (1.0, 0.0)


def test_rankers_with_fewer_queries():
    (data,) = pooled(invent(failed=[("one", 1, "MART", 0)]))
    table = quality_table([data], ["ap"], {}, **SETTINGS)
    own = data.of_measure("ap")[1, 60:]
    row = table.filter(ranker="MART").row(0, named=True)
    assert (row["mean"], row["n_queries"]) == (pytest.approx(own.mean()), 60)
    assert (row["low"], row["high"]) == pytest.approx(interval(own, 300, 5, 0.9))


def test_one_query_has_no_interval():
    table = quality_table(pooled(invent(n_queries=1, n_folds=1)), ["ap"], {}, **SETTINGS)
    assert table["low"].null_count() == table["high"].null_count() == 5


def test_cutoffs():
    (data,) = pooled(invent(conventions=("letor4", "definition")))
    table = cutoff_table([data], ["letor4", "definition"])
    assert len(table) == 2 * 10 * 3  # the bounds are not there
    assert table["convention"].unique(maintain_order=True).to_list() == ["letor4", "definition"]
    row = table.filter(convention="letor4", ranker="Linear", k=3).row(0, named=True)
    assert row["mean"] == pytest.approx(data.mean("Linear", "letor4:ndcg@3"))


def test_queries():
    datasets = pooled(invent(datasets=("one", "two"), failed=[("two", 2, "MART", 0)]))
    table = query_table(datasets, "ap")
    assert table.columns == ["dataset", "fold", "qid", "LambdaMART", "MART", "Linear"]
    assert len(table) == 240
    assert table["MART"].null_count() == 60
    assert table["Linear"].mean() == pytest.approx(np.mean([d.mean("Linear", "ap") for d in datasets]))
