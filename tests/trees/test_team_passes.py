import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grower import GrowthRules
from pomona.trees.team_passes import MANY_THREADS, TeamPasses


def data(n=30_000):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5)).astype(np.float32)
    return X, (X[:, 3] + random.normal(size=n)).astype(np.float32), random.random(n).astype(np.float32)


def bits(tree):
    return [
        np.asarray(getattr(tree, name)).tobytes() for name in ("feature", "threshold", "value", "leaf_of_row")
    ]


@pytest.mark.parametrize("grower", [LeafwiseGrower, ObliviousGrower])
@pytest.mark.parametrize("newton", [True, False])
def test_trees_of_many_threads_are_those_of_one(grower, newton):
    X, gradient, hessian = data()
    bins, found = Bins.of(X), []
    for count in (1, MANY_THREADS, 3 * MANY_THREADS):
        with threads(count):
            ours = grower(bins, bins.codes(X), GrowthRules(newton_splits=newton))
            rng = np.random.default_rng(1)
            found.append([bits(ours.grow(by * gradient, hessian, None, rng)) for by in (1, -2)])
            assert isinstance(ours._workspace.passes, TeamPasses) == (count > 1)
    assert found[0] == found[1] == found[2]


def test_a_team_that_meets_bad_numbers_goes_home():
    X, gradient, hessian = data(100)
    gradient[7] = np.nan
    bins = Bins.of(X)
    with threads(MANY_THREADS):
        ours = LeafwiseGrower(bins, bins.codes(X), GrowthRules())
        with pytest.raises(InputError, match="NaN or infinite"):
            ours.grow(gradient, hessian, None, np.random.default_rng(1))
        assert len(ours.grow(np.nan_to_num(gradient), hessian, None, np.random.default_rng(1)).value) > 1


def test_a_bag_is_passed_over_without_a_team():
    X, gradient, hessian = data(2000)
    bins, rows = Bins.of(X), np.arange(0, 2000, 3, dtype=np.int32)
    with threads(MANY_THREADS):
        ours = LeafwiseGrower(bins, bins.codes(X), GrowthRules())
        ours.grow(gradient, hessian, rows, np.random.default_rng(1))
    assert not isinstance(ours._workspace.passes, TeamPasses)
