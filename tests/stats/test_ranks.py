import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pomona.stats.ranks import exact_wilcoxon, kruskal, mean_ranks, normal_wilcoxon

tenths = st.integers(-10, 10).map(lambda i: i / 10)
anything = st.lists(tenths | st.floats(-1, 1).map(lambda x: round(x, 12)), min_size=2, max_size=80).map(
    np.array
)


@given(anything)
def test_ranks_as_scipy(values):
    ranks, equals = mean_ranks(values)
    assert ranks.tolist() == scipy.stats.rankdata(values).tolist()
    assert equals.tolist() == [np.count_nonzero(values == value) for value in values]


@given(anything)
def test_normal_wilcoxon_as_scipy(numbers):
    d = numbers[numbers != 0]
    if len(d):
        theirs = scipy.stats.wilcoxon(d, method="approx", correction=False).pvalue
        assert normal_wilcoxon(d) == pytest.approx(theirs, rel=1e-12)


@given(st.lists(st.integers(1, 1000), unique=True, min_size=1, max_size=25), st.integers(0))
def test_exact_wilcoxon_as_scipy(sizes, signs):
    d = np.array([size * (1 if signs >> i & 1 else -1) for i, size in enumerate(sizes)], float)
    assert exact_wilcoxon(d) == scipy.stats.wilcoxon(d, method="exact").pvalue


@given(st.lists(anything, min_size=2, max_size=5))
def test_kruskal_as_scipy(groups):
    if np.ptp(np.concatenate(groups)) > 0:
        assert kruskal(groups) == pytest.approx(scipy.stats.kruskal(*groups).pvalue, rel=1e-9)
