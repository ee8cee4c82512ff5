import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.experiments.analysis.query_slice import one_a_query, slice_of, slices_of_data


def groups(found):
    return [found.groups[g] for g in found.group_of]


def test_few_values_have_a_group_each():
    assert groups(slice_of("n", [2, 0, 2, 1.5])) == ["2", "0", "2", "1.5"]
    assert slice_of("market", ["fr", "de", None]).groups == ("de", "fr", "unknown")
    assert groups(slice_of("is_new", [True, False])) == ["True", "False"]


def test_many_numbers_are_cut_at_their_quartiles():
    found = slice_of("length", list(range(1, 101)))
    assert found.groups == ("1–25", "26–50", "51–75", "76–100")
    assert np.bincount(found.group_of).tolist() == [25, 25, 25, 25]
    fractions = slice_of("share", np.linspace(0, 1, 101))
    assert fractions.groups[0] == "0 to 0.25"
    assert groups(slice_of("length", [*range(10), float("nan")]))[-1] == "unknown"


def test_groups_of_a_few_queries_are_not_cut_off():
    found = slice_of("length", [1] * 50 + [2] + [3] * 50 + [4, 5, 6, 7])
    assert min(np.bincount(found.group_of)) >= 10


def test_long_texts_are_cut_by_their_words():
    found = slice_of("query", [f"number{i}" + " more" * (i % 3) for i in range(30)])
    assert found.name == "words of query"
    assert found.groups == ("1", "2", "3")


def test_a_feature_with_one_value_a_query():
    data = pm.Dataset([[1.0, 5.0], [2.0, 7.0], [1.0, 6.0]], [0, 1, 2], ["b", "a", "b"])
    (found,) = slices_of_data(data, "f1")
    assert groups(found) == ["1", "2"]
    with pytest.raises(InputError, match=r"'f2' has 2 values in query b, expected one"):
        slices_of_data(data, ["f2"])
    with pytest.raises(InputError, match="no feature 'f9' to slice by"):
        slices_of_data(data, "f9")


def test_given_values_by_place_or_by_query():
    data = pm.Dataset([[0.0]] * 3, [0, 1, 2], [7, 5, 7])
    (by_place,) = slices_of_data(data, {"market": ["de", "fr"]})
    (by_query,) = slices_of_data(data, {"market": {"5": "fr", 7: "de"}})
    assert groups(by_place) == groups(by_query) == ["de", "fr"]
    with pytest.raises(InputError, match="found 3 values of 'market' for 2 queries"):
        slices_of_data(data, {"market": ["de", "fr", "de"]})


def test_undefined_is_one_value():
    assert one_a_query("x", [float("nan"), None, 1.0], [0, 2, 3], ["a", "b"]) == [None, 1.0]
