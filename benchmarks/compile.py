"""What a first fit compiles on an empty cache: CPU seconds of every kernel, by one process; then by two.

Then seconds on the clock of `pomona demo`, on an empty cache and again.

python -m benchmarks.compile
"""

import os
import subprocess
import sys
import tempfile
import time

_FIT = """
import sys
import time
import pomona as pm
from numba.core import event
class Listener(event.Listener):
    running, done = [], []
    def on_start(self, e):
        self.running.append(time.thread_time())
    def on_end(self, e):
        seconds = time.thread_time() - self.running.pop()
        if not self.running:
            kernel = e.data["dispatcher"].py_func
            self.done.append((seconds, f"{kernel.__module__}.{kernel.__name__}"))
event.register("numba:compile", Listener())
train, valid = pm.simulate(100, docs_per_query=20, n_features=10, seed=1).split([0.7, 0.3])
started = time.process_time(), time.perf_counter()
pm.LambdaMART(n_trees=10, growth=sys.argv[1]).fit(train, valid=valid)
total, clock = time.process_time() - started[0], time.perf_counter() - started[1]
if sys.argv[2] == "2":
    print(f"| `fit`, growth {sys.argv[1]}, with a second process: of this one | {total:.1f} |")
    print(f"| on the clock | {clock:.1f} |")
else:
    print(f"| all of `fit`, growth {sys.argv[1]} | {total:.1f} |")
    for seconds, kernel in sorted(Listener.done, reverse=True):
        if seconds >= 0.4:
            print(f"| `{kernel.removeprefix('pomona.')}` | {seconds:.1f} |")
"""


def main():
    print("| kernel | CPU seconds |\n|---|---:|", flush=True)
    for growth in ("leafwise", "oblivious"):
        for threads in ("1", "2"):
            with tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "POMONA_CACHE": cache, "POMONA_THREADS": threads}
                subprocess.run([sys.executable, "-c", _FIT, growth, threads], env=environment, check=True)
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("an empty", "a full"):
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "pomona", "demo", "--out", f"{folder}/{cache}"],
                env={**os.environ, "POMONA_CACHE": f"{folder}/kernels"},
                check=True,
                capture_output=True,
            )
            seconds = time.perf_counter() - started
            print(f"| `pomona demo`, on {cache} cache, on the clock | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
