import numpy as np
import pytest

from pomona.trees.binning import Bins
from pomona.trees.codes import Codes, _seated


def test_blocks_and_columns_agree():
    X = np.random.default_rng(0).normal(size=(301, 107)).astype(np.float32)
    codes = Bins.of(X).codes(X)
    # 43 features more than one block: six words, in rows of eight.
    assert [block.shape for block in codes.blocks] == [(301, 64), (301, 64)]
    assert codes.block_table["n_words"].tolist() == [8, 6]
    together = np.concatenate(codes.blocks, axis=1)
    assert np.array_equal(together[:, :107].T, codes.columns[codes.seats["feature"]])
    assert not together[:, 107:].any()
    assert (codes.n_docs, codes.n_features) == (301, 107)


def test_features_of_few_values_share_a_byte():
    random = np.random.default_rng(0)
    n_bins = [2, 100, 3, 1, 2, 200, 40, 2]
    X = np.stack([np.append(np.arange(n), random.integers(0, n, 300 - n)) for n in n_bins], axis=1)
    codes = Bins.of(X.astype(np.float32)).codes(X.astype(np.float32))
    # 200 | 100 · 2 | 40 · 3 · 2: first fit of the largest first; the constant feature has no seat.
    assert codes.byte_table["n_codes"].tolist() == [200, 100 * 2, 40 * 3 * 2, 2]
    assert codes.seats["feature"].tolist() == [5, 1, 0, 6, 2, 4, 7]
    assert codes.seats["radix"].tolist() == [1, 1, 100, 1, 40, 120, 1]
    rows = codes.blocks[0].T
    assert np.array_equal(rows[0], X[:, 5])
    assert np.array_equal(rows[1], X[:, 1] + 100 * X[:, 0])
    assert np.array_equal(rows[2], X[:, 6] + 40 * X[:, 2] + 120 * X[:, 4])
    assert np.array_equal(codes.columns, X.T)


def test_rows_lie_in_one_cache_line():
    codes = Codes.zeros(33, np.full(64 + 8, 255, np.int32))
    assert [block.ctypes.data % 64 for block in codes.blocks] == [0, 0]
    assert [block.shape[1] for block in codes.blocks] == [64, 8]


def test_room_for_nothing_but_constants():
    assert Codes.zeros(5, np.ones(3, np.int32)).blocks == []


def test_seats_of_many_features_are_those_of_the_first_byte_with_room():
    random = np.random.default_rng(0)
    n_bins = random.choice([1, 2, 3, 5, 16, 17, 40, 128, 129, 255], 400).astype(np.int32)
    byte_table, seats = _seated(n_bins)
    sizes, of_byte = [], {}
    for feature in sorted(range(400), key=lambda f: -n_bins[f]):
        if n_bins[feature] > 1:
            byte = next((b for b, size in enumerate(sizes) if size * n_bins[feature] <= 256), len(sizes))
            sizes += [1] * (byte == len(sizes))
            of_byte.setdefault(byte, []).append((feature, sizes[byte]))
            sizes[byte] *= n_bins[feature]
    assert byte_table["n_codes"].tolist() == sizes
    for byte, expected in of_byte.items():
        first, last = byte_table[byte]["first_seat"], byte_table[byte]["last_seat"]
        found = seats[first:last]
        assert list(zip(found["feature"].tolist(), found["radix"].tolist(), strict=True)) == expected
        assert (found["byte"] == byte).all()


@pytest.mark.parametrize("bins", [[255], [2], [255, 2, 9, 1, 30]])
def test_so_many_features_are_seated_as_letor_text_may_have(bins):
    """It took minutes when every feature asked all bytes; one call a feature is far below this."""
    n_bins = np.resize(np.array(bins, np.int32), 100_000)
    byte_table, seats = _seated(n_bins)
    assert len(seats) == (n_bins > 1).sum()
    assert byte_table["n_codes"].max() <= 256
