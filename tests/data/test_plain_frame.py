import numpy as np
import pandas as pd
import polars as pl
import pytest

from pomona.data import plain_frame
from pomona.data.plain_frame import as_table, plain_values


def test_names_and_numbers_of_a_frame():
    X = np.array([[1.5, 2.0], [np.nan, 4.0]])
    for frame in (pd.DataFrame(X, columns=["b", "a"]), pl.DataFrame(X, schema=["b", "a"])):
        names, values = plain_values(frame)
        assert names == ("b", "a")
        np.testing.assert_array_equal(values, X)


def test_columns_that_come_again_are_known_again_and_others_are_not_taken_for_them():
    for names in (["a", "b"], ["b", "a"], ["a", "b"], ["a", "c"], ["a", "b", "c"], ["a", "b"]):
        frame = pd.DataFrame([range(len(names))], columns=names)
        assert plain_values(frame)[0] == tuple(names)
        assert plain_values(frame.set_axis(pd.Index(names, dtype=object), axis=1))[0] == tuple(names)
    assert len(plain_frame._remembered) <= plain_frame._MOST_REMEMBERED


def test_names_that_are_equal_but_for_their_text():
    for names in ([1, 2], [1.0, 2.0], [1, 2]):
        columns = pd.Index(names, dtype=object)
        assert plain_values(pd.DataFrame([[5, 6]], columns=columns))[0] == tuple(map(str, names))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Categorical([1, 2])}),
        pd.DataFrame({"a": [1.5, 2.5], "b": pd.Categorical([1, 2])}),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame({"a": ["x"]}),
        pd.DataFrame({"a": pd.to_datetime(["2026-01-01"]), "b": [1]}),
        pl.DataFrame({"a": [1, None], "b": ["x", "y"]}),
        pl.DataFrame({"a": [True]}),
        [[1.0]],
    ],
)
def test_what_is_more_than_numbers_is_left_to_others(frame):
    assert plain_values(frame) is None


def test_a_frame_that_does_not_show_its_blocks_is_asked_for_its_types(monkeypatch):
    class Frame(pd.DataFrame):
        pass

    Frame.__module__ = "pandas"
    frame = Frame({"a": pd.Categorical([1, 2])})
    assert plain_values(frame) is None
    monkeypatch.setattr(Frame, "_mgr", None, raising=False)
    monkeypatch.setattr(Frame, "dtypes", property(lambda self: pd.Series([pd.CategoricalDtype()])))
    assert plain_frame._has_categories(frame)


def test_numbers_that_the_type_cannot_hold():
    X = np.array([[1.0, np.inf], [np.nan, -np.inf]])
    np.testing.assert_array_equal(as_table(X, np.float32), X.astype(np.float32))
    assert as_table(np.asfortranarray(X), np.float64).flags.c_contiguous
    assert as_table(np.array([[1.0, 1e300]]), np.float32) is None
    assert as_table(np.array([[1 << 62]]), np.float32).tolist() == [[2.0**62]]
