import numpy as np
import polars as pl
import pytest
from scipy import stats

from experiments.invented_results import Ranker, but, invent
from experiments.small_study import searched
from pomona.experiments.findings import find
from pomona.experiments.results import _QUERY_COLUMNS
from pomona.stats.corrections import holm

BY = {"market": {str(1000 * fold + q): "de" if q % 3 else "fr" for fold in (1, 2) for q in range(60)}}


def sliced(results, **given):
    """Findings of invented results whose queries have lengths, as given or from 1 to 60."""
    rows = [("one", fold, str(1000 * fold + q), q + 1, q % 3) for fold in (1, 2) for q in range(60)]
    queries = pl.DataFrame(rows, schema=_QUERY_COLUMNS, orient="row")
    return find(but(results, queries=queries), n_resamples=2000, **given)


@pytest.fixture(scope="module")
def findings():
    return sliced(invent(), by=BY)


def test_groups_hold_every_query_once(findings):
    slices = findings.slices.filter(ranker="MART")
    assert slices["slice"].unique(maintain_order=True).to_list() == [
        "documents",
        "relevant documents",
        "market",
    ]
    for _, part in slices.group_by("slice"):
        assert part["n_queries"].sum() == 120
    assert slices.filter(slice="documents")["group"].to_list() == ["1–15", "16–30", "31–45", "46–60"]
    assert dict(slices.filter(slice="market").select("group", "n_queries").rows()) == {"de": 80, "fr": 40}
    assert set(findings.slices["ranker"]) == {"MART", "Linear"}  # neither the baseline nor the bounds


def test_numbers_are_those_of_the_queries(findings):
    row = findings.slices.filter(ranker="Linear", slice="market", group="fr").row(0, named=True)
    queries = findings.queries.filter(pl.col("qid").is_in([q for q, m in BY["market"].items() if m == "fr"]))
    a, b = queries["Linear"].to_numpy(), queries["LambdaMART"].to_numpy()
    assert row["mean"] == pytest.approx(a.mean())
    assert row["baseline_mean"] == pytest.approx(b.mean())
    assert row["difference"] == pytest.approx((a - b).mean())
    assert row["t_p"] == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert (row["wins"], row["losses"]) == (int((a - b > 1e-12).sum()), int((b - a > 1e-12).sum()))


def test_the_family_is_all_groups_of_all_rankers(findings):
    table = findings.slices
    assert table["holm_p"].to_list() == pytest.approx(holm(table["randomization_p"].to_list()).tolist())
    decided = [row["agree"] and row["holm_p"] <= findings.alpha for row in table.iter_rows(named=True)]
    assert table["is_significant"].to_list() == decided
    assert any(decided)


def test_dependence_is_found_where_it_is_and_not_where_it_is_not():
    rankers = (Ranker("base", noise=0.0), Ranker("other", noise=0.0), Ranker("same", noise=0.0))
    results = invent(rankers, n_folds=2)
    gain = pl.when((pl.col("qid").cast(pl.Int64) % 1000) < 30).then(0.3).otherwise(0.0)
    bent = pl.when(pl.col("ranker") == "other").then(pl.col("ndcg@10") + gain).otherwise(pl.col("ndcg@10"))
    findings = sliced(but(results, values=results.values.with_columns(bent.alias("ndcg@10"))))
    found = findings.slice_dependence
    row = found.filter(ranker="other", slice="documents").row(0, named=True)
    assert row["is_significant"]
    queries = findings.queries.sort("fold", "qid")
    d = (queries["other"] - queries["base"]).to_numpy().round(12)
    lengths = queries["qid"].cast(pl.Int64).to_numpy() % 1000
    groups = [d[(lengths >= low) & (lengths < low + 15)] for low in (0, 15, 30, 45)]
    assert row["p"] == pytest.approx(stats.kruskal(*groups).pvalue)
    assert found.filter(ranker="same")["p"].to_list() == [1.0, 1.0]
    assert found["holm_p"].to_list() == pytest.approx(holm(found["p"].to_list()).tolist())


def test_what_cannot_be_sliced():
    unknown = invent()
    unknown.queries = unknown.queries.clear()
    assert find(unknown, n_resamples=50).slices.is_empty()
    assert sliced(invent((Ranker("alone"),))).slices.is_empty()
    assert sliced(invent(tuple(Ranker(f"r{i}") for i in range(42)), n_queries=60)).slices.is_empty()
    failed = invent(failed=[("one", 1, "LambdaMART", 0), ("one", 1, "LambdaMART", 1)])
    assert sliced(failed).slices.is_empty()  # the baseline misses queries


def test_queries_of_a_column_that_are_not_named_are_unknown():
    some = {"market": {qid: value for qid, value in BY["market"].items() if int(qid) % 2}}
    slices = sliced(invent(), by=some).slices.filter(ranker="MART", slice="market")
    assert slices["group"].to_list() == ["de", "fr", "unknown"]
    assert slices["n_queries"].sum() == 120


def test_of_a_real_comparison():
    findings = searched()
    queries = findings.results.queries
    data = {fold: findings.results.test_data("toy", fold) for fold in (1, 2)}
    assert len(queries) == 40
    for fold, part in data.items():
        known = queries.filter(fold=fold)
        assert known["n_docs"].to_list() == part.query_lengths.tolist()
        starts = part.query_ptr[:-1]
        assert known["n_relevant"].to_list() == np.add.reduceat((part.y > 0).astype(int), starts).tolist()
    assert set(findings.slices["slice"]) >= {"documents"}
