"""A model file may come from anybody: it is refused in one line, or it is a model that reads nothing else."""

import os
import resource
import subprocess
import sys
import zlib
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from fuzz.model import KINDS, documents, outcome, written
from pomona.errors import InputError
from pomona.rankers.learnt import FINITE, Array, check_learnt
from pomona.rankers.loading import load_model
from rankers.mutants import mutant, pack, unpack

N_MUTANTS = 60
# What a kernel indexes by what the model says.
INDEXED = ["rankboost", "lambdamart", "rcrank", "mcrank", "lambdarank", "linearregression"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The bytes of a small model of each kind."""
    return partial(written, folder=tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore")  # a huge weight overflows, as it should
def test_a_crafted_model_is_refused_or_scores(name, models, tmp_path):
    data, content = documents(), models(name)
    outcomes = [
        outcome(mutant(content, np.random.default_rng([1, seed])), tmp_path / "m.pomona", data)
        for seed in range(N_MUTANTS)
    ]
    assert set(outcomes) == {"refused", "scores"}
    description, arrays = unpack(content)
    assert outcome(pack(description, arrays), tmp_path / "same.pomona", data) == "scores"


def test_no_crafted_model_reads_outside_its_arrays(models, tmp_path):
    """The same in a process whose kernels check every index."""
    for name in set(INDEXED) & set(KINDS):
        (tmp_path / f"{name}.model").write_bytes(models(name))
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "POMONA_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parents[1])]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) == N_MUTANTS * len(set(INDEXED) & set(KINDS))


@pytest.mark.parametrize("name", ["random", "linearregression", "lambdamart"])
def test_a_small_file_cannot_ask_for_a_large_matrix(name, models, tmp_path):
    description, arrays = unpack(models(name))
    description["header"]["parameters"]["learnt"]["n_features"] = 10**9
    (tmp_path / "m.pomona").write_bytes(pack(description, arrays))
    with pytest.raises(InputError, match=r"m\.pomona: .*5 names for 1000000000 features"):
        load_model(tmp_path / "m.pomona")


def test_arrays_must_not_lie_over_each_other(models, tmp_path):
    description, arrays = unpack(models("linearregression"))
    content = pack(description, {**arrays, "again": arrays["coef_"]})
    at = content.index(b'"offset": 64')
    changed = content[:at] + b'"offset": 0 ' + content[at + 12 :]
    text_length = int.from_bytes(changed[8:16], "little")
    checksum = zlib.crc32(changed[20 : 20 + text_length]).to_bytes(4, "little")
    (tmp_path / "m.pomona").write_bytes(changed[:16] + checksum + changed[20:])
    with pytest.raises(InputError, match="array 'again' lies outside its place"):
        load_model(tmp_path / "m.pomona")


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Array("n"), np.ones(2), "x is float64 of shape \\(2,\\), expected float64 of shape \\(3,\\)"),
        (Array("n"), np.ones(3, np.float32), "x is float32"),
        (Array("n"), np.ones((3, 1)), "x is float64 of shape \\(3, 1\\)"),
        (Array("n"), np.array([0, 1, np.nan]), "x holds a value that is not finite"),
        (Array("n"), [1.0, 2.0, 3.0], "x is no array"),
        (Array("n", dtype=np.int32, below="n"), np.array([0, 1, 3], np.int32), "outside 0..2"),
        (Array("n", dtype=np.int32, below=9), np.array([0, -1, 3], np.int32), "outside 0..8"),
        (FINITE, float("nan"), "x must be a number of at least"),
        (FINITE, 10**400, "x must be a number"),
        (FINITE, np.ones(1), "x must be a number"),
        (int, True, "x must be an integer, found True"),
        (Literal[1, -1], 2, "x must be 1 or -1, found 2"),
    ],
)
def test_what_does_not_fit_its_declaration(kind, value, message):
    with pytest.raises(ValueError, match=message):
        check_learnt({"x": kind}, {"x": value}, n=3)


def test_a_named_size_is_one_size_and_what_fits_passes():
    two = {"a": Array("m", 2), "b": Array("m"), "c": Array("k", finite=False), "d": FINITE, "e": bool}
    values = {"a": np.ones((4, 2)), "b": np.ones(4), "c": np.array([np.inf]), "d": 3, "e": False}
    check_learnt(two, values)
    with pytest.raises(ValueError, match="b is float64 of shape"):
        check_learnt(two, {**values, "b": np.ones(3)})


if __name__ == "__main__":
    folder, data, count = Path(sys.argv[1]), documents(), 0
    originals = sorted(folder.glob("*.model"))
    for original in originals:
        load_model(original).predict(data)  # compiles, before memory is limited
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    for original in originals:
        for seed in range(N_MUTANTS):
            crafted = mutant(original.read_bytes(), np.random.default_rng([2, seed]))
            outcome(crafted, folder / "m.pomona", data)
            count += 1
    print(count)
