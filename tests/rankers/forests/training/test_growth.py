import pytest

from pomona.rankers.forests.training.growth import LEFT_OPEN, growth_for


@pytest.mark.parametrize(
    ("n_docs", "row"),
    [
        (1, ["oblivious", 4, None, 0.5, 0.05]),
        (50_000, ["oblivious", 4, None, 0.5, 0.05]),
        (50_001, ["oblivious", 6, None, 0.0, 0.1]),
        (500_000, ["oblivious", 6, None, 0.0, 0.1]),
        (500_001, ["leafwise", None, 31, 0.0, 0.1]),
    ],
)
def test_the_table(n_docs, row):
    assert list(growth_for(LEFT_OPEN, n_docs, 500).values()) == row


@pytest.mark.parametrize(("n_trees", "rate"), [(1, 0.1), (250, 0.1), (400, 0.0625), (500, 0.05), (999, 0.05)])
def test_few_trees_take_larger_steps(n_trees, rate):
    assert growth_for(LEFT_OPEN, 10, n_trees)["learning_rate"] == rate
    assert growth_for(LEFT_OPEN, 10**6, n_trees)["learning_rate"] == 0.1


@pytest.mark.parametrize("n_docs", [10, 10**6])
@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
def test_what_is_given_stays(growth, n_docs):
    given = {"growth": growth, "max_depth": 3, "n_leaves": 9, "noise": 0.1, "learning_rate": 0.3}
    assert growth_for(given, n_docs, 500) == given
    for name, value in given.items():
        assert growth_for({**LEFT_OPEN, name: value}, n_docs, 500)[name] == value


@pytest.mark.parametrize(
    ("given", "n_docs", "expected"),
    [
        ({"n_leaves": 20}, 10, {"growth": "leafwise", "max_depth": None, "noise": 0.5}),
        ({"growth": "leafwise"}, 10, {"n_leaves": 7, "max_depth": None}),
        ({"growth": "leafwise"}, 10**5, {"n_leaves": 15, "max_depth": None}),
        ({"growth": "oblivious"}, 10**6, {"n_leaves": None, "max_depth": 6}),
        ({"max_depth": 2}, 10, {"growth": "oblivious", "n_leaves": None}),
        ({"max_depth": 2}, 10**6, {"growth": "leafwise", "n_leaves": 31}),
    ],
)
def test_what_goes_with_what_is_given(given, n_docs, expected):
    grown = growth_for({**LEFT_OPEN, **given}, n_docs, 500)
    assert {name: grown[name] for name in expected} == expected


def test_a_ranker_without_a_parameter_is_not_given_it():
    assert "noise" not in growth_for({"growth": "auto", "max_depth": None, "n_leaves": None}, 10, 500)
