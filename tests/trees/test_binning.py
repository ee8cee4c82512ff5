import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pomona._jit import threads
from pomona.errors import InputError
from pomona.trees import binning
from pomona.trees.binning import Bins


def column(*values):
    return np.array(values, np.float32)[:, None]


def test_few_values_have_a_bin_each_and_cuts_midway():
    bins = Bins.of(column(3, 1, 1, 8, 3))
    assert bins.edges[0].tolist() == [(1 + 3) / 2, (3 + 8) / 2]
    assert bins.codes(column(1, 2, 2.1, 3, 5.5, 8, 99)).columns[0].tolist() == [0, 0, 1, 1, 1, 2, 2]


def test_as_many_values_as_bins_are_still_exact():
    bins = Bins.of(np.arange(255, dtype=np.float32)[:, None])
    assert bins.n_bins[0] == 255
    assert bins.edges[0].tolist() == [k + 0.5 for k in range(254)]


def test_many_values_are_shared_out_evenly():
    X = np.random.default_rng(0).lognormal(size=(25_500, 1)).astype(np.float32)
    bins = Bins.of(X)
    counts = np.bincount(bins.codes(X).columns[0])
    assert len(counts) == 255
    assert counts.min() >= 90
    assert counts.max() <= 110


def test_a_frequent_value_costs_one_bin():
    X = np.random.default_rng(0).normal(size=(10_000, 1)).astype(np.float32)
    X[:5_000] = 0
    bins = Bins.of(X)
    counts = np.bincount(bins.codes(X).columns[0])
    zero = bins.codes(column(0)).columns[0, 0]
    assert counts[zero] == 5_000
    assert len(counts) >= 250
    assert np.delete(counts, zero).max() <= 40


def test_nan_has_the_last_bin():
    bins = Bins.of(column(1, np.nan, 2))
    assert bins.n_bins[0] == 3
    assert bins.codes(column(np.nan, 5, -5)).columns[0].tolist() == [2, 1, 0]
    assert bins.threshold(0, 1) == np.inf


def test_nan_never_seen_goes_with_the_largest():
    bins = Bins.of(column(1, 2, 3))
    assert bins.codes(column(np.nan, 3)).columns[0].tolist() == [2, 2]


def test_rare_nan_outside_the_sample_is_seen(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE", 10)
    X = np.arange(1000, dtype=np.float32)[:, None]
    X[X[:, 0] == 777] = np.nan
    bins = Bins.of(X, seed=3)
    assert bins.has_nan[0]
    assert len(bins.edges[0]) <= 9
    assert bins.codes(X).columns[0, 777] == bins.n_bins[0] - 1


def test_only_nan_and_constant_columns_have_one_bin():
    assert Bins.of(column(np.nan, np.nan)).codes(column(np.nan)).columns[0].tolist() == [1]
    assert Bins.of(column(7, 7, 7)).n_bins.tolist() == [1]


def test_infinities_are_values_like_others():
    X = column(-np.inf, -1, 1, np.inf)
    bins = Bins.of(X)
    assert bins.codes(X).columns[0].tolist() == [0, 1, 2, 3]
    biggest = np.finfo(np.float32).max
    far = column(-np.inf, -biggest, biggest, np.inf)
    assert Bins.of(far).codes(far).columns[0].tolist() == [0, 1, 2, 3]


def test_neighbouring_floats_are_told_apart():
    X = column(1, np.nextafter(np.float32(1), np.float32(2)))
    assert Bins.of(X).codes(X).columns[0].tolist() == [0, 1]


values = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(arrays(np.float32, st.tuples(st.integers(1, 60), st.just(2)), elements=values), st.integers(2, 9))
def test_code_and_threshold_say_the_same(X, max_bins):
    bins = Bins.of(X, max_bins)
    columns = bins.codes(X).columns
    assert bins.n_bins.max() <= max(max_bins, 2)
    for f in range(2):
        assert np.all(np.diff(bins.edges[f]) > 0)
        x, known = X[:, f], ~np.isnan(X[:, f])
        assert np.all(columns[f][~known] == bins.n_bins[f] - 1)
        for b in range(bins.n_bins[f] - int(bins.has_nan[f])):
            assert np.array_equal(columns[f][known] <= b, x[known] <= bins.threshold(f, b))


def test_threads_and_repetition_change_nothing(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE", 2000)
    X = np.random.default_rng(1).normal(size=(5000, 40)).astype(np.float32)
    found = []
    for count in (1, 2, 4):
        with threads(count):
            bins = Bins.of(X, seed=5)
            found.append((np.concatenate(bins.edges).tobytes(), bins.codes(X).words.tobytes()))
    assert found[0] == found[1] == found[2]


def test_wrong_input_is_refused():
    with pytest.raises(InputError, match="max_bins"):
        Bins.of(column(1, 2), max_bins=300)
    with pytest.raises(InputError, match="no documents"):
        Bins.of(np.empty((0, 3), np.float32))
    with pytest.raises(InputError, match="1 dimensions"):
        Bins.of(np.zeros(3, np.float32))
    with pytest.raises(InputError, match="found 2 features, expected 1"):
        Bins.of(column(1, 2)).codes(np.zeros((1, 2), np.float32))


@pytest.mark.parametrize("is_mapped", [False, True])
def test_rows_in_another_order_than_they_lie_are_binned_where_they_are(
    monkeypatch: pytest.MonkeyPatch, is_mapped: bool
) -> None:
    class Rows:
        shape = (1000, 5)
        source = np.random.default_rng(3).normal(size=(1000, 5)).astype(np.float32)
        rows = np.random.default_rng(4).permutation(1000)
        places = np.argsort(rows)

        def __len__(self) -> int:
            return 1000

        def __getitem__(self, numbers: np.ndarray) -> np.ndarray:
            assert len(numbers) <= binning.SAMPLE
            assert is_mapped
            return self.source[self.rows[numbers]]

    table = Rows.source
    table[:, 1], table[7, 2] = table[:, 1].round(), np.nan
    X = table[Rows.rows]
    table.flags.writeable = not is_mapped
    monkeypatch.setattr(binning, "SAMPLE", 300)
    expected, codes = Bins.of(X, seed=1), Bins.of(X, seed=1).codes(X)
    monkeypatch.setattr(binning, "_BLOCK_OF_ROWS", 64)
    found = Bins.of(Rows(), seed=1)
    assert all((a == b).all() for a, b in zip(found.edges, expected.edges, strict=True))
    assert (found.has_nan == expected.has_nan).all()
    in_blocks = found.codes(Rows())
    assert (in_blocks.columns == codes.columns).all()
    assert (in_blocks.words == codes.words).all()
