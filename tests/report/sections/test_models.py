from pathlib import Path

import polars as pl

from pomona.report.page import page
from pomona.report.section import Report, compose
from pomona.report.sections.models import ModelsSection, model_table
from report.invented import changed, invented

DATA = "mq2008"


def kept(findings):
    return changed(findings, results=changed(findings.results, directory=Path("somewhere")))


def test_every_model_is_linked():
    findings = kept(invented())
    table = model_table(findings, DATA)
    titles = [column.title for column in table.columns]
    assert titles == ["Ranker", "Fold", "Seed", "Test", "Steps", "Size (kB)", "Model"]
    assert len(table.rows) == 6 * 2 * 2
    first = table.rows[0].cells[-1]
    assert first.text == "mq2008-LambdaMART-fold1-seed0.pomona"
    assert first.link == f"models/{findings.results.runs['run'][0]}.pomona"
    composed = compose([ModelsSection()], findings, [DATA])
    text = page(Report("t", "q", "s", [DATA], composed))
    assert f'<a href="{first.link}">{first.text}</a>' in text


def test_what_was_chosen_is_a_column():
    findings = kept(invented())
    models = findings.models.with_columns(
        chosen=pl.when(pl.col("fold") == 1).then(pl.lit("n_leaves = 7")).otherwise(pl.lit("")),
        valid=pl.lit(0.5),
        steps=pl.lit(None, pl.Int64),
    )
    table = model_table(changed(findings, models=models), DATA)
    titles = [column.title for column in table.columns]
    assert titles == ["Ranker", "Fold", "Seed", "Validation", "Test", "Chosen", "Size (kB)", "Model"]
    assert {row.cells[5].text for row in table.rows} == {"n_leaves = 7", "–"}


def test_without_a_directory_nothing_is_linked():
    section = ModelsSection()
    assert list(section.overall(invented())) == list(section.of_dataset(invented(), DATA)) == []
