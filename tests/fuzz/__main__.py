"""`make fuzz MINUTES=10`: every target for its share of the time, then what came of it.

python -m fuzz MINUTES [TARGET …]         with `tests` and `src` on the path; SEED in the environment
python -m fuzz --case NUMBER TARGET       one case again
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fuzz.target import TARGETS, Tally, fuzz

SEED = int(os.environ.get("SEED", time.time()))


def of_target(name: str, seconds: float) -> Tally:
    """The tally of a process of its own, whose death is a crash."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SEED": str(SEED)}
        if name == "model":  # kernels that check every index, in a cache of their own
            environment |= {"NUMBA_BOUNDSCHECK": "1", "POMONA_CACHE": f"{folder}/cache"}
        command = [sys.executable, "-m", "fuzz", "--child", name, str(seconds), folder]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        try:
            shown = json.loads(done.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            case = Path(folder, "case")
            number = int(case.read_text()) if case.exists() else -1
            return Tally(crashes=[(number, f"the process ended by {done.returncode}: {done.stderr[-300:]}")])
    return Tally(shown["outcomes"], shown["disagreements"], shown["crashes"])


def main(minutes: str, *names: str) -> int:
    tallies = {}
    for name in names or TARGETS:
        print(f"{name} …", file=sys.stderr, flush=True)
        tallies[name] = of_target(name, 60 * float(minutes) / len(names or TARGETS))
    print(f"seed {SEED}\n\n| target | cases | outcomes | disagreements | crashes |\n|---|---|---|---|---|")
    for name, tally in tallies.items():
        outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(tally.outcomes.items()))
        wrong = f"{len(tally.disagreements)} | {len(tally.crashes)}"
        print(f"| {name} | {tally.n_cases:,} | {outcomes} | {wrong} |")
    for name, tally in tallies.items():
        for number, why in [*tally.disagreements, *tally.crashes][:20]:
            print(f"\n{name}: {why}\n    SEED={SEED} python -m fuzz --case {number} {name}")
    return int(any(tally.disagreements or tally.crashes for tally in tallies.values()))


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        print(json.dumps(vars(fuzz(sys.argv[2], Path(sys.argv[4]), SEED, seconds=float(sys.argv[3])))))
    elif sys.argv[1] == "--case":
        with tempfile.TemporaryDirectory() as folder:
            print(fuzz(sys.argv[3], Path(folder), SEED, n_cases=1, first=int(sys.argv[2])))
    else:
        sys.exit(main(*sys.argv[1:]))
