"""Processes killed at any moment: what was done is kept, what is there is whole, and the rest can go on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import pomona as pm
from pomona._cache import cache_part
from pomona.experiments.results import read_results

N_SMALL = 1
_COMPARE = (
    *("compare", "toy=simulate(queries=24, docs_per_query=8, features=5, seed=3)", "--n-folds", "2"),
    *("--rankers", "lambdamart(n_trees=40), linearregression, random", "--measures", "ndcg@5,ap"),
)
_READ = "import sys, pomona as pm; print(pm.read_letor(sys.argv[1], cache=True).X.sum(dtype='f8'))"


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder, self._environment = folder, {**os.environ, "POMONA_CACHE": str(folder / "cache")}
        kernels = cache_part("kernels")  # are shared: what is killed shall be at work
        kernels.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "cache").mkdir()
        (folder / "cache" / "pomona-kernels").symlink_to(kernels)
        self._data = folder / "train.txt"
        pm.write_letor(pm.simulate(400, docs_per_query=40, n_features=30, seed=1), self._data)
        self._seconds: dict[str, float] = {}
        self._expected: dict[str, object] = {}
        self._number = 0

    def case(self, random: np.random.Generator) -> str:
        kind = ("train", "read", "compare")[random.integers(3)]
        if kind not in self._expected:
            self._expected[kind] = self._finish(kind, self._folder / f"{kind}.pomona")
        self._number += 1
        place = self._folder / f"{kind}{self._number}.pomona"
        if kind == "read":
            shutil.rmtree(self._folder / "cache" / "pomona-parsed", ignore_errors=True)
        for _ in range(random.integers(1, 3)):
            self._kill(kind, place, random.random() * self._seconds[kind])
            if kind == "train" and place.exists():
                assert self._scores(place) == self._expected[kind], "a model that was cut short is read"
        assert self._finish(kind, place) == self._expected[kind], f"{kind} gave something else after a kill"
        return kind

    def _command(self, kind: str, place: Path) -> list[str]:
        if kind == "read":
            return ["-c", _READ, str(self._data)]
        words = {
            "train": ("train", "lambdamart", self._data, "--set", "n_trees=40", "-o", place),
            "compare": (*_COMPARE, "--out", place.with_suffix("")),
        }[kind]
        return ["-c", "from pomona.cli import main; main()", *map(str, words)]

    def _start(self, kind: str, place: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *self._command(kind, place)],
            env=self._environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _finish(self, kind: str, place: Path) -> object:
        """What comes of it undisturbed; how long the first took is noted."""
        began = time.monotonic()
        process = self._start(kind, place)
        shown, errors = process.communicate()
        assert process.returncode == 0, errors[-300:]
        self._seconds.setdefault(kind, time.monotonic() - began)
        if kind == "compare":
            values = read_results(place.with_suffix("")).values
            return values.sort(values.columns).rows()
        return self._scores(place) if kind == "train" else shown

    def _kill(self, kind: str, place: Path, seconds: float) -> None:
        process = self._start(kind, place)
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def _scores(self, model: Path) -> bytes:
        return pm.load_model(model).predict(pm.read_letor(self._data)).tobytes()
