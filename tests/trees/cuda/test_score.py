"""Scores of a GPU are those of `Forest.score`, bit for bit."""

import pytest

from gpu_checks import everywhere


def scores():
    import numpy as np

    import pomona as pm
    from pomona.errors import InputError
    from pomona.trees.cuda.score import CudaScorer
    from pomona.trees.forest import Forest

    data = pm.simulate(n_queries=30, n_features=6, seed=0)
    X = data.X[:50].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    X[:4, 0] = [-np.inf, np.inf, -0.0, 0.0]
    forest = pm.MART(n_trees=6, n_leaves=5, min_docs=5).fit(data.X, data.y, qid=data.qid).model_
    scorer = CudaScorer(forest)
    assert scorer.score_rows(X).tobytes() == forest.score(X).tobytes()
    assert scorer.score_rows(X[:0]).shape == (0,)
    deep = pm.MART(n_trees=5, n_leaves=40, min_docs=1, growth="leafwise").fit(data).model_
    assert CudaScorer(deep).score_rows(X).tobytes() == deep.score(X).tobytes()
    assert CudaScorer(Forest.empty(6, 2.5)).score_rows(X).tolist() == [2.5] * 50
    alone = Forest.join([Forest.empty(6), forest.head(0)], 6, 1.0)
    assert CudaScorer(alone).score_rows(X[:2]).tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match=r"expected float32 \(n_docs, 6\)"):
        scorer.score_rows(X[:, :3])


test_scores = everywhere(__file__, "scores")
