import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy

import pomona as pm
from pomona.data.catalog import load_folds
from pomona.data.concatenation import concatenated
from pomona.experiments.analysis.feature_information import (
    entropy,
    feature_information,
    information,
    label_entropy,
    n_queries_with_pairs,
)

NEEDS_MQ2008 = pytest.mark.skipif(
    not Path(os.environ.get("POMONA_DATA", "/nowhere"), "MQ2008").is_dir(), reason="MQ2008 is not here"
)


@pytest.fixture(scope="module")
def data():
    """Labels, a constant, an undefined feature, a random one, its reverse and its cube root; some NaN."""
    random = np.random.default_rng(0)
    n = 400
    labels, x = random.integers(0, 4, n), random.normal(size=n)
    noisy = np.where(random.random(n) < 0.1, np.nan, np.round(labels + 2 * x, 1))
    X = np.column_stack([labels, np.full(n, 3.0), np.full(n, np.nan), x, -x, np.cbrt(x), noisy])
    return pm.Dataset(X, labels, random.integers(0, 40, n))


def rows(data, bins=20):
    return feature_information(data, bins).to_dicts()


def a_by_pairs(x, y, query_ptr):
    """Vargha and Delaney's A of each query with pairs, pair by pair; an undefined value ties."""
    values = []
    for begin, end in itertools.pairwise(query_ptr):
        pairs = [(i, j) for i in range(begin, end) for j in range(begin, end) if y[i] > y[j]]
        won = [1.0 if x[i] > x[j] else 0.0 if x[i] < x[j] else 0.5 for i, j in pairs]
        if pairs:
            values.append(np.mean(won))
    return np.mean(values)


def test_the_label_as_a_feature_tells_all(data):
    label, *_ = rows(data)
    assert label["information_gain"] == pytest.approx(label_entropy(data))
    assert label["gain_ratio"] == pytest.approx(1.0)
    assert label["symmetric_uncertainty"] == pytest.approx(1.0)
    assert label["a"] == 1.0


@pytest.mark.parametrize("useless", [1, 2])
def test_a_constant_feature_tells_nothing(data, useless):
    row = rows(data)[useless]
    names = ("information_gain", "corrected_gain", "gain_ratio", "symmetric_uncertainty")
    assert [row[name] for name in names] == [0.0] * 4
    assert (row["a"], row["constant"]) == (0.5, 1.0)


def test_facts(data):
    found = rows(data)
    assert [row["distinct"] for row in found[:4]] == [4, 1, 0, 400]
    assert found[6]["undefined"] == np.isnan(data.X[:, 6]).mean()
    assert [row["undefined"] for row in found[:4]] == [0.0, 0.0, 1.0, 0.0]
    assert [row["number"] for row in found] == list(range(1, 8))


def test_a_rising_transform_changes_nothing_and_reversing_turns_a_round(data):
    _, _, _, x, reversed_x, root, _ = rows(data)
    same = {"number", "feature"}
    assert {k: v for k, v in root.items() if k not in same} == {k: v for k, v in x.items() if k not in same}
    assert reversed_x["a"] == pytest.approx(1 - x["a"], abs=1e-12)


@pytest.mark.parametrize("bins", [2, 7, 20])
@pytest.mark.parametrize("feature", [3, 6])
def test_information_is_that_of_other_code(data, feature, bins):
    row, x, y = rows(data, bins)[feature], data.X[:, feature], data.y
    defined = np.sort(x[~np.isnan(x)])
    cuts = sorted({defined[int(np.ceil(j * len(defined) / bins)) - 1] for j in range(1, bins)})
    bin_of = np.array([-1 if np.isnan(v) else sum(cut < v for cut in cuts) for v in x])
    given = 0.0
    for b in set(bin_of.tolist()):
        labels = y[bin_of == b]
        given += len(labels) / len(y) * scipy_entropy(np.unique(labels, return_counts=True)[1], base=2)
    gain = scipy_entropy(np.unique(y, return_counts=True)[1], base=2) - given
    of_bin = scipy_entropy(np.unique(bin_of, return_counts=True)[1], base=2)
    n_bins = len(set(bin_of.tolist()))
    assert row["information_gain"] == pytest.approx(gain)
    assert row["corrected_gain"] == pytest.approx(gain - (n_bins - 1) * 3 / (2 * 400 * np.log(2)))
    assert row["gain_ratio"] == pytest.approx(gain / of_bin)


def test_a_is_that_of_all_pairs(data):
    rows_of = data.gathered()
    for feature, row in enumerate(rows(data)):
        assert row["a"] == pytest.approx(a_by_pairs(rows_of.X[:, feature], rows_of.y, rows_of.query_ptr))


def test_real_labels_and_queries_without_pairs():
    random = np.random.default_rng(1)
    labels = np.where(np.arange(60) < 20, 1.0, np.abs(random.normal(size=60)).round(1))
    data = pm.Dataset(random.normal(size=(60, 2)), labels, np.arange(60) // 10)
    assert n_queries_with_pairs(data) == 4
    for feature, row in enumerate(rows(data)):
        assert row["a"] == pytest.approx(a_by_pairs(data.X[:, feature], data.y, data.query_ptr))
    alike = pm.Dataset([[1.0], [2.0]], [1, 1], ["a", "b"])
    assert rows(alike)[0]["a"] is None
    assert rows(alike)[0]["information_gain"] == 0.0


def test_the_order_of_rows_does_not_matter(data):
    order = np.random.default_rng(2).permutation(data.n_docs)
    shuffled = pm.Dataset(data.X[order], data.y[order], data.qid[order])
    for one, other in zip(rows(data), rows(shuffled), strict=True):
        assert one == pytest.approx(other, nan_ok=True)


def test_entropy_of_counts():
    assert entropy(np.array([1, 1, 2])) == 1.5
    assert entropy(np.array([7])) == 0.0
    assert information(np.array([[2, 0], [0, 0], [0, 2]]))["gain_ratio"] == 1.0


@NEEDS_MQ2008
def test_values_of_mq2008_by_separate_code():
    data = concatenated(list(load_folds("mq2008").parts().values()))
    table = feature_information(data)
    assert label_entropy(data) == pytest.approx(0.88100, abs=5e-6)
    assert n_queries_with_pairs(data) == 564
    best = table.sort("information_gain", descending=True).head(6)
    assert best["number"].to_list() == [39, 23, 40, 38, 24, 22]
    assert best["information_gain"].round(4).to_list() == [0.1011, 0.0981, 0.0838, 0.0801, 0.0795, 0.0785]
    assert best["symmetric_uncertainty"].head(3).round(4).to_list() == [0.0396, 0.0385, 0.0329]
    a = dict(table.select("number", "a").rows())
    assert [round(a[feature], 4) for feature in (39, 23, 40, 25)] == [0.7803, 0.7735, 0.7514, 0.5823]


def test_documents_that_were_not_judged_tell_nothing(data):
    data = data.gathered()
    labels = data.y.copy()
    labels[::7] = np.nan
    judged = ~np.isnan(labels)
    some = pm.Dataset.from_parts(data.X, labels, data.query_ptr, data.qids)
    without = pm.Dataset(data.X[judged], labels[judged], np.repeat(data.qids, data.query_lengths)[judged])
    assert feature_information(some).equals(feature_information(without))
    assert label_entropy(some) == label_entropy(without)
    assert n_queries_with_pairs(some) == n_queries_with_pairs(without)
