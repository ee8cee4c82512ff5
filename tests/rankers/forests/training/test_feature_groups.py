import pytest

import pomona as pm
from pomona.rankers.forests.training.feature_groups import directions_of, places_of


def test_names_and_places():
    names = ("bm25", "clicks", "age")
    assert places_of(None, names) is None
    assert places_of([("age", 1), ["bm25"]], names) == ((2, 1), (0,))
    with pytest.raises(pm.PomonaError, match="unknown feature 'click': did you mean 'clicks'"):
        places_of([["click"]], names)
    for place in (3, -1):
        with pytest.raises(
            pm.PomonaError, match=f"found feature {place}, expected a name or a place from 0 to 2"
        ):
            places_of([[place]], names)


def test_a_ranker_keeps_to_them_and_saves_them(tmp_path):
    data = pm.simulate(40, docs_per_query=12, n_features=6, seed=1)
    asked = {
        "interactions": [["body_bm25", 1], [2, 3]],
        "feature_fraction_bylevel": 0.9,
        "n_trees": 10,
        "min_docs": 3,
    }
    ranker = pm.LambdaMART(growth="leafwise", **asked).fit(data)
    forest = ranker.model_
    for tree in range(forest.n_trees):
        nodes = slice(*forest.node_ptr[tree : tree + 2])
        used, todo = [], [(0, frozenset())]
        while todo:
            node, above = todo.pop()
            if node >= 0:
                above |= {int(forest.feature[nodes][node])}
                todo += [(forest.left[nodes][node], above), (forest.right[nodes][node], above)]
            else:
                used.append(above)
        assert all(any(path <= group for group in ({0, 1}, {2, 3}, {4}, {5})) for path in used)
    ranker.save(tmp_path / "m.pomona")
    loaded = pm.load_model(tmp_path / "m.pomona")
    assert loaded.fit(data).model_ == forest
    with pytest.raises(pm.PomonaError, match="interactions must be several of several of"):
        pm.LambdaMART(interactions=[1, 2]).fit(data)


def test_directions_by_name_are_those_by_place(tmp_path):
    data = pm.simulate(40, docs_per_query=12, n_features=6, seed=1)
    first, *_, last = data.feature_names
    assert directions_of({last: -1, first: 1}, data.feature_names) == (1, 0, 0, 0, 0, -1)
    named = pm.LambdaMART(n_trees=5, monotone={first: 1}).fit(data)
    assert named.model_ == pm.LambdaMART(n_trees=5, monotone=(1, 0, 0, 0, 0, 0)).fit(data).model_
    assert named.model_ != pm.LambdaMART(n_trees=5).fit(data).model_
    named.save(tmp_path / "m.pomona")
    assert pm.load_model(tmp_path / "m.pomona").monotone == {first: 1}
    with pytest.raises(pm.PomonaError, match="unknown feature 'nothing'"):
        pm.LambdaMART(monotone={"nothing": 1}).fit(data)
    with pytest.raises(pm.PomonaError, match="a table that gives a text an integer"):
        pm.LambdaMART(monotone={first: "up"}).fit(data)
    with pytest.raises(pm.PomonaError, match="monotone must be -1, 0 or 1"):
        pm.LambdaMART(monotone={first: 2}).fit(data)
