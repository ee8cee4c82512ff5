import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.experiments.analysis.optimality import local_optimality


@pytest.fixture(scope="module")
def data():
    """The first feature is the label, the second is noise."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 200)
    return pm.Dataset(np.column_stack([labels, random.random(200)]), labels, np.repeat(np.arange(20), 10))


def linear(data, *weights):
    ranker = pm.LinearRegression(normalize=None).fit(data)
    ranker.coef_ = np.array(weights, float)
    return ranker


def test_one_weight_has_two_directions():
    """±v are 1 and −1: nothing changes until a step passes 0, beyond which the ranking is reversed."""
    data = pm.Dataset([[1.0], [2.0], [3.0]], [2, 1, 0], [1, 1, 1])
    found = local_optimality(linear(data, 7.0), data, "ndcg", n_directions=50, steps=(0.5, 1.5))
    directions = np.random.default_rng(0).standard_normal(50)
    as_it_is, turned = (pm.evaluate(data, sign * data.X[:, 0].copy(), "ndcg")["ndcg"] for sign in (1, -1))
    assert found.value == as_it_is
    assert found.values[:, 0].tolist() == [as_it_is] * 50
    assert found.values[:, 1].tolist() == [turned if v < 0 else as_it_is for v in directions]
    assert found.n_better == found.n_clearly_better == (directions < 0).sum()
    assert (found.norm, found.was_scaled, found.n_parameters) == (7.0, True, 1)


@pytest.mark.parametrize(
    "ranker",
    [pm.LinearRegression(), pm.LambdaMART(n_trees=4), pm.McRank(n_trees=2), pm.RankNet(n_epochs=1, hidden=3)],
    ids=str,
)
@pytest.mark.parametrize("relative", [False, True])
def test_points_are_those_of_scores_by_moved_parameters(ranker, relative):
    data = pm.simulate(12, docs_per_query=8, n_features=5, seed=1)
    ranker.fit(data)
    found = local_optimality(
        ranker, data, "ndcg@3", n_directions=3, steps=(0.1, 2), relative=relative, seed=4
    )
    movable, random = ranker.movable(data), np.random.default_rng(4)
    w = movable.parameters / (np.linalg.norm(movable.parameters) if found.was_scaled else 1.0)
    for values in found.values:
        v = random.standard_normal(len(w))
        v *= (np.linalg.norm(w) if relative else 1.0) / np.linalg.norm(v)
        for step, value in zip((0.1, 2), values, strict=True):
            moved = movable.score(w + step * v)
            assert value == pytest.approx(pm.evaluate(data, moved, "ndcg@3")["ndcg@3"], abs=1e-12)


def test_an_optimum_has_nothing_better_around_it(data):
    found = local_optimality(linear(data, 1.0, 0.0), data, "ndcg")
    assert (found.value, found.n_better, found.n_clearly_better) == (1.0, 0, 0)
    assert found.is_optimal
    assert found.confidence > 0.99
    assert found.values.shape == (460, 10)


def test_a_bad_model_has_much_that_is_better(data):
    found = local_optimality(linear(data, -1.0, 0.0), data, "ndcg", steps=(0.5, 1.0, 2.0))
    assert found.n_clearly_better > 0.25 * found.values.size
    assert not found.is_optimal


def test_linear_models_are_free_of_scale_and_others_are_not(data):
    one, other = (local_optimality(linear(data, c, 0.3 * c), data, n_directions=20) for c in (1.0, 1000.0))
    assert one.values.tolist() == other.values.tolist()
    forest = pm.LambdaMART(n_trees=3).fit(data)
    absolute, relative = (local_optimality(forest, data, n_directions=3, relative=r) for r in (False, True))
    assert not absolute.was_scaled
    assert absolute.values.tolist() != relative.values.tolist()


def test_the_directions_come_from_the_seed(data):
    ranker = linear(data, 0.2, 1.0)
    one, same, other = (local_optimality(ranker, data, n_directions=20, seed=seed) for seed in (1, 1, 2))
    assert one.values.tolist() == same.values.tolist() != other.values.tolist()


def test_by_step_and_row(data):
    found = local_optimality(linear(data, 1.0, 30.0), data, "p@3", n_directions=40, epsilon=0.05)
    steps = found.by_step
    assert steps["step"].to_list() == [round(0.1 * i, 1) for i in range(1, 11)]
    assert steps["better"].sum() == found.n_better
    assert steps["better_by_epsilon"].sum() == found.n_clearly_better < found.n_better
    assert steps["highest"].max() == pytest.approx(found.row()["highest"] - found.value)
    assert found.row()["measure"] == "p@3"


def test_the_rankers_own_measure_is_the_default(data):
    ranker = linear(data, 1.0, 0.5)
    assert local_optimality(ranker, data, n_directions=1).measure == "ndcg@10"


def test_ctrl_c_keeps_the_directions_that_are_done(data):
    def interrupt(n_done):
        if n_done == 5:
            raise KeyboardInterrupt

    found = local_optimality(linear(data, 1.0, 0.5), data, watch=interrupt)
    assert found.interrupted
    assert len(found.values) == 5
    assert found.confidence < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": ()}, "expected one or more numbers above 0"),
        ({"steps": (0.1, -1)}, "expected one or more numbers above 0"),
        ({"n_directions": 0}, "found 0 directions"),
        ({"epsilon": float("nan")}, "expected 0 or more"),
    ],
)
def test_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        local_optimality(linear(data, 1.0, 1.0), data, **options)
    with pytest.raises(InputError, match="all weights of the model are 0"):
        local_optimality(linear(data, 0.0, 0.0), data)
