import numpy as np

from pomona.trees.binning import Bins
from pomona.trees.codes import Codes


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
