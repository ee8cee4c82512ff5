import numpy as np
import pytest

import pomona as pm
from pomona.rankers.loading import load_model
from pomona.rankers.model_file import write_model


def test_a_model_of_an_unknown_ranker_is_refused(tmp_path):
    write_model(tmp_path / "m", "nosuch", {"parameters": {}, "learnt": {}}, {})
    with pytest.raises(pm.PomonaError, match="unknown ranker 'nosuch'"):
        load_model(tmp_path / "m")


def test_a_model_of_the_users_own_class(tmp_path):
    class Mine(pm.LinearRegression):
        name = "mine"

    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = Mine().fit(data)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona", Mine)
    assert type(loaded) is Mine
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    with pytest.raises(LookupError, match="unknown ranker 'mine'"):
        load_model(tmp_path / "m.pomona")


def _saved_before(ranker, path, **parameters):
    """The file of a fitted ranker as earlier versions wrote it, with these parameters."""
    written, arrays = ranker.written()
    write_model(path, ranker.name, {**written, "parameters": written["parameters"] | parameters}, arrays)


_FORMER = {
    "early_stopping": None,
    "averaged": True,
    "dropout": 0.0,
    "dropout_skip": 0.5,
    "top_fraction": 1.0,
    "rest_fraction": 0.1,
    "warm_start": False,
    "learning_rate": 0.1,
}


@pytest.mark.parametrize(("trees_per_bag", "rate"), [(1, None), (3, 0.1)])
def test_a_forest_of_before_loads_without_the_parameters_that_did_nothing(tmp_path, trees_per_bag, rate):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = pm.RandomForest(n_trees=3, trees_per_bag=trees_per_bag).fit(data)
    _saved_before(ranker, tmp_path / "m.pomona", **_FORMER)
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.learning_rate == rate
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    again = type(loaded)(**loaded.get_params()).fit(data)
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))


def test_a_former_parameter_is_dropped_from_files_only(tmp_path):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    _saved_before(pm.RandomForest(n_trees=3).fit(data), tmp_path / "m.pomona", avraged=True)
    with pytest.raises(pm.PomonaError, match="unknown parameter of RandomForest 'avraged'"):
        load_model(tmp_path / "m.pomona")
    with pytest.raises(pm.PomonaError, match="unknown parameter of RandomForest 'averaged'"):
        pm.RandomForest(averaged=True)


def test_members_of_before_load(tmp_path):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = pm.Ensemble(pm.RandomForest(n_trees=3), n_models=2).fit(data)
    written, arrays = ranker.written()
    for member in written["learnt"]["members"]:
        member["parameters"] |= _FORMER
    write_model(tmp_path / "m.pomona", ranker.name, written, arrays)
    loaded = load_model(tmp_path / "m.pomona")
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))


def test_a_model_whose_measure_is_refused_by_now_still_ranks(tmp_path):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = pm.MART(n_trees=3).fit(data)
    _saved_before(ranker, tmp_path / "m.pomona", measure="letor4:err@10")
    loaded = load_model(tmp_path / "m.pomona")
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    assert "letor4:err@10" in repr(loaded)
    assert "letor4:err@10" in loaded._repr_html_()
    assert {"predict", "parsed_measure"} - {*dir(loaded)} == {"parsed_measure"}
    with pytest.raises(pm.PomonaError, match=r"letor4 has no ERR: .* For the textbook's: err@10"):
        loaded.score(data)


class Backwards(pm.MART):
    def predict_rows(self, X):
        return -super().predict_rows(X)


class Small(pm.MART):
    n_trees = 3


class OwnConstructor(pm.MART):
    def __init__(self, half_trees=1):
        super().__init__(n_trees=2 * half_trees)
        self.half_trees = half_trees


def test_a_subclass_with_a_constructor_of_its_own_is_loaded_as_itself(tmp_path):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = OwnConstructor(half_trees=2).fit(data)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert (type(loaded), loaded.half_trees, loaded.n_trees) == (OwnConstructor, 2, 4)
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    assert ranker.exported("lightgbm")


def test_a_subclass_with_the_name_of_its_base_never_becomes_its_base(tmp_path):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    with pytest.warns(UserWarning, match="evals_, early stopping and what was kept"):
        ranker = Backwards(n_trees=3).fit(data, valid=data.replace(y=data.y))
    scores = pm.MART(n_trees=3).fit(data).predict(data)
    members = pm.Ensemble(Backwards(n_trees=3), n_models=2).fit(data)
    for model in (ranker, members):
        model.save(tmp_path / "m.pomona")
        np.testing.assert_array_equal(load_model(tmp_path / "m.pomona").predict(data), model.predict(data))
        for wrong in (lambda m: m.exported("lightgbm"), lambda m: m.explain(data), lambda m: m.portable()):
            with pytest.raises(pm.PomonaError, match="Backwards predicts in its own way"):
                wrong(model)
    np.testing.assert_allclose(members.predict(data), -scores, rtol=1e-6)
    Backwards.__qualname__ = "Elsewhere"
    try:
        with pytest.raises(pm.PomonaError, match=r"the model's ranker is the class Backwards of .*import"):
            load_model(tmp_path / "m.pomona")
    finally:
        Backwards.__qualname__ = "Backwards"


def test_a_subclass_with_other_defaults_is_loaded_as_its_base(tmp_path):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = Small().fit(data)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert type(loaded) is pm.MART
    assert loaded.n_trees == 3
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    assert ranker.exported("lightgbm") == loaded.exported("lightgbm")


class FirstLabel(pm.Measure):
    def of_query(self, labels):
        return float(labels[0])


@pytest.mark.parametrize("measure", [FirstLabel(), FirstLabel(k=2)])
def test_an_ensemble_of_a_ranker_with_a_measure_of_ones_own(tmp_path, measure):
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = pm.Ensemble(pm.MART(n_trees=2, measure=measure), n_models=2).fit(data)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.score(data) == ranker.score(data)
    assert loaded.parsed_measure == measure
