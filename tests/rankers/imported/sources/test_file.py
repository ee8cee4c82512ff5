import gzip
import json
import re
import tracemalloc

import lightgbm
import numpy as np
import pytest
import xgboost

import pomona as pm
from pomona.errors import InputError, PomonaError
from pomona.rankers.imported.sources.file import read_model_file
from reference.foreign import lightgbm_text, random_trees, xgboost_model

RANDOM = np.random.default_rng(0)
TREES = random_trees(RANDOM, 3, [0.0, 0.5])
TEXT = lightgbm_text(RANDOM, TREES)
XGBOOST = xgboost_model(RANDOM, TREES)
LEAVES = "<split><output>1</output></split><split><output>2</output></split>"
STUMP = f"<feature>2</feature><threshold>0.5</threshold>{LEAVES}"


def ubjson():
    booster = xgboost.Booster()
    booster.load_model(bytearray(json.dumps(XGBOOST).encode()))
    return bytes(booster.save_raw("ubj"))


FILES = {
    "lightgbm": TEXT.encode(),
    "lightgbm json": json.dumps(lightgbm.Booster(model_str=TEXT).dump_model()).encode(),
    "xgboost": json.dumps(XGBOOST).encode(),
    "xgboost ubj": ubjson(),
    "xgboost dump": b"booster[0]:\n0:[f1<0.5] yes=1,no=2,missing=1\n1:leaf=1\n2:leaf=2\n",
    "ranklib": f"## MART\n<ensemble><tree weight='1'><split>{STUMP}</split></tree></ensemble>".encode(),
    "network": b"## RankNet\n1 2\n1\n2\n0 0 1 2\n0 1 3 4\n0 2 5 6 7\n1 0 0.5\n1 1 -0.5\n",
    "catboost": json.dumps(
        {
            "features_info": {
                "float_features": [{"feature_index": 0, "flat_feature_index": 3, "has_nans": False}]
            },
            "oblivious_trees": [
                {
                    "splits": [{"float_feature_index": 0, "border": 0.5, "split_type": "FloatFeature"}],
                    "leaf_values": [1.0, 2.0],
                    "leaf_weights": [7, 3],
                }
            ],
            "scale_and_bias": [1, [0]],
        }
    ).encode(),
    "linear": b"## AdaRank\n1:2.5 3:1 1:0.5\n",
}


def outcome(content, path):
    path.write_bytes(content)
    try:
        model = pm.load_model(path)
        rows = np.zeros((3, model.n_features_in_), np.float32)
        scores = model.predict(pm.Dataset(rows, [0] * 3, [0] * 3, feature_names=model.feature_names_))
    except PomonaError as error:
        is_one_line = "\n" not in str(error) and str(path) in str(error)
        return "refused" if is_one_line else f"refused unclearly: {error}"
    assert scores.shape == (3,)
    return "scores"


@pytest.mark.filterwarnings("ignore:a dump of XGBoost")
@pytest.mark.parametrize("name", FILES)
def test_known_by_content(name, tmp_path):
    assert outcome(FILES[name], tmp_path / "model.bin") == "scores"
    assert outcome(gzip.compress(FILES[name]), tmp_path / "model.bin") == "scores"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_or_scores_but_never_crashes(name, tmp_path):
    content, random = FILES[name], np.random.default_rng(1)
    for end in random.integers(1, len(content), 25):
        assert outcome(content[:end], tmp_path / "model.bin") in ("scores", "refused")
    hostile = [b"", b"9" * 30, b"-1", b"1e999", b"nan", b"\x00", b'"', b"[", b"{}", b"\xff\xff\xff\xff"]
    for _ in range(60):
        at, cut = random.integers(0, len(content)), random.integers(0, 4)
        mutant = content[:at] + hostile[random.integers(len(hostile))] + content[at + cut :]
        assert outcome(mutant, tmp_path / "model.bin") in ("scores", "refused")


def with_huge_numbers(content):
    """The file with one of its numbers after the other made huge; of binary files, eight bytes."""
    for match in re.finditer(rb"(?<![\w.])\d+(?![\w.])", content):
        for huge in (b"99999999", b"2147483647", b"4294967295", b"9223372036854775807", b"9" * 40):
            yield content[: match.start()] + huge + content[match.end() :]
    if b"\x00" in content:
        for at in range(0, len(content) - 8, 5):
            for huge in (b"\x00\x00\x00\x00\x7f\xff\xff\xff", b"\x7f" + b"\xff" * 7):
                yield content[:at] + huge + content[at + 8 :]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FILES)
def test_huge_counts_take_no_memory(name, tmp_path):
    mutants = list(with_huge_numbers(FILES[name]))
    assert mutants
    for mutant in np.random.default_rng(2).permutation(len(mutants))[:150].tolist():
        tracemalloc.start()
        try:
            found = outcome(mutants[mutant], tmp_path / "model.bin")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert found in ("scores", "refused")
        assert peak < 300e6, mutants[mutant][:300]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"CBM1xxxx", "CatBoost's binary model"),
        (b"binf\x00\x00", "old binary model"),
        (b"\x80\x04\x95", "a pickle"),
        (b"hello", "begins with 'hello', expected Pomona's own file"),
        (b'{"a": 1}', "expected Pomona's own file"),
        (b'{"a": ', "is no JSON: line 1"),
        (b"[" * 100_000, "damaged|no JSON"),
        (b'{"learner": {}}', "damaged"),
    ],
)
def test_refusals(content, message, tmp_path):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_model_file(tmp_path / "m")
