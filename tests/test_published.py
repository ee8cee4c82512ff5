"""The numbers that are quoted from publications: transcribed once, and consistent in themselves."""

import csv
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

import pomona as pm
from golden.thesis_norm import TABLES
from pomona.data.catalog import COLLECTIONS
from pomona.stats.norm import avg_norm

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "examples" / "papers" / "published"
FILES = {
    "MSLR10K": "thesis_mslr10k",
    "Seznam": "thesis_seznam",
    "LETOR 4.0": "thesis_letor4",
    "WCL2R": "thesis_wcl2r",
}


def rows_of(name):
    lines = (PUBLISHED / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@pytest.mark.parametrize("title", FILES)
def test_the_thesis_tables_have_their_printed_values_and_norm(title):
    rows, printed = rows_of(FILES[title]), dict(TABLES)[title]
    assert [row["method"] for row in rows] == [name for name, _, _ in printed]
    measures = [key for key in rows[0] if key not in ("method", "ranker", "avg_norm")]
    values = np.array([[float(row[key]) for key in measures] for row in rows])
    assert values.tolist() == [list(numbers) for _, numbers, _ in printed]
    norms = [float(row["avg_norm"]) for row in rows]
    assert norms == [norm for _, _, norm in printed]
    assert avg_norm(values) == pytest.approx(norms, abs=1.3e-4)


def test_the_leaderboard_of_the_contest_is_on_the_page_of_its_winners():
    page = " ".join((ROOT / "docs" / "transformers.md").read_text(encoding="utf-8").split())
    places = rows_of("thesis_contest")
    values = [float(row["ndcg@38"]) for row in places]
    assert values == sorted(values, reverse=True)
    assert ", ".join(row["ndcg@38"] for row in places) in page
    one_booking = pm.Dataset([[2.0], [1.0], [3.0]], [5, 1, 0], [1, 1, 1])
    discounts = 1 / np.log2([2, 3, 4])
    expected = (31 * discounts[1] + discounts[2]) / (31 * discounts[0] + discounts[1])
    assert pm.evaluate(one_booking, one_booking.X[:, 0], "ndcg@38")["ndcg@38"] == pytest.approx(expected)


@pytest.fixture(scope="module")
def datasets():
    spec = importlib.util.spec_from_file_location("datasets", ROOT / "examples" / "datasets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_datasets_is_as_its_script_writes_it(datasets, monkeypatch, tmp_path):
    """`python examples/datasets.py` writes it again."""
    text = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    monkeypatch.setenv("POMONA_DATA", str(tmp_path))  # nothing at hand: rows of ours stay as they are
    assert datasets.page(text) == text


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
def test_rows_of_collections_at_hand_are_what_they_hold(datasets):
    shown = datasets.rows_of((ROOT / "docs" / "datasets.md").read_text(encoding="utf-8"))
    named = {row["name"]: row["dataset"] for row in datasets.thesis()}
    for name in ("mq2007", "mq2008", "ohsumed", "trec-news-2018"):
        if found := datasets.ours(name):
            assert shown[f"{named[name]}, ours" if name in named else f"`{name}`, ours"] == found
    for name in ("mq2007", "mq2008", "ohsumed"):
        assert shown[f"{named[name]}, ours"] == shown[f"{named[name]}, thesis"]


def test_every_dataset_of_the_thesis_but_the_private_one_is_in_the_catalogue(datasets):
    for row in datasets.thesis():
        assert (row["name"] in COLLECTIONS) == (row["dataset"] != "Seznam")
        if row["name"] in COLLECTIONS and not row["name"].startswith("yahoo"):
            assert COLLECTIONS[row["name"]].n_features == int(row["features"])
        if row["name"] in COLLECTIONS:
            assert COLLECTIONS[row["name"]].max_label == int(row["max label"])
    assert "596 of 700" in COLLECTIONS["yahoo-set2"].description
