"""Rows of a GPU go to their sides, and histograms count them."""

from gpu_checks import everywhere


def histogram():
    import numpy as np

    from pomona._cuda import N_THREADS, cuda, kernel
    from pomona.trees.cuda import divide, table

    n_blocks, n_words = 1, divide.SHARED_WORDS
    random = np.random.default_rng(0)
    n, n_columns = 50, 3
    codes = np.zeros((1, n, 16), np.uint8)
    codes[0, :, :n_columns] = random.choice([0, 1, 255], (n, n_columns))
    values = random.integers(-(2**62), 2**62, (2, n)) // n
    rows = np.stack([random.permutation(n), random.permutation(n)]).astype(np.int32)
    leaves = np.zeros((1, table.LEAF_WIDTH), np.int64)
    leaves[0, [table.BEGIN, table.END, table.HALF]] = 5, 45, 1

    @kernel(launched=True)
    def run(leaves, codes, rows, values, histograms):
        sums = cuda.shared.array(n_words, np.uint32)
        divide.clear(0, histograms)
        cuda.syncthreads()
        divide.add_rows(0, 0, leaves, codes, rows, values, histograms, sums)

    out = cuda.to_device(np.full((1, n_columns, 256), 7, np.int64))
    run[n_blocks, N_THREADS](
        *(cuda.to_device(array) for array in (leaves, codes.view(np.uint64), rows, values)), out
    )
    expected = np.zeros((n_columns, 256), np.int64)
    for c in range(n_columns):
        np.add.at(expected[c], codes[0, rows[1, 5:45], c], values[1, 5:45])
    assert np.array_equal(out.copy_to_host()[0], expected)


test_histogram = everywhere(__file__, "histogram")
