"""Packed integers of a GPU are the CPU's; whole trees are compared in `test_leafwise`."""

from gpu_checks import everywhere


def packed_again():
    """Sums that leave their fields are packed again by half the scale, as the CPU does."""
    from dataclasses import replace

    import numpy as np

    from pomona.trees.binning import Bins
    from pomona.trees.cuda.grower import CudaLeafwiseGrower
    from pomona.trees.grower import GrowthRules

    random = np.random.default_rng(0)
    X = random.integers(0, 5, (30, 2)).astype(np.float32)
    gradient, hessian = random.normal(size=30).astype(np.float32), np.ones(30, np.float32)
    bins = Bins.of(X)
    grower = CudaLeafwiseGrower(bins, X, GrowthRules(min_docs=2, n_leaves=2))
    workspace = grower._workspace
    workspace.start(gradient, hessian, None, np.random.default_rng(1))
    expected = workspace.grow()
    workspace.start(gradient, hessian, None, np.random.default_rng(1))
    scale = workspace.packing.gradient_scale
    # 8 times the scale leaves the field thrice; halving hessians' scale with it changes their rounding only.
    workspace.packing = replace(
        workspace.packing, gradient_scale=8 * scale, hessian_scale=8 * workspace.packing.hessian_scale
    )
    found = workspace.grow()
    assert np.array_equal(expected[0], found[0])  # the reals are in the same memory


test_packed_again = everywhere(__file__, "packed_again")
