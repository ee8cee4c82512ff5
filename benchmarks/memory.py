"""Data larger than memory: reading, binning and training LambdaMART under a hard limit, beside no limit.

    python -m benchmarks.memory FOLDER                          # 3.8 million × 136, 4.7 GB of text, 2.5 GB
    python -m benchmarks.memory FOLDER --parts 1 --limit 0.6    # a tenth

The limit is that of a Linux control group of our own, which takes root; files that are mapped count in it as
long as they are in memory. The text is written to FOLDER and removed at the end.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import pomona as pm

_RUN = """
import hashlib, re, sys, threading, time
import pomona as pm
peak = 0
def watch():
    global peak
    while True:
        peak = max(peak, int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]))
        time.sleep(0.02)
threading.Thread(target=watch, daemon=True).start()
started = time.perf_counter()
train = pm.read_letor(sys.argv[1])
read = time.perf_counter() - started
model = pm.LambdaMART(n_trees=int(sys.argv[2]), n_leaves=31, seed=1).fit(train).model_
seconds = time.perf_counter() - started
bits = hashlib.sha256(b"".join(array.tobytes() for array in model.arrays().values())).hexdigest()[:12]
print(f"| {sys.argv[3]} | {read:.1f} | {seconds:.1f} | {peak / 1e6:.2f} | {bits} |", flush=True)
"""
_GROUPS = {
    "/sys/fs/cgroup/memory": "memory.limit_in_bytes",
    "/sys/fs/cgroup": "memory.max",
}


def written(path, n_parts):
    """A part of the data after the other, so that making them takes little memory."""
    with path.open("wb") as file:
        for part in range(n_parts):
            data = pm.simulate(3150, n_features=136, docs_per_query=120, seed=part + 1).gathered()
            one = path.with_suffix(".part")
            pm.write_letor(pm.Dataset(data.X, data.y, data.qid.astype(np.int64) + part * 10**6), one)
            file.write(one.read_bytes())
            one.unlink()


def group_of(limit):
    """A control group with this limit of memory."""
    for mount, name in _GROUPS.items():
        if (group := Path(mount, f"pomona-{os.getpid()}")).parent.is_dir():
            if name == "memory.max":
                Path(mount, "cgroup.subtree_control").write_text("+memory")
            group.mkdir()
            if (group / name).is_file():
                (group / name).write_text(str(limit))
                return group
            group.rmdir()
    raise SystemExit("found no control groups of memory")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", type=int, default=10, help="of 380,000 documents")
    parser.add_argument("--limit", type=float, default=2.5, help="GB")
    parser.add_argument("--trees", type=int, default=100)
    arguments = parser.parse_args()
    pm.LambdaMART(n_trees=2, growth="leafwise").fit(pm.simulate(50))  # compiles
    path, group = arguments.folder / "large.letor", group_of(int(arguments.limit * 1e9))
    command = [sys.executable, "-c", _RUN, path, str(arguments.trees)]
    try:
        written(path, arguments.parts)
        print(f"{path.stat().st_size / 1e9:.1f} GB of text, {arguments.trees} trees\n")
        print(
            "| limit | s to read | s in all | GB that are not mapped | bits |\n|---|---:|---:|---:|---|",
            flush=True,
        )
        subprocess.run([*command, "none"], check=True)
        join = lambda: (group / "cgroup.procs").write_text(str(os.getpid()))  # noqa: E731
        subprocess.run([*command, f"{arguments.limit:g} GB"], check=True, preexec_fn=join)
    finally:
        path.unlink(missing_ok=True)
        group.rmdir()


if __name__ == "__main__":
    main()
