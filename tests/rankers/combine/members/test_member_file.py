import numpy as np
import pytest

import pomona as pm
from pomona.rankers.combine.members.member_file import restored_members, written_members


def test_members_come_back_as_they_were():
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    members = [pm.BestFeature().fit(data), pm.LinearRegression().fit(data)]
    facts, arrays = written_members(members)
    assert [one["ranker"] for one in facts] == ["bestfeature", "linearregression"]
    assert all(name[:2] in ("0.", "1.") for name in arrays)
    for one, two in zip(restored_members(facts, arrays, 4), members, strict=True):
        assert type(one) is type(two)
        assert np.array_equal(one.predict(data), two.predict(data))
    with pytest.raises(ValueError, match="other than 5 features"):
        restored_members(facts, arrays, 5)
    with pytest.raises(ValueError, match="no ranker"):
        restored_members([], arrays, 4)
