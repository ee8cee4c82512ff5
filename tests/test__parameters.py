import pytest

import pomona as pm
from pomona._parameters import (
    assignments,
    checked,
    checked_parameters,
    parameter_kinds,
    read_value,
    show_value,
    split_outside,
)
from pomona._registry import entries
from pomona.errors import InputError, PomonaError
from pomona.measures.parse import measure


def test_commas_inside_brackets_and_quotes_do_not_split():
    assert split_outside("a(b=[1, 2], c={d = 1}), e='x, y',") == ["a(b=[1, 2], c={d = 1})", "e='x, y'"]
    assert list(assignments("a=[1, 2], b=rbp(p=0.8), c='x, y'", "")) == [
        ("a", "[1, 2]"),
        ("b", "rbp(p=0.8)"),
        ("c", "'x, y'"),
    ]
    with pytest.raises(InputError, match=r"found 'b' in 'm\(a=1, b\)', expected name=value"):
        list(assignments("a=1, b", "m(a=1, b)"))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", int, 3),
        (".5", float, 0.5),
        ("1e-3", float, 0.001),
        ("True", bool, True),
        ("[64, 32]", int | tuple[int, ...], (64, 32)),
        ("64", int | tuple[int, ...], 64),
        ("[1]", tuple[float, ...] | None, (1.0,)),
        ("none", float | None, None),
        ("None", str | None, None),
        ("none", str, "none"),
        ("7", str, "7"),
        ("7", float | str, 7.0),
        ("auto", float | str, "auto"),
        ('"7"', float | str, "7"),
        ("rbp(p=0.8)@10", str, "rbp(p=0.8)@10"),
        ("2020-01-01", str, "2020-01-01"),
        ("1\nx = 2", str, "1\nx = 2"),
    ],
)
def test_texts_are_read_as_their_parameter_takes_them(text, kind, value):
    answer = checked(read_value(text, kind), kind)
    assert (answer, type(answer)) == (value, type(value))


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("many", int, "found 'many', expected a whole number"),
        (1.5, int, "found 1.5, expected a whole number"),
        (True, int | None, "found True, expected a whole number or none"),
        ([1, "x"], int | tuple[int, ...], r"found \[1, 'x'\], expected a whole number or a list"),
        ([0.5], tuple[int, ...], "found 0.5, expected a whole number"),
        ("none", int, "found 'none', expected a whole number"),
        (3, str | None, "found 3, expected a text or none"),
        ([], dict, r"found \[\], expected a table"),
    ],
)
def test_refusals_say_what_is_expected(value, kind, expected):
    with pytest.raises(InputError, match=expected):
        checked(value, kind)


class Bare:
    def __init__(self, a, b=2, c="x", *, d: "OnlyForTypeCheckers" = None, e: "str | Strange | None" = None):  # noqa: F821
        pass


def test_without_an_annotation_the_default_tells_the_kind():
    assert checked_parameters(Bare, {"a": [1], "b": 3, "c": "y", "d": "text", "e": "none"}) == {
        "a": [1],
        "b": 3,
        "c": "y",
        "d": "text",
        "e": None,
    }
    a_measure = measure("ap")
    assert checked_parameters(Bare, {"e": a_measure})["e"] is a_measure
    for wrong, expected in (
        ({"b": "x"}, "b: found 'x', expected a whole number"),
        ({"e": 3}, "e: found 3, expected a text or none"),
        ({"f": 1}, "f: unknown parameter of Bare 'f'"),
    ):
        with pytest.raises(PomonaError, match=expected):
            checked_parameters(Bare, wrong)


@pytest.mark.parametrize("entry", entries("rankers").values(), ids=lambda entry: entry.name)
def test_the_defaults_of_every_ranker_are_of_the_kinds_it_declares(entry):
    cls = entry.load()
    kinds, defaults = parameter_kinds(cls), cls().get_params(deep=False)
    assert kinds.keys() == defaults.keys()
    for name, default in defaults.items():
        assert checked(default, kinds[name]) == default
        if not isinstance(default, tuple | list) or all(isinstance(one, int | float) for one in default):
            assert checked(read_value(show_value(default), kinds[name]), kinds[name]) == default


def test_kinds_are_those_of_the_file_that_declares_them():
    kinds = parameter_kinds(pm.RankSVM)  # whose file knows neither Literal nor PositiveFloat
    assert checked("validate", kinds["C"]) == "validate"
    assert checked(2, kinds["C"]) == 2.0
    assert read_value("2.5", kinds["C"]) == 2.5
    with pytest.raises(InputError, match="found True, expected a number or a text"):
        checked(True, kinds["C"])


def test_one_of_several_texts_is_a_text():
    kinds = parameter_kinds(pm.LinearRegression)
    assert read_value("7", kinds["target"]) == "7"
    with pytest.raises(InputError, match="found 7, expected a text"):
        checked(7, kinds["target"])
