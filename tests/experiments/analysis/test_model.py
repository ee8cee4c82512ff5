import csv

import pytest

from experiments.small_study import searched
from pomona.experiments.refit import index_models
from pomona.rankers.loading import load_model


def test_every_model_with_its_file_and_what_was_chosen():
    findings = searched()
    models, results = findings.models, findings.results
    assert len(models) == results.runs.filter(state="done").height == 2 * 3
    index = list(csv.DictReader(index_models(results).read_text().splitlines()))
    assert [row["name"] for row in index] == models["name"].to_list()
    for row in models.iter_rows(named=True):
        ranker = load_model(results.directory / row["file"])
        chosen = dict(part.split(" = ") for part in row["chosen"].split(", "))
        for name, word in chosen.items():
            value = getattr(ranker, "chosen_", {}).get(name, getattr(ranker, name))
            assert word == (f"{value:.4g}" if isinstance(value, float) else str(value))


def test_what_a_ranker_decided_itself_is_chosen_too():
    chosen = searched().models.filter(ranker="MART")["chosen"].to_list()
    assert all("growth = " in text for text in chosen)  # left open: growth = auto
    assert not any("auto" in text for text in chosen)


def test_means_are_of_the_main_measure():
    findings = searched()
    row = findings.models.filter(ranker="MART", fold=1).row(0, named=True)
    values = findings.results.values.filter(ranker="MART", fold=1)
    for part in ("valid", "test"):
        assert row[part] == pytest.approx(values.filter(part=part)[findings.main].mean())
