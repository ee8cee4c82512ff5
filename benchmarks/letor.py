"""Reading LETOR text: Pomona, scikit-learn, XGBoost and LightGBM on one file, in one run.

`python -m benchmarks.letor [FILE]` makes a file like MSLR-WEB's (136 features) under `benchmarks/.data`, or
takes one that is given, and prints a Markdown table. Speed per core is size over processor time, so that
threads do not count as speed. Peak memory and the time of the first call, which compiles, come from
processes of their own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pomona as pm
from pomona._jit import n_threads, threads

DATA = Path(__file__).parent / ".data"
N_FEATURES = 136
N_ROUNDS = 3


def make_file(path: Path, n_docs: int = 110_000, seed: int = 1) -> None:
    """Counts, scores with six decimals and some large numbers, in MSLR-WEB's shares (52, 42, 6 of 100)."""
    if path.exists():
        return
    random = np.random.default_rng(seed)
    X = np.empty((n_docs, N_FEATURES), np.float32)
    for j in range(N_FEATURES):
        kind = j * 37 % 100
        if kind < 52:
            X[:, j] = random.geometric(0.4, n_docs) - 1
        elif kind < 94:
            X[:, j] = np.round(random.gamma(2.0, 10.0 ** random.integers(-2, 2), n_docs), 6)
        else:
            X[:, j] = random.integers(0, 10 ** random.integers(2, 7), n_docs)
    X[:, 110:125] *= -1
    queries = np.repeat(np.arange(n_docs), random.integers(60, 180, n_docs))[:n_docs]
    labels = random.choice(5, n_docs, p=[0.52, 0.32, 0.13, 0.02, 0.01])
    path.parent.mkdir(exist_ok=True)
    # Six decimals, as the files of this kind have: the shortest text of a float32 would have more.
    with path.open("w") as file:
        for y, q, row in zip(labels.tolist(), queries.tolist(), X.tolist(), strict=True):
            values = " ".join(f"{j}:{value:.6f}".rstrip("0").rstrip(".") for j, value in enumerate(row, 1))
            file.write(f"{y} qid:{15 * q + 1} {values}\n")


def read_pomona(path: str) -> Any:
    return pm.read_letor(path)


def read_pomona_alone(path: str) -> Any:
    with threads(1):
        return pm.read_letor(path)


def read_sklearn(path: str) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path, query_id=True)


def read_xgboost(path: str) -> Any:
    import xgboost

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it announces the end of its text reader
        return xgboost.DMatrix(f"{path}?format=libsvm")


def read_lightgbm(path: str) -> Any:
    import lightgbm

    bare = Path(f"{path}.bare")  # it reads no query ids; made by the first call, which is not timed
    if not bare.exists():
        bare.write_bytes(re.sub(rb" qid:\S+", b"", Path(path).read_bytes()))
    return lightgbm.Dataset(bare, params={"verbosity": -1}).construct()


READERS: dict[str, Callable[[str], Any]] = {
    "Pomona, one thread": read_pomona_alone,
    f"Pomona, {n_threads()} threads": read_pomona,
    "scikit-learn `load_svmlight_file`": read_sklearn,
    "XGBoost `DMatrix`": read_xgboost,
    "LightGBM `Dataset` (with binning)": read_lightgbm,
}


def best_of(read: Callable[[str], Any], path: str, n_rounds: int) -> tuple[float, float]:
    """(seconds on the clock, seconds of processors) of the quickest of several calls after the first."""
    times = []
    for _ in range(n_rounds + 1):
        wall, processor = time.perf_counter(), time.process_time()
        data = read(path)
        times.append((time.perf_counter() - wall, time.process_time() - processor))
        del data
    return min(times[1:])


def in_own_process(name: str, path: Path, cache: str) -> dict[str, float]:
    """Peak memory beyond the imports, and the time of the first call, in a process with an empty cache."""
    command = [sys.executable, "-m", "benchmarks.letor", "--measure", name, str(path)]
    environment = {**os.environ, "POMONA_CACHE": cache}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measure(name: str, path: Path) -> None:
    small = path.with_suffix(".small")
    with path.open("rb") as file:
        small.write_bytes(b"".join(file.readline() for _ in range(50)))
    start = time.perf_counter()
    READERS[name](str(small))  # imports and compiles
    first = time.perf_counter() - start
    before = peak_memory()
    data = READERS[name](str(path))
    arrays = data.X.nbytes + data.y.nbytes + data.query_ptr.nbytes if isinstance(data, pm.Dataset) else 0
    print(json.dumps({"first": first, "peak": peak_memory() - before, "arrays": arrays}))


def peak_memory() -> int:
    """Bytes; Linux only, because what `getrusage` calls the peak includes that of the parent process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def reopening(path: Path, cache: str) -> tuple[float, float]:
    """Seconds to parse, and to open the copy that `cache=True` keeps."""
    os.environ["POMONA_CACHE"] = cache
    parse = best_of(read_pomona, str(path), N_ROUNDS)[0]
    pm.read_letor(path, cache=True)
    reopen = best_of(lambda name: pm.read_letor(name, cache=True), str(path), 20)[0]
    return parse, reopen


def main(path: Path) -> None:
    megabytes = path.stat().st_size / 1e6
    print(f"{path.name}: {megabytes:.0f} MB, {os.cpu_count()} cores\n")
    results = {}
    for name, read in READERS.items():
        try:
            results[name] = best_of(read, str(path), 1 if "scikit" in name else N_ROUNDS)
        except ImportError:
            print(f"({name} is not installed)")
    ours = results["Pomona, one thread"]
    print("| reader | MB/s | MB/s per core | Pomona per core is | peak memory (MB) |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as cache:
        for name, (wall, processor) in results.items():
            own = in_own_process(name, path, f"{cache}/kernels")
            times = f"{processor / ours[1]:.1f}×"
            row = f"| {name} | {megabytes / wall:.0f} | {megabytes / processor:.0f} | {times} "
            print(f"{row}| {own['peak'] / 1e6:.0f} |")
            if name == "Pomona, one thread":
                first = own
        size = path.stat().st_size
        print(f"\nPeak memory is the file plus {(first['peak'] - size) / first['arrays']:.2f} × the arrays.")
        print(f"The first call of all, which compiles, takes {first['first']:.1f} s.")
        parse, reopen = reopening(path, f"{cache}/copies")
        faster = f"{parse / reopen:.0f}× faster than parsing in {parse * 1e3:.0f} ms"
        print(f"`cache=True` opens the copy in {reopen * 1e3:.2f} ms, {faster}.")
        data = pm.read_letor(path)
        target = Path(cache, "written.txt")
        pm.write_letor(data, target)
        start = time.perf_counter()
        pm.write_letor(data, target)
        print(f"`write_letor`: {target.stat().st_size / 1e6 / (time.perf_counter() - start):.0f} MB/s.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    elif len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        make_file(DATA / "letor.txt")
        main(DATA / "letor.txt")
