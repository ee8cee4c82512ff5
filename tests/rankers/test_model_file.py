import json
import os
import struct
import zlib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pomona as pm
from pomona._arrays import write_arrays
from pomona.errors import InputError, PomonaError
from pomona.rankers.model_file import (
    exact_parameters,
    parameters_from_json,
    parameters_to_json,
    read_model,
    with_prefix,
    write_model,
)
from pomona.trees.forest import Forest
from reference import forest as plain


@pytest.fixture(scope="module")
def forest():
    random = np.random.default_rng(0)
    trees = [plain.random_tree(random, n_leaves, 5, random.standard_normal(50)) for n_leaves in (1, 7, 30)]
    return Forest(**plain.plant(random, trees, random.standard_normal(100)), n_features=5, base=0.1)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.pomona"
    write_model(path, "mart", {"rate": 0.1}, {"value": np.arange(5.0), "left": np.arange(3, dtype=np.int8)})
    return path


def filling(whole):
    """The bytes before and between the arrays of `small`, which bring these to multiples of 64."""
    (length,) = struct.unpack("<Q", whole[8:16])
    start = -(-(20 + length) // 64) * 64
    return {*range(20 + length, start), *range(start + 5 * 8, start + 64)}


def same(a, b):
    return (
        a[:2] == b[:2] and a[2].keys() == b[2].keys() and all(np.array_equal(a[2][n], b[2][n]) for n in a[2])
    )


def test_a_model_comes_back_bit_by_bit(tmp_path, forest):
    parameters = {"learning_rate": 0.1, "measure": "ndcg@10", "seed": None, "layers": [1, 2], "tiny": 5e-324}
    path = tmp_path / "m.pomona"
    write_model(path, "lambdamart", parameters, forest.arrays())
    kind, read, arrays = read_model(path)
    assert (kind, read) == ("lambdamart", parameters)
    assert Forest.of_arrays(arrays, forest.n_features, forest.base) == forest
    assert {name: array.dtype for name, array in arrays.items()} == {
        name: array.dtype for name, array in forest.arrays().items()
    }
    X = np.random.default_rng(1).standard_normal((100, 5))
    assert np.array_equal(Forest.of_arrays(arrays, 5, 0.1).score(X), forest.score(X))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.data())
def test_a_changed_byte_never_changes_a_model(tmp_path, small, data):
    whole = small.read_bytes()
    at, bits = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(1, 255))
    path = tmp_path / "changed.pomona"
    path.write_bytes(whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :])
    if at in filling(whole):
        assert same(read_model(path), read_model(small))
        return
    with pytest.raises(PomonaError, match="save the model again") as refused:
        read_model(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


def test_every_part_of_a_file_is_refused(tmp_path, small):
    whole = small.read_bytes()
    path = tmp_path / "part.pomona"
    for content in [*(whole[:n] for n in range(len(whole))), whole + b"\0"]:
        path.write_bytes(content)
        with pytest.raises(PomonaError, match=r"part\.pomona: .*save the model again"):
            read_model(path)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04" + bytes(100), b"tree\nversion=v4\n" * 9, b"\x80\x04}." * 20]
)
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "foreign.pomona"
    path.write_bytes(content)
    with pytest.raises(PomonaError, match=r"foreign\.pomona: .*save the model again"):
        read_model(path)


def test_newer_models_are_refused(tmp_path, small):
    path = tmp_path / "new.pomona"
    write_arrays(path, "model", {"version": 3, "ranker": "mart", "parameters": {}}, {})
    with pytest.raises(PomonaError, match=r"version 3 of the model, this Pomona reads 2: .*upgrade Pomona"):
        read_model(path)
    whole = small.read_bytes()
    path.write_bytes(whole[:7] + b"\x02" + whole[8:])
    with pytest.raises(PomonaError, match=r"version 2 of the format, .*upgrade Pomona"):
        read_model(path)


@pytest.mark.parametrize("header", [{}, {"version": 2}, {"version": 2, "ranker": 3, "parameters": {}}])
def test_files_that_are_no_model_are_refused(tmp_path, header):
    path = tmp_path / "other.pomona"
    write_arrays(path, "model", header, {})
    with pytest.raises(PomonaError, match=r"other\.pomona: .*save the model again"):
        read_model(path)
    write_arrays(path, "letor", header, {})
    with pytest.raises(PomonaError, match="found a file of 'letor', expected 'model'"):
        read_model(path)


def test_a_crafted_file_with_right_checksums_is_refused(tmp_path):
    entry = {"name": "a", "dtype": "|O", "shape": [1], "offset": 0, "checksum": 0}
    header = {"version": 2, "ranker": "mart", "parameters": {}}
    text = json.dumps(
        {"kind": "model", "header": header, "arrays": [entry], "size": 8, "modified_ns": 0}
    ).encode()
    content = struct.pack("<8sQI", b"POMONA\x00\x01", len(text), zlib.crc32(text)) + text
    path = tmp_path / "crafted.pomona"
    path.write_bytes(content + bytes(-len(content) % 64 + 8))
    with pytest.raises(PomonaError, match=r"of type '\|O'"):
        read_model(path)


def test_a_failed_write_leaves_the_old_model(tmp_path, small):
    path = tmp_path / "m.pomona"
    path.write_bytes(small.read_bytes())
    for parameters, arrays in [({"f": object()}, {}), ({}, {"a": np.array([object()])})]:
        with pytest.raises(PomonaError):
            write_model(path, "mart", parameters, arrays)
    assert same(read_model(path), read_model(small))
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_the_old_model(tmp_path, small, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    path = tmp_path / "m.pomona"
    path.write_bytes(small.read_bytes())
    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_model(path, "mart", {}, {"value": np.ones(10)})
    assert same(read_model(path), read_model(small))
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_file_or_folder_is_named(tmp_path):
    with pytest.raises(PomonaError, match=r"m\.pomona: there is no such model file"):
        read_model(tmp_path / "m.pomona")
    with pytest.raises(PomonaError, match=r"m\.pomona: cannot be written: No such file"):
        write_model(tmp_path / "none" / "m.pomona", "mart", {}, {})


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_place_that_is_no_file_is_said_to_be_one(tmp_path, small):
    os.mkfifo(tmp_path / "m")
    with pytest.raises(InputError, match="not a regular file") as caught:
        write_model(tmp_path / "m", "linear", {}, {})
    assert "JSON" not in str(caught.value)


def test_values_as_json_keeps_them():
    given = {
        "n": np.int64(3),
        "sizes": (64, 32),
        "weights": np.array([0.5]),
        "measure": pm.measure("ap"),
        "no": None,
    }
    written = parameters_to_json(given)
    assert written == {"n": 3, "sizes": [64, 32], "weights": [0.5], "measure": "ap", "no": None}
    assert json.loads(json.dumps(written)) == written
    assert parameters_from_json(written)["sizes"] == (64, 32)
    with pytest.raises(PomonaError, match=r"parameter odd=<object .*> cannot be written to a model file"):
        parameters_to_json({"odd": object()})


def own_measure(value):
    """A measure of a user's own that has the name of one of ours."""

    class P(pm.Measure):
        def of_query(self, labels):
            return value

    return P


def test_a_users_measure_is_never_loaded_as_another(tmp_path):
    own = own_measure(0.123)
    data = pm.Dataset(np.arange(6.0)[:, None], [0, 1, 2, 1, 0, 2], [1, 1, 1, 2, 2, 2])
    ranker = pm.LinearRegression(measure=own(k=2)).fit(data)
    ranker.save(tmp_path / "m.pomona")
    loaded = pm.load_model(tmp_path / "m.pomona")
    assert (loaded.score(data), loaded.measure, type(loaded.measure)) == (0.123, own(k=2), own)
    own.__qualname__ = "elsewhere.P"
    with pytest.raises(PomonaError, match=r"measure is the class .*P of .*: import or define it first"):
        pm.load_model(tmp_path / "m.pomona")


def test_a_measure_of_ours_keeps_every_digit(tmp_path):
    data = pm.Dataset(np.arange(6.0)[:, None], [0, 1, 2, 1, 0, 2], [1, 1, 1, 2, 2, 2])
    measure = pm.measure(f"rbp(p={1 / 3})")
    ranker = pm.LinearRegression(measure=measure).fit(data)
    ranker.save(tmp_path / "m.pomona")
    assert pm.measure(pm.load_model(tmp_path / "m.pomona").measure) == measure


def test_the_arrays_of_a_part_are_told_by_their_prefix():
    arrays = {"0.a": np.zeros(1), "0.1.a": np.ones(1), "1.a": np.ones(2), "a": np.ones(3)}
    assert {name: array.tolist() for name, array in with_prefix(arrays, "0.").items()} == {
        "a": [0],
        "1.a": [1],
    }


@pytest.mark.parametrize(
    "value",
    [
        *((1, 0.5), [1, 2], ((1, 2), ("a",)), [[0], (1,)], {"clicks": 1}, {0: (1, 2)}, {"list": [1]}, {}),
        *(np.array([1, 0, -1]), np.array([0.1], np.float32), np.array([True]), np.array([[1.0], [2.0]])),
        *(1 / 3, 5e-324, 1e308, float("inf"), -0.0, 10**30, "ü\n", "", None, True),
        *(pm.measure("ndcg@7"), pm.measure(f"rbp(p={1 / 3})"), pm.measure("letor4:ap")),
    ],
    ids=repr,
)
def test_parameters_come_back_as_they_were(value):
    written = json.loads(json.dumps(exact_parameters({"x": value})))
    (read,) = parameters_from_json(written).values()
    assert type(read) is type(value)
    assert repr(read) == repr(value)
    if isinstance(value, np.ndarray):
        assert read.dtype == value.dtype


def test_types_of_arrays_that_could_hold_objects_are_refused():
    for kind in ("O", "|O8", "U9", "M8[s]", "V8", "f16", ""):
        with pytest.raises(ValueError, match="an array of type"):
            parameters_from_json({"x": {"array": [1], "dtype": kind}})


def test_numbers_that_no_file_holds_are_refused_before_the_training():
    data = pm.Dataset(np.arange(6.0)[:, None], [0, 1, 2, 1, 0, 2], [1, 1, 1, 2, 2, 2])
    for number in (Fraction(1, 3), np.longdouble("0.1"), Decimal("0.1"), 1j):
        with pytest.raises(PomonaError, match="l2 must be a number"):
            pm.LinearRegression(l2=number).fit(data)
