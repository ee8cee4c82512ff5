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
