import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

import pomona as pm
from pomona.errors import InputError, UnknownParameterError


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("n_estimators", "n_estimators is called n_trees here"),
        ("n_jobs", "POMONA_THREADS"),
        ("n_tree", "did you mean 'n_trees'"),
    ],
)
def test_unknown_parameters_are_refused_as_by_the_constructor(name, said):
    with pytest.raises(UnknownParameterError, match=said) as by_constructor:
        pm.LambdaMART(**{name: 5})
    with pytest.raises(UnknownParameterError, match=said) as by_method:
        pm.LambdaMART().set_params(**{name: 5})
    assert str(by_constructor.value) == str(by_method.value)


def test_parameters_that_there_are():
    ranker = pm.Ensemble(pm.MART(n_trees=3))
    for given in ParameterGrid({"n_models": [2], "member__n_trees": [7]}):
        assert clone(ranker).set_params(**given).member.n_trees == 7
    with pytest.raises(UnknownParameterError, match="n_estimators is called n_trees here"):
        ranker.set_params(member__n_estimators=3)


@pytest.mark.parametrize(
    ("ranker", "given"),
    [
        (
            pm.LinearCombination(rankers=[("a", pm.MART()), ("b", pm.BestFeature())]),
            {"rankers": "mart", "no": 1},
        ),
        (
            pm.LinearCombination(rankers=[("a", pm.MART()), ("b", pm.BestFeature())]),
            {"a": pm.XENDCG(), "b__no": 1},
        ),
        (pm.LinearCombination(rankers=[("a", pm.MART())]), {"a__n_leaves": 3, "seed": 4, "a__no": 1}),
        (pm.Ensemble(pm.MART()), {"n_models": 7, "member__n_leaves": 3, "member__no": 1}),
        (pm.Ensemble(pm.Ensemble(pm.MART())), {"member__member__n_leaves": 3, "member__member__no": 1}),
        (pm.LambdaMART(), {"n_trees": 3, "no": 1}),
    ],
)
def test_parameters_that_are_refused_change_nothing(ranker, given):
    before = {name: repr(value) for name, value in ranker.get_params().items()}
    with pytest.raises(UnknownParameterError):
        ranker.set_params(**given)
    assert {name: repr(value) for name, value in ranker.get_params().items()} == before


def test_what_has_no_parameters_cannot_be_given_some():
    for ranker, name in ((pm.Ensemble("mart"), "member__n_leaves"), (pm.MART(), "measure__k")):
        with pytest.raises(InputError, match=f"{name} cannot be set"):
            ranker.set_params(**{name: 3})
    assert pm.Ensemble("mart").set_params(member=pm.MART(), member__n_leaves=3).member.n_leaves == 3


def test_numbers_of_numpy_neither_overflow_nor_round():
    """np.int8(100) * np.int8(5) is −12, float16 holds three digits."""
    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=0)
    pairs = (
        (
            pm.CoordinateAscent(max_iterations=np.int8(100), n_restarts=np.int8(5), seed=np.int8(3)),
            pm.CoordinateAscent(max_iterations=100, n_restarts=5, seed=3),
        ),
        (pm.PRank(radius=np.float16(0.3), averaged=np.True_), pm.PRank(radius=float(np.float16(0.3)))),
        (pm.MART(n_trees=np.int8(3), l2=np.float16(0.1)), pm.MART(n_trees=3, l2=float(np.float16(0.1)))),
        (
            pm.RankNet(hidden=np.array([4, 3]), n_epochs=np.int8(2), mixed_precision=np.False_),
            pm.RankNet(hidden=(4, 3), n_epochs=2),
        ),
        (pm.RankNet(hidden=np.int32(4), n_epochs=2), pm.RankNet(hidden=4, n_epochs=2)),
    )
    for odd, plain in pairs:
        given = odd.get_params()
        assert (odd.fit(data).predict(data) == plain.fit(data).predict(data)).all()
        assert all(odd.get_params()[name] is value for name, value in given.items())


def test_repr_leaves_nothing_out():
    ranker = pm.LambdaMART(monotone=(1,) * 40, interactions=(tuple(range(40)),), n_trees=np.int64(3))
    again = eval(repr(ranker), {"LambdaMART": pm.LambdaMART, "np": np})
    assert again.get_params() == ranker.get_params()
    assert repr(pm.MART()) == "MART()"
