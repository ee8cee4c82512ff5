import numpy as np
import pytest

import pomona as pm
from pomona.objectives._decays import as_decays


@pytest.mark.parametrize("text", ["ndcg", "dcg", "rbp", "ranklib:ndcg", "yahoo:ndcg"])
@pytest.mark.parametrize("longest", [2, 9, 40, 300, 5000])
def test_smooth_discounts_are_sums_of_decays(text, longest):
    numerator, divisor = pm.measure(text).weights(longest)
    weight = numerator / divisor
    shares, decays = as_decays(weight, longest)
    assert 1 <= len(decays) <= 40
    found = decays ** np.arange(longest)[:, None] @ shares
    np.testing.assert_allclose(found, weight, rtol=0, atol=2e-12)
    assert np.abs(shares).sum() < 20, "large shares of opposite signs would lose digits"


UNEVEN = [1, 0, 0, 1, 0, 1, 0, 0, 1] * 9


@pytest.mark.parametrize("weight", [[], [1.0], UNEVEN, [0.0, *UNEVEN], [1.0] * 10 + [0.0] * 40])
def test_others_have_none(weight):
    shares, decays = as_decays(np.array(weight, float), len(weight))
    assert len(shares) == len(decays) == 0
