import json

import numpy as np
import pytest
import xgboost

from pomona.errors import InputError
from pomona.trees.readers.ubjson import looks_like_ubjson, read_ubjson


@pytest.fixture(scope="module")
def booster():
    X = np.random.default_rng(0).normal(size=(50, 3))
    return xgboost.train({"max_depth": 2}, xgboost.DMatrix(X, X[:, 0]), 3)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | np.ndarray):
        return (
            [plain(one) for one in np.asarray(value).tolist()]
            if isinstance(value, np.ndarray)
            else list(map(plain, value))
        )
    return value


def test_it_holds_what_json_holds(booster):
    binary, text = bytes(booster.save_raw("ubj")), bytes(booster.save_raw("json"))
    assert looks_like_ubjson(binary)
    assert not looks_like_ubjson(text)
    found, expected = plain(read_ubjson(binary)), json.loads(text)
    assert found.keys() == expected.keys()
    tree = found["learner"]["gradient_booster"]["model"]["trees"][1]
    twin = expected["learner"]["gradient_booster"]["model"]["trees"][1]
    assert tree.keys() == twin.keys()
    np.testing.assert_allclose(tree["split_conditions"], twin["split_conditions"], rtol=1e-7)
    assert tree["left_children"] == twin["left_children"]
    assert found["learner"]["learner_model_param"] == expected["learner"]["learner_model_param"]


def test_whatever_is_cut_off_is_refused(booster):
    binary = bytes(booster.save_raw("ubj"))
    for end in range(1, len(binary), 97):
        with pytest.raises((InputError, UnicodeDecodeError)):
            read_ubjson(binary[:end])


@pytest.mark.parametrize(
    "content",
    [
        b"{i\x01a[$U#L\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"{i\x01a[#L\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"{i\x01a[$Z#l\x7f\xff\xff\xff",
        b"[" * 500,
        b"{i\xffa",
        b"{i\x01a[$d]",
        b"q",
        b"",
    ],
)
def test_hostile_bytes_are_refused(content):
    with pytest.raises(InputError):
        read_ubjson(content)
