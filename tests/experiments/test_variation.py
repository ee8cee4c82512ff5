import itertools
import math

import numpy as np
import pytest

import pomona as pm
from pomona.data.dataset import numbered
from pomona.data.folds import Fold
from pomona.errors import InputError, PomonaError
from pomona.experiments.variation import COMPLETE, Variation, pairs_changed, with_chosen_features


@pytest.fixture
def fold():
    data = pm.simulate(50, docs_per_query=8, n_features=7, seed=1)
    return Fold(*data.replace(feature_names=numbered(7)).split([0.6, 0.2, 0.2], seed=0))


def test_nothing_changed_is_the_fold_itself(fold):
    after = COMPLETE.apply(fold, 1)
    assert all(one is other for one, other in zip(fold, after, strict=True))
    assert COMPLETE.digest("abc", fold, after) == "abc"


def test_smaller_fractions_are_parts_of_larger_ones(fold):
    seen = []
    for fraction in (0.01, 0.1, 0.35, 0.5, 1.0):
        train, valid, test = Variation(train_fraction=fraction, draw=3).apply(fold, 2)
        assert train.n_queries == max(2, math.ceil(fraction * fold.train.n_queries))
        assert (valid, test) == (fold.valid, fold.test)
        seen.append(set(train.qids.tolist()))
    assert all(less < more for less, more in itertools.pairwise(seen))
    half = Variation(train_fraction=0.5, draw=3)
    chosen = {tuple(half.apply(fold, k).train.qids.tolist()) for k in (1, 2)}
    chosen.add(tuple(Variation(train_fraction=0.5, draw=4).apply(fold, 1).train.qids.tolist()))
    assert len(chosen) == 3  # other folds and draws, other queries
    one = half.apply(fold, 1).train
    at = fold.train.qids.tolist().index(one.qids[0])
    begin, end = fold.train.query_ptr[at : at + 2]
    np.testing.assert_array_equal(one.X[: end - begin], fold.train.X[begin:end])


def test_noise_changes_training_and_validation_labels_but_never_the_test(fold):
    train, valid, test = Variation(label_noise=0.25, draw=1).apply(fold, 1)
    for before, after in ((fold.train, train), (fold.valid, valid)):
        assert (before.y != after.y).sum() == math.floor(0.25 * before.n_docs)
        assert set(after.y) <= set(fold.train.y) | set(fold.valid.y)
    assert test is fold.test
    assert Variation(label_noise=0.25, noise_valid=False).apply(fold, 1).valid is fold.valid
    more = Variation(label_noise=0.5, draw=1).apply(fold, 1).train
    changed = train.y != fold.train.y
    np.testing.assert_array_equal(more.y[changed], train.y[changed])
    without = Fold(fold.train, None, fold.test)
    assert Variation(label_noise=0.5).apply(without, 1).valid is None


def test_features_by_number_and_by_name(fold):
    few, more = (Variation(n_features=n, draw=2).apply(fold, 1) for n in (2, 5))
    assert set(few.train.feature_names) < set(more.train.feature_names)
    assert {part.feature_names for part in more} == {more.train.feature_names}
    names = Variation(features=("f6", "f2")).apply(fold, 1).test
    assert names.feature_names == ("f2", "f6")
    np.testing.assert_array_equal(names.X, fold.test.X[:, [1, 5]])
    assert Variation(n_features=2, draw=2).apply(fold, 5).train.feature_names == few.train.feature_names
    with pytest.raises(InputError, match="no feature 'bm25': they are f1, f2, f3, f4, f5, …"):
        Variation(features=("bm25",)).apply(fold, 1)
    with pytest.raises(InputError, match="found n_features = 8, the data have 7"):
        Variation(n_features=8).apply(fold, 1)


def test_the_digest_knows_what_was_changed(fold):
    variations = [
        COMPLETE,
        *(Variation(train_fraction=0.5, draw=draw) for draw in (0, 1)),
        *(Variation(label_noise=rate) for rate in (0.1, 0.2)),
        Variation(label_noise=0.1, noise_valid=False),
        *(Variation(n_features=n) for n in (2, 3)),
    ]
    digests = [one.digest("whole", fold, one.apply(fold, 1)) for one in variations]
    assert len(set(digests)) == len(variations)
    again = [one.digest("whole", fold, one.apply(fold, 1)) for one in variations]
    assert digests == again
    other = variations[1]
    assert other.digest("other", fold, other.apply(fold, 1)) != digests[1]


def test_pairs_changed_by_counting_them(fold):
    noisy = Variation(label_noise=0.4).apply(fold, 1).train
    n = turned = equal = 0
    for begin, end in itertools.pairwise(fold.train.query_ptr):
        for i, j in itertools.permutations(range(begin, end), 2):
            if fold.train.y[i] > fold.train.y[j]:
                n += 1
                turned += noisy.y[i] < noisy.y[j]
                equal += noisy.y[i] == noisy.y[j]
    assert pairs_changed(fold.train, noisy) == pytest.approx((turned / n, equal / n))
    assert pairs_changed(fold.train, fold.train) == (0.0, 0.0)
    flat = fold.train.replace(y=np.zeros_like(fold.train.y))
    assert pairs_changed(flat, flat) == (0.0, 0.0)


def test_features_that_a_ranker_is_given():
    fold = Fold(*(pm.simulate(6, docs_per_query=4, n_features=3, seed=seed) for seed in (1, 2, 3)))
    a, b, c = fold.train.feature_names
    assert with_chosen_features(fold, None, None) is fold
    only = with_chosen_features(fold, (c, a), None)
    assert [part.feature_names for part in only] == [(a, c)] * 3
    np.testing.assert_array_equal(only.test.X, fold.test.X[:, [0, 2]])
    assert with_chosen_features(fold, None, (b,)).valid.feature_names == (a, c)
    assert with_chosen_features(Fold(fold.train, None, fold.test), (b,), None).valid is None
    with pytest.raises(PomonaError, match="unknown feature of the data 'nosuch'"):
        with_chosen_features(fold, ("nosuch",), None)
    with pytest.raises(PomonaError, match="no feature is left"):
        with_chosen_features(fold, None, (a, b, c))
