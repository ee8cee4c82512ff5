"""What a GPU cannot grow a tree from is refused; `test_leafwise` and `test_oblivious` compare trees."""

import pytest

from gpu_checks import everywhere


def refusals():
    import numpy as np

    from pomona.errors import InputError
    from pomona.trees.binning import Bins
    from pomona.trees.cuda.grower import CudaLeafwiseGrower
    from pomona.trees.grower import GrowthRules

    X = np.arange(8, dtype=np.float32)[:, None]
    bins = Bins.of(X)
    grower = CudaLeafwiseGrower(bins, X, GrowthRules(min_docs=1))
    ones, random = np.ones(8, np.float32), np.random.default_rng(0)
    for gradient, hessian, rows, text in (
        (ones[:3], ones, None, "8 documents"),
        (ones * np.nan, ones, None, "NaN"),
        (ones, -ones, None, "none below 0"),
        (ones, ones, np.empty(0, np.int32), "no documents"),
    ):
        with pytest.raises(InputError, match=text):
            grower.grow(gradient, hessian, rows, random)


test_refusals = everywhere(__file__, "refusals")
