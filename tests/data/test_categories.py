import numpy as np
import pandas as pd
import polars as pl
import pytest

import pomona as pm
from pomona.data.categories import recoded, refuse_categories, with_categories
from pomona.data.concatenation import concatenated
from pomona.data.normalize import normalize
from pomona.data.table import read_table

GENRE = ["news", None, "blog", "news", "shop", "blog"]


def frames():
    """The same column of every type that frames have for categories."""
    column = {"x": np.arange(6.0), "genre": GENRE}
    ordered = ["shop", "news", "blog", "never"]
    return {
        "pandas text": pd.DataFrame(column),
        "pandas string": pd.DataFrame(column).astype({"genre": "string"}),
        "pandas category": pd.DataFrame(column).astype({"genre": pd.CategoricalDtype(ordered)}),
        "polars text": pl.DataFrame(column),
        "polars category": pl.DataFrame(column, schema_overrides={"genre": pl.Categorical}),
        "polars enum": pl.DataFrame(column, schema_overrides={"genre": pl.Enum(ordered)}),
    }


@pytest.mark.parametrize("kind", frames())
def test_codes_follow_the_names_whatever_the_frame(kind):
    data = pm.Dataset(frames()[kind], np.zeros(6), [1, 1, 1, 2, 2, 2])
    assert data.categories == {1: ("blog", "news", "shop")}
    np.testing.assert_array_equal(data.X[:, 1], [1, np.nan, 0, 1, 2, 0])
    frame = frames()[kind]
    frame = frame.with_columns(q=pl.lit(1), y=pl.lit(0)) if "polars" in kind else frame.assign(q=1, y=0)
    assert pm.Dataset.from_frame(frame, label="y", qid="q").categories == data.categories


def test_categories_of_whole_numbers():
    frame = pd.DataFrame({"zip": pd.Categorical([10, 9, 10])})
    data = pm.Dataset(frame, [0, 1, 0], [1, 1, 1])
    assert data.categories == {0: ("10", "9")}
    assert data.X[:, 0].tolist() == [0, 1, 0]


def data(genre=GENRE, **more):
    frame = pl.DataFrame({"x": np.arange(len(genre)) * 1.0, "genre": genre, **more})
    return pm.Dataset(frame, np.zeros(len(genre)), np.arange(len(genre)) % 3)


def test_parts_and_orders_keep_them():
    whole = data(other=["a", "b"] * 3)
    assert whole.categories == {1: ("blog", "news", "shop"), 2: ("a", "b")}
    turned = whole.with_features(["other", "x", "genre"])
    assert turned.categories == {0: ("a", "b"), 2: ("blog", "news", "shop")}
    for part in (whole.take([0, 2]), whole.gathered(), whole.split([0.5, 0.5])[0], whole.widened(5)):
        assert part.categories == whole.categories
    assert whole.replace(y=np.ones(6, np.float32)).categories == whole.categories
    fewer = whole.replace(X=whole.X[:, [2, 0]], feature_names=["other", "x"])
    assert fewer.categories == {0: ("a", "b")}


def test_joined_by_name():
    one, two = data(["b", "c", "b"]), data(["a", None, "c"])
    joined = concatenated([one, two])
    assert joined.categories == {1: ("a", "b", "c")}
    np.testing.assert_array_equal(joined.X[:, 1], [1, 2, 1, 0, np.nan, 2])


def test_matched_by_name():
    wanted = {1: ("shop", "blog")}
    ours = with_categories(data(), wanted)
    np.testing.assert_array_equal(ours.X[:, 1], [np.nan, np.nan, 1, np.nan, 0, 1])
    assert ours.categories == wanted
    assert with_categories(ours, wanted) is ours
    with pytest.raises(
        pm.PomonaError, match=r"feature 'genre' holds categories \('blog', 'news', …\), expected numbers"
    ):
        with_categories(data(), {})
    with pytest.raises(pm.PomonaError, match=r"feature 'x' holds numbers, expected categories \('a'"):
        with_categories(data(), {0: ("a",), 1: ("shop",)})
    empty = data([None, None, None])  # of which nobody can tell what it would hold
    assert np.isnan(with_categories(empty, wanted).X[:, 1]).all()
    assert recoded(np.array([0.0, np.nan]), ["a"], []).tolist() == pytest.approx(
        [np.nan, np.nan], nan_ok=True
    )


def test_texts_that_are_no_categories_are_refused():
    with pytest.raises(
        pm.PomonaError, match=r"column 'genre' holds texts, many of them numbers \(row 2: 'x'\)"
    ):
        data(["1", "x", "2.5", "4", "3", "1"])
    assert len(data([f"http://{i}" for i in range(1200)]).categories[1]) == 1200  # a request may be like that


def test_files_and_their_copies(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "a.csv"
    path.write_text("label,qid,genre,x\n1,a,news,1\n0,a,blog,2\n0,b,,3\n")
    for _ in range(2):
        read = read_table(path, cache=True)
        assert read.categories == {0: ("blog", "news")}
        np.testing.assert_array_equal(read.X[:, 0], [1, 0, np.nan])
    with pytest.raises(
        pm.PomonaError, match="LETOR's format reads numbers, and feature 'genre' holds categories"
    ):
        pm.write_letor(read, tmp_path / "a.txt")
    with pytest.raises(pm.PomonaError, match="normalize reads numbers"):
        normalize(read)
    with pytest.raises(pm.PomonaError, match="encode them, by CategoryMean"):
        pm.RankSVM().fit(read)
    refuse_categories(data([None, None]), "anybody")
