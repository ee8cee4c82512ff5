import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

import pomona as pm
from pomona.errors import UnknownParameterError


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
