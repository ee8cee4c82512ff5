import numpy as np
import pytest

import pomona as pm
from pomona._jit import threads
from pomona.errors import InputError, UnknownParameterError
from pomona.rankers.forests import forest_ranker
from pomona.rankers.forests.training.gradient_sampling import GradientSampling
from pomona.rankers.forests.training.portion import Portion


def derivatives(n=200_000, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=n).astype(np.float32), random.random(n).astype(np.float32)


def drawn(top, rest, gradient, hessian, rows=None, seed=0):
    gradient, hessian = gradient.copy(), hessian.copy()
    return GradientSampling(top, rest, seed, Portion()).draw(gradient, hessian, rows), gradient, hessian


def test_large_gradients_are_taken_and_some_of_the_others_count_more():
    gradient, hessian = derivatives()
    rows, scaled, scaled_hessian = drawn(0.2, 0.1, gradient, hessian)
    assert (np.diff(rows) > 0).all()
    factor = scaled[rows] / gradient[rows]
    is_top = factor == 1
    assert np.abs(gradient[rows][is_top]).min() >= np.abs(gradient[rows][~is_top]).max()
    largest = np.sort(np.abs(gradient))[::-1]
    assert np.mean(is_top) * len(rows) <= 40_000
    assert np.abs(gradient[rows][is_top]).min() < 1.04 * largest[39_999]  # a step of sizes, no more
    n_others = 200_000 - is_top.sum()
    assert (~is_top).sum() == pytest.approx(20_000, rel=0.03)
    assert factor[~is_top] == pytest.approx(n_others / 20_000, rel=1e-6)
    assert scaled_hessian[rows] == pytest.approx(hessian[rows] * factor, rel=1e-6)
    assert np.array_equal(np.delete(scaled, rows), np.delete(gradient, rows))
    for before, after in ((gradient, scaled), (hessian, scaled_hessian)):
        spread = np.sqrt(np.sum(np.square(after[rows][~is_top])))
        assert abs(after[rows].sum(dtype=float) - before.sum(dtype=float)) < 4 * spread


def test_rounds_and_seeds_differ_and_threads_do_not():
    given = derivatives()
    found = []
    for count in (1, 3):
        with threads(count):
            found.append(drawn(0.1, 0.3, *given)[0].tobytes())
    assert found[0] == found[1]
    assert drawn(0.1, 0.3, *given, seed=1)[0].tobytes() != found[0]
    sampling = GradientSampling(0.1, 0.3, 0, Portion())
    first, second = (sampling.draw(*(array.copy() for array in given), None) for _ in range(2))
    assert first.tobytes() == found[0] != second.tobytes()


def test_only_of_the_rows_of_a_bag():
    given = derivatives(30_000)
    bag = np.arange(0, 30_000, 3, dtype=np.int32)
    rows, _, _ = drawn(0.3, 0.2, *given, rows=bag)
    assert np.isin(rows, bag).all()
    assert len(rows) == pytest.approx(5000, rel=0.05)


@pytest.mark.parametrize("gradient", [[0, 0, 0], [1, 1, 1], [5, 0, 0], [-2]])
def test_something_is_left_of_few_documents(gradient):
    gradient = np.array(gradient, np.float32)
    for seed in range(20):
        rows, _, _ = drawn(0.1, 0.1, gradient, np.ones_like(gradient), seed=seed)
        assert len(rows) >= 1


def test_with_a_rest_of_one_all_are_taken():
    given = derivatives(1000)
    rows, gradient, _ = drawn(0.2, 1.0, *given)
    assert len(rows) == 1000
    assert gradient == pytest.approx(given[0], rel=1e-6)


@pytest.mark.parametrize("ranker", [pm.LambdaMART, pm.MART, pm.RCRank, pm.McRank, pm.XENDCG])
def test_rankers_learn_from_a_part_almost_as_well(ranker):
    train, test = (pm.simulate(150, docs_per_query=30, n_features=10, seed=seed) for seed in (1, 2))
    all_, some = (ranker(n_trees=40, top_fraction=top).fit(train) for top in (1.0, 0.2))
    assert not np.array_equal(all_.predict(test), some.predict(test))
    assert some.score(test) > all_.score(test) - 0.04


def test_bits_do_not_depend_on_the_order_of_rows():
    train = pm.simulate(60, docs_per_query=15, n_features=5, seed=3)
    order = np.random.default_rng(0).permutation(train.n_docs)
    shuffled = pm.Dataset(train.X[order], train.y[order], np.asarray(train.qid)[order])
    one, other = (pm.LambdaMART(n_trees=8, top_fraction=0.3).fit(data) for data in (train, shuffled))
    assert np.array_equal(one.predict(train), other.predict(train))


def test_what_cannot_sample_says_so(monkeypatch):
    train = pm.simulate(20, seed=1)
    with pytest.raises(UnknownParameterError, match="drawn at random, not by gradients"):
        pm.RandomForest(n_trees=2, top_fraction=0.5).fit(train)
    with pytest.raises(InputError, match="top_fraction"):
        pm.LambdaMART(top_fraction=0.0).fit(train)
    monkeypatch.setattr(forest_ranker, "is_on_gpu", lambda device: True)
    for name, parameters in (("top_fraction", {"top_fraction": 0.5}), ("dropout", {"dropout": 0.1})):
        with pytest.raises(InputError, match=f"a GPU trains without {name} so far"):
            pm.LambdaMART(n_trees=2, **parameters).fit(train)
