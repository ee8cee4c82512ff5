import itertools
import math

import numpy as np
import pytest

import pomona as pm
from pomona._jit import threads
from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.shap import interventional, leaf_covers, path_dependent


def shapley(value, n):
    """Shapley values of a game, by its definition: value(S) of a set of players."""
    worth = {S: value(S) for k in range(n + 1) for S in itertools.combinations(range(n), k)}
    values = np.zeros(n)
    for S, without in list(worth.items())[:-1]:
        weight = math.factorial(len(S)) * math.factorial(n - 1 - len(S)) / math.factorial(n)
        for i in set(range(n)) - set(S):
            values[i] += weight * (worth[tuple(sorted((*S, i)))] - without)
    return values


def expected_score(forest, x, S, cover):
    """The score if only the features of S are known: both children by their covers where one is not."""
    total = forest.base
    for tree in range(forest.n_trees):
        a, c = forest.node_ptr[tree], forest.leaf_ptr[tree]

        def covered(child, a=a, c=c):
            if child < 0:
                return cover[c + ~child]
            return covered(forest.left[a + child]) + covered(forest.right[a + child])

        def walk(child, a=a, c=c, covered=covered):
            if child < 0:
                return forest.value[c + ~child]
            node = a + child
            left, right, feature = forest.left[node], forest.right[node], forest.feature[node]
            if feature in S:
                is_nan = np.isnan(x[feature])
                goes_left = forest.nan_left[node] if is_nan else x[feature] <= forest.threshold[node]
                return walk(left) if goes_left else walk(right)
            shares = np.array([covered(left), covered(right)])
            return np.average([walk(left), walk(right)], weights=shares) if shares.sum() else 0.0

        total += walk(0) if forest.node_ptr[tree + 1] > a else forest.value[c]
    return total


@pytest.fixture(scope="module")
def data():
    data = pm.simulate(60, docs_per_query=15, n_features=5, seed=1)
    X = data.X.copy()
    X[::7, 2] = np.nan
    return data.replace(X=X)


@pytest.fixture(scope="module", params=["leafwise", "oblivious"])
def forest(request, data):
    return pm.LambdaMART(n_trees=4, n_leaves=12, min_docs=5, growth=request.param).fit(data).model_


def test_path_dependent_values_are_shapleys(forest, data):
    cover, X = leaf_covers(forest, data.X), data.X[:9]
    found = path_dependent(forest, X, cover)
    for i in (0, 3, 7):
        expected = shapley(lambda S, x=X[i]: expected_score(forest, x, S, cover), 5)
        assert found.values[i] == pytest.approx(expected, abs=1e-13)
    assert found.expected == pytest.approx(expected_score(forest, X[0], (), cover), abs=1e-13)
    assert found.values.sum(axis=1) + found.expected == pytest.approx(forest.score(X), abs=1e-12)


def test_interventional_values_are_shapleys(forest, data):
    others, X = data.X[100:140], data.X[:9]

    def score(S, x):
        mixed = others.copy()
        mixed[:, list(S)] = x[list(S)]
        return forest.score(mixed).mean()

    found = interventional(forest, X, others)
    for i in (0, 3, 7):
        assert found.values[i] == pytest.approx(shapley(lambda S, x=X[i]: score(S, x), 5), abs=1e-13)
    assert found.values.sum(axis=1) + found.expected == pytest.approx(forest.score(X), abs=1e-12)


def test_children_that_no_document_reached(forest, data):
    X = data.X[:40]
    cover = leaf_covers(forest, data.X[:3])
    found = path_dependent(forest, X, cover)
    assert np.isfinite(found.values).all()
    assert found.values.sum(axis=1) + found.expected == pytest.approx(forest.score(X), abs=1e-12)


def test_threads_and_neighbours_make_no_difference(forest, data):
    cover = leaf_covers(forest, data.X)
    found = []
    for n in (1, 3):
        with threads(n):
            against = interventional(forest, data.X, data.X[:30]).values
            found.append((path_dependent(forest, data.X, cover).values, against))
    one, three = found
    assert np.array_equal(one[0], three[0])
    assert np.array_equal(one[1], three[1])
    assert np.array_equal(one[0][5:6], path_dependent(forest, data.X[5:6], cover).values)


def test_a_stump_by_hand():
    stump = Forest([0], [1.5], [True], [~0], [~1], [1.0], [0, 1], [-1.0, 2.0], [0, 2], n_features=2)
    found = path_dependent(stump, [[1.0, 9.0], [2.0, 9.0]], np.array([3.0, 1.0]))
    assert found.expected == pytest.approx((3 * -1 + 1 * 2) / 4)
    assert found.values == pytest.approx(np.array([[-1 + 0.25, 0], [2 + 0.25, 0]]))


def test_trees_without_a_split_and_no_trees():
    leaf = Forest([], [], [], [], [], [], [0, 0], [0.5], [0, 1], n_features=2, base=1.0)
    for forest in (leaf, Forest.empty(2, 1.5)):
        found = path_dependent(forest, np.zeros((3, 2)), np.ones(len(forest.value)))
        assert (found.values == 0).all()
        assert found.expected == pytest.approx(1.5)
        assert interventional(forest, np.zeros((3, 2)), np.zeros((1, 2))).expected == pytest.approx(1.5)


def test_refused(forest, data):
    with pytest.raises(InputError, match="one a leaf"):
        path_dependent(forest, data.X, np.ones(3))
    with pytest.raises(InputError, match="no document lies in a tree"):
        path_dependent(forest, data.X, np.zeros(len(forest.value)))
    with pytest.raises(InputError, match="no background document"):
        interventional(forest, data.X, data.X[:0])


def test_as_lightgbm_says(data):
    lightgbm = pytest.importorskip("lightgbm")
    X = data.X.astype(float)
    model = lightgbm.LGBMRanker(n_estimators=30, num_leaves=15, min_child_samples=5, verbose=-1)
    model.fit(X, data.y, group=np.diff(data.query_ptr))
    forest = pm.from_model(model).model_
    theirs = model.booster_.predict(X, pred_contrib=True)
    ours = path_dependent(forest, X, leaf_covers(forest, X))
    assert ours.values == pytest.approx(theirs[:, :-1], abs=1e-9)
    assert ours.expected == pytest.approx(theirs[0, -1], abs=1e-9)


def test_as_the_shap_package_says(forest, data):
    shap = pytest.importorskip("shap")
    cover, X = leaf_covers(forest, data.X) + 1, data.X[:50].astype(float)  # it wants no leaf empty
    trees = []
    for tree in range(forest.n_trees):
        a, b = forest.node_ptr[tree : tree + 2]
        c, d = forest.leaf_ptr[tree : tree + 2]
        n, none = b - a, np.full(b - a + 1, -1)
        left, right = (
            np.concatenate([np.where(child >= 0, child, n + ~child), none])
            for child in (forest.left[a:b], forest.right[a:b])
        )
        weight = np.concatenate([np.zeros(n), cover[c:d]])
        for node in range(n - 1, -1, -1):
            weight[node] = weight[left[node]] + weight[right[node]]
        trees.append(
            {
                "children_left": left,
                "children_right": right,
                "children_default": np.where(np.append(forest.nan_left[a:b], none > 0), left, right),
                "features": np.append(forest.feature[a:b], none),
                "thresholds": np.append(forest.threshold[a:b].astype(float), none),
                "values": np.append(np.zeros(n), forest.value[c:d])[:, None],
                "node_sample_weight": weight,
            }
        )
    explainer = shap.TreeExplainer({"trees": trees}, feature_perturbation="tree_path_dependent")
    theirs = np.squeeze(explainer.shap_values(X, check_additivity=False))
    assert path_dependent(forest, X, cover).values == pytest.approx(theirs, abs=1e-9)
    others = data.X[100:130].astype(float)
    explainer = shap.TreeExplainer({"trees": trees}, data=others, feature_perturbation="interventional")
    theirs = np.squeeze(explainer.shap_values(X, check_additivity=False))
    # Its weights are float32.
    assert interventional(forest, X, others).values == pytest.approx(theirs, abs=1e-6)
