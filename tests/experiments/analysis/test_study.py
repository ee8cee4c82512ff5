import numpy as np
import polars as pl
import pytest

from experiments.invented_results import invent
from experiments.small_study import done, noises, sizes, spec_with
from pomona.experiments.findings import Findings, complete_results, find
from pomona.stats.paired import compare_pair


def test_means_are_over_queries_and_draws():
    findings = sizes()
    values = findings.varied.values.filter(part="test", ranker="MART")
    table = findings.study.filter(ranker="MART", measure="ndcg@5")
    assert table["x"].to_list() == [0.2, 0.5, 1.0]
    assert table["n_draws"].to_list() == [2, 2, 1]
    for x, mean in table.select("x", "mean").iter_rows():
        word = "" if x == 1 else f"=0.{str(x)[2]} "
        chosen = values.filter(
            pl.col("dataset").str.contains(word, literal=True) if word else pl.col("dataset") == "toy"
        )
        assert mean == pytest.approx(chosen["ndcg@5"].mean())
    assert (table["low"] <= table["mean"]).all()
    assert (table["mean"] <= table["high"]).all()
    assert table["n_train_queries"].to_list() == [4, 8, 16]  # 20 of 40 are tested, a fifth of 20 validates
    assert table["n_train_docs"].is_sorted()


def test_variants_are_tested_against_the_complete_data():
    findings = sizes()
    row = findings.study.filter(ranker="MART", measure="ap", x=0.2).to_dicts()[0]
    values = findings.varied.values.filter(part="test", ranker="MART").sort("fold", "qid")
    keys = ["fold", "qid"]
    small = (
        values.filter(pl.col("dataset").str.contains("=0.2 "))
        .group_by(keys)
        .agg(pl.col("ap").mean())
        .sort(keys)
    )
    whole = values.filter(dataset="toy").sort(keys)
    tests = compare_pair(small["ap"].to_numpy(), whole["ap"].to_numpy(), n_resamples=200)
    assert row["difference"] == pytest.approx(tests.difference)
    assert (row["t_p"], row["sign_p"]) == pytest.approx((tests.t_p, tests.sign_p))
    assert row["holm_p"] >= row["randomization_p"]
    assert row["is_significant"] == (row["agree"] and row["holm_p"] <= 0.05)
    assert row["loss"] == pytest.approx(-100 * row["difference"] / whole["ap"].mean())
    reference = findings.study.filter("is_reference")
    assert set(reference["x"]) == {1.0}
    assert reference["difference"].null_count() == len(reference)


def test_the_least_that_is_enough():
    findings = sizes()
    curve = [
        {"dataset": "toy", "series": "a", "measure": "ap", "variable": "train_fraction", "x": x, "mean": mean}
        | {"difference": mean - 0.5, "is_significant": is_significant, "is_reference": x == 1.0}
        | {"n_train_docs": 100 * x, "n_train_queries": 10 * x}
        for x, mean, is_significant in (
            (0.1, 0.2, True),
            (0.2, 0.6, True),  # significantly above is not below
            (0.5, 0.45, False),
            (1.0, 0.5, None),
        )
    ]
    invented = Findings(findings.results, tables={"study": pl.DataFrame(curve)})
    row = invented.enough.to_dicts()[0]
    assert (row["x"], row["n_train_docs"], row["whole"], row["whole_mean"]) == (0.2, 20, 100, 0.5)


def test_noise_is_against_clean_labels_and_says_what_pairs_suffer():
    table = noises().study.filter(measure="ndcg@5")
    assert table.filter("is_reference")["x"].to_list() == [0.0]
    assert "IdealRanker" not in table["ranker"]
    turned = table["pairs_turned"].fill_null(0.0).to_list()
    assert 0 == turned[0] < turned[1] < turned[2] < 0.5


def test_other_tables_speak_of_the_complete_data_alone():
    findings = sizes()
    assert set(findings.quality["dataset"]) == set(findings.costs["dataset"]) == {"toy"}
    assert findings.results.values["dataset"].unique().to_list() == ["toy"]
    assert findings.varied.runs["dataset"].n_unique() == 5
    assert findings.results.datasets["dataset"].to_list() == ["toy"]
    results = findings.varied
    without = results.runs.filter(pl.col("dataset") != "toy")
    partly = complete_results(type(results)(**{**vars(results), "runs": without}))
    assert partly.runs["dataset"].unique().to_list() == ["toy train_fraction=0.5 draw=0"]


def test_a_comparison_without_variants_has_no_study():
    findings = find(invent(), n_resamples=50)
    assert findings.varied is None
    assert findings.study.is_empty()
    assert findings.enough.is_empty()
    assert findings.overfitting.is_empty()


def test_a_second_variable_makes_curves_of_their_own():
    spec = spec_with({"each": {"train_fraction": [0.5, 1.0], "n_features": [2, "all"]}})
    findings = find(done(spec), n_resamples=50)
    series = findings.study["series"].unique(maintain_order=True).to_list()
    assert series == ["MART(n_trees=5), 2 features", "MART(n_trees=5), all features"]
    assert findings.study.filter(measure="ap")["n_features"].to_list() == [2, 2, 6, 6]
    means = findings.study.filter(measure="ap")["mean"].to_numpy()
    assert len(np.unique(means)) == 4


def test_what_failed_is_left_out():
    results = sizes().varied
    bad = "toy train_fraction=0.2 draw=1"
    lost = (pl.col("dataset") == bad) & (pl.col("ranker") == "MART") & (pl.col("fold") == 1)
    state = pl.when(lost).then(pl.lit("failed")).otherwise("state")
    changed = type(results)(
        **{
            **vars(results),
            "runs": results.runs.with_columns(state=state),
            "values": results.values.filter(~lost),
        }
    )
    findings = find(changed, n_resamples=50)
    assert findings.study.filter(ranker="MART", measure="ap")["x"].to_list() == [0.5, 1.0]
    assert findings.study.filter(ranker="Linear", measure="ap")["x"].to_list() == [0.2, 0.5, 1.0]
    assert any("MART failed in 1 of 10 runs on toy" in text for text in findings.warnings)
