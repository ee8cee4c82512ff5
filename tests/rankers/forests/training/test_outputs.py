"""Forests of a GPU are those of the CPU, bit for bit, whatever boosts them."""

from gpu_checks import everywhere


def _compare(name, **parameters):
    import numpy as np

    import pomona as pm
    from pomona._cuda import SIMULATED

    data = pm.simulate(n_queries=20 if SIMULATED else 300, docs_per_query=12, n_features=4, seed=1)
    if SIMULATED:
        is_oblivious = parameters.get("growth") == "oblivious" or name == "RCRank"
        parameters |= {"min_docs": 2, **({"max_depth": 2} if is_oblivious else {"n_leaves": 3})}
    weights = np.random.default_rng(0).integers(0, 4, data.n_docs) / 2
    forests = []
    for device in ("cpu", "cuda"):
        ranker = getattr(pm, name)(n_trees=2 if SIMULATED else 10, device=device, **parameters)
        forests.append(ranker.fit(data, valid=data.take(np.arange(5)), sample_weight=weights).models_)
    for one, other in zip(*forests, strict=True):
        assert one == other
        assert one.value.tobytes() == other.value.tobytes()
        assert one.n_trees > 0


def mart():
    _compare("MART", query_fraction=0.7, feature_fraction=0.8)


def rcrank():
    _compare("RCRank", enhanced=True)


def lambdamart():
    _compare("LambdaMART")


def others():
    _compare("McRank")
    _compare("RandomForest")


test_mart = everywhere(__file__, "mart")
test_rcrank = everywhere(__file__, "rcrank")
test_lambdamart = everywhere(__file__, "lambdamart")
test_others = everywhere(__file__, "others")


def test_a_round_in_memory():
    import numpy as np

    from pomona.objectives.regression import RegressionObjective
    from pomona.rankers.forests.training.outputs import Outputs
    from pomona.trees.binning import Bins
    from pomona.trees.grow_leafwise import LeafwiseGrower
    from pomona.trees.grower import GrowthRules

    X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    bins = Bins.of(X)
    grower = LeafwiseGrower(bins, bins.codes(X), GrowthRules(min_docs=1, n_leaves=2))
    outputs = Outputs.of(np.zeros((1, 4)), RegressionObjective([0, 0, 3, 3]), grower)
    outputs.differentiate()
    assert not outputs.is_flat()
    assert outputs.gradient.tolist() == [[0, 0, -3, -3]]
    tree = grower.grow(outputs.gradient[0], outputs.hessian[0], None, np.random.default_rng(0))
    outputs.add(0, tree, tree.value)
    assert outputs.in_memory().tolist() == [[0, 0, 3, 3]]
    outputs.differentiate()
    assert outputs.is_flat()
