import polars as pl
import pytest

from experiments.small_study import curves, searched


def test_every_trial_with_every_parameter():
    findings = searched()
    table = findings.trials.filter(ranker="MART")
    assert table["parameter"].unique(maintain_order=True).to_list() == [
        *("learning_rate", "n_leaves", "min_docs", "feature_fraction"),
    ]
    assert len(table) == 2 * 3 * 4  # folds × trials × parameters
    left_open = table.filter(pl.col("x").is_null())
    assert set(left_open.select("trial", "parameter", "setting").rows()) == {(1, "n_leaves", "auto")}
    ada = findings.trials.filter(ranker="AdaRank(n_rounds=5)", parameter="rising")
    assert set(ada["setting"]) <= {"True", "False"}
    assert ada["x"].null_count() == len(ada)


def test_the_chosen_one_is_the_best_on_validation_queries():
    findings = searched()
    for _, run in findings.trials.group_by("fold", "ranker"):
        chosen = run.filter("is_chosen")
        assert chosen["trial"].n_unique() == 1
        assert chosen["value"][0] == run["value"].max()
    valid = (
        findings.results.values.filter(part="valid", ranker="MART")
        .group_by("fold")
        .agg(pl.col("ndcg@5").mean())
    )
    chosen = findings.trials.filter("is_chosen", ranker="MART").group_by("fold").agg(pl.col("value").first())
    assert dict(valid.iter_rows()) == pytest.approx(dict(chosen.iter_rows()))


def test_without_a_search_there_is_none():
    assert curves().trials.is_empty()
