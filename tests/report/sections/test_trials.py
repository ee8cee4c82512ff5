import polars as pl

from experiments.small_study import curves, searched
from pomona.report.section import Side
from pomona.report.sections.trials import TrialsSection, chosen_table, trial_chart
from report.drawn import spec_of


def test_a_chart_a_parameter():
    findings = searched()
    sides = [part for part in TrialsSection().of_dataset(findings, "toy") if isinstance(part, Side)]
    assert sorted(len(side.figures) for side in sides) == [2, 2, 4]  # AdaRank, LinearRegression, MART


def test_numbers_and_words_on_the_axis():
    trials = searched().trials
    rate = trials.filter(ranker="MART", parameter="learning_rate")
    spec, (rows,) = spec_of(trial_chart(rate, "toy", "MART", "learning_rate"))
    assert spec["encoding"]["x"]["type"] == "quantitative"
    assert [row["state"] for row in rows].count("chosen") == 2
    rising = trials.filter(parameter="rising")
    spec, _ = spec_of(trial_chart(rising, "toy", "AdaRank", "rising"))
    assert spec["encoding"]["x"]["type"] == "nominal"
    failed = rate.with_columns(value=pl.lit(None, pl.Float64))
    assert trial_chart(failed, "toy", "MART", "learning_rate") is None


def test_what_was_chosen_fold_by_fold():
    table = chosen_table(searched().trials, "toy")
    assert len(table.rows) == 2 * 3
    assert [column.title for column in table.columns][:3] == ["Ranker", "Fold", "Seed"]
    assert chosen_table(curves().trials, "toy").rows == ()
    assert list(TrialsSection().overall(curves())) == []
