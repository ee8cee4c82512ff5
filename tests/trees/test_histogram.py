import numpy as np

from pomona.trees.codes import Codes
from pomona.trees.histogram import SCRATCH, STRIDE, WORDS, accumulate, settle


def test_histograms_are_sums_by_code_and_siblings_are_differences():
    random = np.random.default_rng(0)
    n = 1500
    n_bins = np.concatenate((np.full(64 + 38, 250), [2, 9, 7])).astype(np.int32)
    columns = np.stack([random.integers(0, bins, n) for bins in n_bins]).astype(np.uint8)
    codes = Codes.zeros(n, n_bins)
    assert codes.byte_table["n_codes"].tolist()[-1] == 2 * 9 * 7
    for seat in codes.seats:
        block = codes.blocks[seat["byte"] // 64]
        block[:, seat["byte"] % 64] += columns[seat["feature"]] * np.uint8(seat["radix"])
    bin_start = np.concatenate(([0], np.cumsum(n_bins))).astype(np.int64)
    values = random.integers(-(2**40), 2**40, n)

    def expected(rows):
        sums = [np.zeros(bins, np.int64) for bins in n_bins]
        for f, own in enumerate(sums):
            np.add.at(own, columns[f, rows], values[rows])
        return np.concatenate(sums)

    everything = np.arange(n, dtype=np.int32)
    some = np.sort(random.choice(everything, 700, replace=False))
    scratch = np.zeros((2, 2, SCRATCH), np.int64)
    child, sibling = np.empty(bin_start[-1], np.int64), expected(everything)
    for b, block in enumerate(codes.block_table):
        n_words = int(block["n_words"])
        for part, (begin, end) in enumerate([(0, 300), (300, 700)]):
            for words in ((0, 3), (3, n_words)):
                sums = scratch[part, b]
                accumulate(codes.words, block, *words, some, values[some], begin, end, sums)
    unused = np.ones((1, 2, SCRATCH), np.int64)  # sums that nobody has added to are not looked at
    partials, is_used = np.concatenate((scratch, unused)), np.ones((3, 2 * WORDS), bool)
    is_used[2] = False
    for first, last in ((0, 70), (70, len(codes.byte_table))):
        layout = (codes.byte_table, codes.seats, bin_start)
        settle(first, last, *layout, partials, is_used, child, sibling)
    assert np.array_equal(child, expected(some))
    assert np.array_equal(sibling, expected(np.setdiff1d(everything, some)))
    left_over = partials[:2].reshape(2, -1, STRIDE)[:, : len(codes.byte_table), :250]
    assert not left_over.any()
