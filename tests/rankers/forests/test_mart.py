import numpy as np
import pytest

import pomona as pm
from pomona.rankers.forests.mart import MART


def test_one_round_can_fit_exactly():
    X = np.arange(8.0)[:, None]
    y = [3, 1, 4, 1, 5, 9, 2, 6]
    ranker = MART(n_trees=1, learning_rate=1, n_leaves=8, min_docs=1, min_hessian=0).fit(
        X, y, qid=np.zeros(8, int)
    )
    assert ranker.predict(X).tolist() == pytest.approx(y, abs=1e-3)


def test_targets():
    data = pm.simulate(30, docs_per_query=10, n_features=6, seed=1)
    label, gain = (MART(target=target, n_trees=1).fit(data).model_.base for target in ("label", "gain"))
    assert label == pytest.approx(data.y.mean())
    assert gain == pytest.approx((2**data.y - 1).mean())
    with pytest.raises(pm.PomonaError, match="unknown target"):
        MART(target="nothing").fit(data)
