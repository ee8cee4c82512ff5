import numpy as np
import pytest

import pomona as pm
from pomona.measures.parse import measure
from pomona.objectives.regression import RegressionObjective
from pomona.rankers.forests.training.boosting import BoostingConfig, boost, forest_of
from pomona.rankers.training_log import TrainingLog
from pomona.trees.binning import Bins
from pomona.trees.forest import Forest
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grower import GrowthRules


@pytest.fixture(scope="module")
def parts():
    return pm.simulate(40, docs_per_query=12, n_features=8, seed=1), pm.simulate(
        30, docs_per_query=12, n_features=8, seed=2
    )


def boosted(train, valid=None, n_trees=20, early_stopping=None, **more):
    bins = Bins.of(train.X)
    grower = more.pop("grower", None) or LeafwiseGrower(
        bins, bins.codes(train.X), GrowthRules(n_leaves=5, min_docs=2)
    )
    config = BoostingConfig(n_trees, 0.3, **more.pop("config", {}))
    done = more["start"][0].n_trees if "start" in more else 0
    log = more.pop("log", None) or TrainingLog(done=done, early_stopping=early_stopping)
    objective = RegressionObjective(train.y)
    return boost(train, valid, objective, grower, measure("ndcg@5"), config, log, **more), log


def test_training_error_falls(parts):
    train = parts[0]
    (forest,), log = boosted(train)
    errors = [np.mean((scores - train.y) ** 2) for scores in forest.staged_scores(train.X)]
    assert (np.diff(errors) <= 1e-9).all()
    assert forest.base == pytest.approx(train.y.mean())
    assert (log.best_iteration, log.evals) == (20, {})


def test_the_best_round_is_kept(parts):
    train, valid = parts
    (forest,), log = boosted(train, valid, n_trees=60, early_stopping=8)
    curve = log.evals["valid"]
    assert log.best_iteration == int(np.argmax(curve)) + 1
    assert len(curve) == min(60, log.best_iteration + 8)
    assert len(log.evals["train"]) == len(curve)
    assert forest.n_trees == log.best_iteration
    scores = forest.score(valid.X)
    assert pm.evaluate(valid, scores, "ndcg@5")["ndcg@5"] == pytest.approx(max(curve))


@pytest.mark.parametrize("n_earlier", [0, 3])
def test_the_mean_of_the_rounds_since_the_best_is_kept(parts, n_earlier):
    train, valid = parts
    start = {"start": boosted(train, n_trees=n_earlier)[0]} if n_earlier else {}
    how = {"n_trees": 60, "early_stopping": 8, **start}
    (forest,), log = boosted(train, valid, config={"averaged": True}, **how)
    (path,), _ = boosted(train, n_trees=log.iteration, **start)
    assert forest.n_trees == log.iteration > log.best_iteration > n_earlier
    rounds = list(path.staged_scores(valid.X))[log.best_iteration - 1 :]
    assert len(rounds) == log.iteration + 1 - log.best_iteration
    np.testing.assert_allclose(forest.score(valid.X), np.mean(rounds, axis=0), rtol=1e-6)


def test_with_dropout_the_best_round_is_kept(parts):
    how = {"n_trees": 60, "early_stopping": 8}
    mean, best = (
        boosted(*parts, config={"averaged": average, "dropout": 0.2}, **how)[0][0]
        for average in (True, False)
    )
    assert mean == best


def test_going_on_is_the_same_as_not_stopping(parts):
    train = parts[0]
    (whole,), _ = boosted(train, n_trees=10)
    (first,), _ = boosted(train, n_trees=4)
    (rest,), log = boosted(train, n_trees=10, start=[first])
    np.testing.assert_allclose(rest.score(train.X), whole.score(train.X), atol=1e-4)
    assert rest.head(4) == first
    assert log.best_iteration == 10


def test_bags_of_whole_queries(parts):
    train = parts[0]
    seen = []

    class Watching:
        def __init__(self, inner):
            self.inner = inner

        def grow(self, gradient, hessian, rows, rng):
            seen.append(rows)
            return self.inner.grow(gradient, hessian, rows, rng)

    bins = Bins.of(train.X)
    inner = LeafwiseGrower(bins, bins.codes(train.X), GrowthRules(n_leaves=5, min_docs=2))
    boosted(train, n_trees=3, grower=Watching(inner), config={"query_fraction": 0.5})
    query_of_row = np.repeat(np.arange(train.n_queries), np.diff(train.query_ptr))
    for rows in seen:
        chosen = np.unique(query_of_row[rows])
        assert len(chosen) == 20
        assert len(rows) == np.diff(train.query_ptr)[chosen].sum()
    assert not np.array_equal(seen[0], seen[1])


def test_ctrl_c_keeps_the_best_so_far(parts):
    class Interrupted(TrainingLog):
        def record(self, **values):
            is_best = super().record(**values)
            if self.iteration == 5:
                raise KeyboardInterrupt
            return is_best

    (forest,), log = boosted(*parts, log=Interrupted())
    assert log.interrupted
    assert len(log.evals["valid"]) == 5
    assert forest.n_trees == log.best_iteration == 1 + int(np.argmax(log.evals["valid"]))


def test_ctrl_c_before_the_first_round_keeps_nothing(parts):
    class Interrupted:
        def grow(self, gradient, hessian, rows, rng):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        boosted(parts[0], grower=Interrupted())


def test_no_trees():
    empty = Forest.empty(3, 1.5)
    assert forest_of([], empty).score(np.zeros((2, 3))).tolist() == [1.5, 1.5]


def test_data_too_small_to_split_are_said_so():
    data = pm.Dataset([[1.0], [2.0]], [0, 1], [1, 1])
    with pytest.warns(UserWarning, match="no tree found a split"):
        ranker = pm.MART(n_trees=2).fit(data)
    assert np.ptp(ranker.predict(data)) == 0
