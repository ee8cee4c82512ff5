import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from pomona.trees.forest import Forest
from pomona.trees.formats.c import C


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_compiled_function_gives_the_same_scores(forest, names, rows, tmp_path):
    (tmp_path / "m.c").write_text(C().write(forest, names))
    flags = ["-std=c99", "-Wall", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "m.so", tmp_path / "m.c"], check=True)
    score = ctypes.CDLL(str(tmp_path / "m.so")).pomona_score
    score.restype = ctypes.c_double
    found = np.array([score(x.ctypes.data_as(ctypes.c_void_p)) for x in rows])
    assert np.array_equal(found, forest.score(rows))


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_zeros_that_are_undefined_and_float32_sums(tmp_path):
    arrays = {"feature": [0, 1], "threshold": [0.5, -0.5], "nan_left": [False, True], "gain": [1, 1]}
    leaves = {"left": [~0, ~0], "right": [~1, ~1], "node_ptr": [0, 1, 2], "leaf_ptr": [0, 2, 4]}
    rules = {"zero_missing": [True, True], "single": True, "n_features": 2, "base": 0.1}
    forest = Forest(**arrays, **leaves, **rules, value=[0.1, 0.2, 0.3, 0.4])
    (tmp_path / "m.c").write_text(C().content(forest, ["a", "b"]))
    flags = ["-std=c99", "-Wall", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "m.so", tmp_path / "m.c"], check=True)
    score = ctypes.CDLL(str(tmp_path / "m.so")).pomona_score
    score.restype = ctypes.c_double
    values = np.array([0.0, -0.0, 1e-36, 1.0, -1.0, 0.4, np.nan], np.float32)
    rows = np.stack([one.ravel() for one in np.meshgrid(values, values)], axis=1).copy()
    found = [score(x.ctypes.data_as(ctypes.c_void_p)) for x in rows]
    assert found == forest.score(rows).tolist()


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_categories(tmp_path):
    forest = Forest(
        feature=[1, 0], threshold=[0, 0.5], nan_left=[False, True], left=[1, ~0], right=[~2, ~1], gain=[1, 1],
        node_ptr=[0, 2], value=[1.0, 2.0, 4.0], leaf_ptr=[0, 3], n_features=2,
        member_ptr=[0, 3, 3], member=[0, 5, 33],
    )  # fmt: skip
    engine = C()
    engine.categories = {1: ("blog", "ne*/ws")}
    source = engine.content(forest, ["a", "genre"])
    assert 'features[1]: 0 "blog", 1 "ne* /ws"' in source
    (tmp_path / "m.c").write_text(source)
    flags = ["-std=c99", "-Wall", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "m.so", tmp_path / "m.c"], check=True)
    score = ctypes.CDLL(str(tmp_path / "m.so")).pomona_score
    score.restype = ctypes.c_double
    values = np.array([0.0, -0.5, -1.0, 5.0, 5.9, 33.0, 32.0, 64.0, 1e9, np.nan], np.float32)
    rows = np.stack([one.ravel() for one in np.meshgrid(values, values)], axis=1).copy()
    found = [score(x.ctypes.data_as(ctypes.c_void_p)) for x in rows]
    assert found == forest.score(rows).tolist()
    assert len(set(found)) == 3


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_infinite_values_go_where_they_went(forest, names, infinite_rows, tmp_path):
    (tmp_path / "m.c").write_text(C().write(forest, names))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "m.so", tmp_path / "m.c"], check=True)
    score = ctypes.CDLL(str(tmp_path / "m.so")).pomona_score
    score.restype = ctypes.c_double
    found = [score(x.ctypes.data_as(ctypes.c_void_p)) for x in infinite_rows]
    assert found == forest.score(infinite_rows).tolist()


def test_sets_that_are_empty_need_no_function():
    forest = Forest(
        feature=[0], threshold=[0.5], nan_left=[True], left=[~0], right=[~1], gain=[1], node_ptr=[0, 1],
        value=[1.0, 2.0], leaf_ptr=[0, 2], n_features=1, member_ptr=[0, 0], member=[],
    )  # fmt: skip
    assert "in_set" not in C().content(forest, ["a"])
