import numpy as np

import pomona as pm
from pomona.testing.sample import (
    degenerate_data,
    fresh_data,
    new_ranker,
    saved_and_loaded,
    tables_of,
    train_data,
)
from testing.extending import Stepwise


def test_train_and_fresh_data_are_alike_but_not_the_same():
    assert train_data().n_features == fresh_data().n_features == 12
    assert not np.array_equal(train_data().X[:100], fresh_data().X[:100])


def test_degenerate_data_are_datasets():
    assert len(degenerate_data()) == 13
    assert all(isinstance(data, pm.Dataset) for data in degenerate_data().values())


def test_tables_hold_the_rows():
    tables = tables_of(train_data())
    assert list(tables) == ["an array", "a polars frame", "a pandas frame"]
    for table in tables.values():
        np.testing.assert_array_equal(np.asarray(table), train_data().X)


def test_a_new_ranker_is_not_fitted_and_has_known_parameters_only():
    ranker = Stepwise(n_steps=3).fit(train_data())
    new = new_ranker(ranker, learning_rate=0.5, seed=1)
    assert not hasattr(new, "coef_")
    assert (new.n_steps, new.learning_rate) == (3, 0.5)


def test_a_ranker_of_anybody_is_loaded_by_its_class():
    assert type(saved_and_loaded(Stepwise(n_steps=3).fit(train_data()))) is Stepwise

    class LinearRegression(pm.LinearRegression):
        """Has the name of one of Pomona's."""

    assert type(saved_and_loaded(LinearRegression().fit(train_data()))) is LinearRegression
