import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError

DATA = pm.simulate(15, docs_per_query=10, n_features=6, seed=1)
NEURAL = {"n_epochs": 2, "hidden": 4}


@pytest.mark.parametrize(
    "ranker",
    [
        pm.LinearRegression(),
        pm.AdaRank(),
        pm.LogisticRegression(kind="binary"),
        pm.LogisticRegression(kind="ordinal"),
        pm.LogisticRegression(kind="multinomial"),
        pm.RankSVM(kernel="rbf", n_components=5),
        pm.LambdaMART(n_trees=5),
        pm.RandomForest(n_trees=5),
        pm.McRank(n_trees=3),
        pm.LambdaRank(**NEURAL),
        pm.ListNet(layer_norm=True, **NEURAL),
    ],
    ids=str,
)
def test_trained_parameters_score_as_the_model_does(ranker):
    ranker.fit(DATA)
    order = np.random.default_rng(0).permutation(DATA.n_docs)
    names = DATA.feature_names
    scattered = pm.Dataset(DATA.X[order], DATA.y[order], DATA.qid[order], feature_names=names)
    movable, gathered = ranker.movable(scattered), scattered.gathered()
    scores, own = movable.score(movable.parameters), ranker.predict(gathered)
    apart = scores - own
    np.testing.assert_allclose(apart, apart[0], atol=1e-6)
    moved = movable.parameters + np.random.default_rng(1).normal(size=len(movable.parameters))
    assert np.ptp(movable.score(moved) - own) > 1e-6
    np.testing.assert_array_equal(ranker.predict(gathered), own)


@pytest.mark.parametrize(
    "ranker", [pm.LinearRegression(), pm.LambdaMART(n_trees=5), pm.RCRank(n_trees=5)], ids=str
)
def test_affine_scores_move_along_a_line(ranker):
    movable = ranker.fit(DATA).movable(DATA)
    assert movable.is_affine
    v = np.random.default_rng(0).normal(size=len(movable.parameters))
    start, one, two = (movable.score(movable.parameters + step * v) for step in (0.0, 1.0, 2.0))
    np.testing.assert_allclose(two - one, one - start, atol=1e-9)


@pytest.mark.parametrize("ranker", [pm.McRank(n_trees=3), pm.LambdaRank(**NEURAL)], ids=str)
def test_others_do_not(ranker):
    movable = ranker.fit(DATA).movable(DATA)
    assert not movable.is_affine
    assert not movable.is_free_of_scale


@pytest.mark.parametrize(
    "ranker", [pm.BestFeature(), pm.RankBoost(n_rounds=3), pm.LinearCombination()], ids=str
)
def test_rankers_without_weights_are_refused_in_a_line(ranker):
    with pytest.raises(InputError, match="has no weights that could be moved: expected a linear, a neural"):
        ranker.fit(DATA).movable(DATA)


def test_features_stand_in_the_order_of_the_model():
    ranker = pm.LinearRegression().fit(DATA)
    turned = DATA.replace(X=np.ascontiguousarray(DATA.X[:, ::-1]), feature_names=DATA.feature_names[::-1])
    one, other = ranker.movable(DATA), ranker.movable(turned)
    np.testing.assert_array_equal(one.score(ranker.coef_), other.score(ranker.coef_))
