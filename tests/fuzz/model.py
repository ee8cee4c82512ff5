"""Model files that nobody wrote, under checksums that are right: refused in one line, or they score."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import pomona as pm
from fuzz.target import in_one_line
from pomona._registry import entries
from pomona.errors import PomonaError
from pomona.experiments.execute import shortened
from pomona.rankers.loading import load_model
from rankers.mutants import mutant

N_SMALL = 0  # `rankers/test_learnt.py` tries 60 of every kind
KINDS = tuple(
    name
    for name, entry in sorted(entries("rankers").items())
    if name != "imported" and (".neural." not in entry.module or find_spec("torch"))
)


def documents() -> pm.Dataset:
    """Without names, which a mutant may have changed."""
    data = pm.simulate(6, docs_per_query=12, n_features=5, seed=3)
    X = data.X.copy()
    X[::7, 1] = np.nan
    return pm.Dataset(X, data.y, data.qid)


def outcome(content: bytes, path: Path, data: pm.Dataset) -> str:
    """What comes of a model file: `refused`, or `scores`; anything else is raised."""
    path.write_bytes(content)
    try:
        scores = load_model(path).predict(data)
    except PomonaError as error:
        return in_one_line(error)
    assert scores.shape == (data.n_docs,)
    assert scores.dtype == np.float64
    return "scores"


def written(name: str, folder: Path) -> bytes:
    """The bytes of a small model of a kind."""
    path = folder / f"{name}.pomona"
    if not path.exists():
        ranker = entries("rankers")[name].load()()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = pm.simulate(30, docs_per_query=8, n_features=5, seed=0)
            ranker.set_params(**shortened(ranker.get_params(deep=False))).fit(data).save(path)
    return path.read_bytes()


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder, self._data = folder, documents()
        # Elsewhere, so that only what a model file can reach is compiled with checks of every index.
        usual = {
            name: value
            for name, value in os.environ.items()
            if name not in ("NUMBA_BOUNDSCHECK", "POMONA_CACHE")
        }
        subprocess.run([sys.executable, "-m", "fuzz.model", str(folder)], env=usual, check=True)

    def case(self, random: np.random.Generator) -> str:
        content = written(str(random.choice(KINDS)), self._folder)
        return outcome(mutant(content, random), self._folder / "crafted", self._data)


if __name__ == "__main__":
    for kind in KINDS:
        written(kind, Path(sys.argv[1]))
