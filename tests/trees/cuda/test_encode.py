"""Codes of a GPU are those of `Bins.codes`."""

from gpu_checks import everywhere


def codes():
    import numpy as np

    from pomona.trees.binning import Bins
    from pomona.trees.cuda import encode

    random = np.random.default_rng(0)
    X = random.normal(size=(60, 18)).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 3] = 7
    bins = Bins.of(X[:50])
    X[55:, 0] = [-np.inf, np.inf, 0, -0.0, np.nan]
    usable = np.flatnonzero(bins.n_bins > 1)
    encode._PIECE = 18 * 4 * 40  # so that the rows come in two pieces
    words = encode.encoded(X, bins, usable).copy_to_host()
    found = np.concatenate([group.view(np.uint8).reshape(60, 16) for group in words], axis=1)
    assert np.array_equal(found[:, : len(usable)].T, bins.codes(X).columns[usable])
    assert not found[:, len(usable) :].any()


test_codes = everywhere(__file__, "codes")
