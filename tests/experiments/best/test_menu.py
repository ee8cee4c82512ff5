import numpy as np
import pytest

from pomona.experiments.best.menu import MENU, SHORTENED, Recipe, changed, recipes
from pomona.experiments.spec import ranker_class
from pomona.rankers.parameter import check_parameters


@pytest.mark.parametrize("recipe", MENU, ids=str)
def test_every_recipe_can_be_made_and_changed(recipe):
    cls = ranker_class(recipe.ranker)
    check_parameters(cls(**recipe.parameters))
    random = np.random.default_rng(0)
    for _ in range(20):
        new = changed(recipe, random)
        if new is None:
            assert recipe.ranker in ("coordinateascent", "ensemble")
            break
        check_parameters(cls(**new.parameters))
        assert new.ranker == recipe.ranker


def test_changes_stay_within_what_is_searched():
    random, recipe = np.random.default_rng(0), Recipe("lambdamart", {"n_leaves": 7, "l2": 0.0})
    found = [changed(recipe, random).parameters for _ in range(300)]
    leaves = {one["n_leaves"] for one in found}
    assert 7 <= min(leaves) < 10 < max(leaves) <= 127
    assert all(isinstance(one["n_leaves"], int) for one in found)
    assert {0.0} < {one["l2"] for one in found}  # a value outside of the range is where it was, or inside
    assert all(one["l2"] == 0 or 0.1 <= one["l2"] <= 30 for one in found)
    assert all(0.3 <= one.get("query_fraction", 1) <= 1 for one in found)
    assert all(len(set(one) - set(recipe.parameters)) <= 2 for one in found)


def test_the_menu():
    assert len({str(recipe) for recipe in MENU}) == len(MENU)
    forests = [recipe for recipe in MENU if recipe.ranker in ("lambdamart", "mart", "xendcg")]
    assert all(recipe.parameters["growth"] in ("oblivious", "leafwise") for recipe in forests)
    assert str(MENU[0]) == "LambdaMART(growth=oblivious, max_depth=4)"
    assert set(SHORTENED) == {"n_trees", "n_epochs", "n_restarts"}


def test_without_torch_there_are_no_networks(monkeypatch):
    monkeypatch.setattr("pomona.experiments.best.menu.find_spec", lambda name: None)
    left = {recipe.ranker for recipe in recipes()}
    assert left < {recipe.ranker for recipe in MENU}
    assert not {"lambdarank", "listnet", "contextrank", "ensemble"} & left
