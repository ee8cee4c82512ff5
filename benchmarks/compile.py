"""What a first fit compiles on an empty cache: CPU seconds of every kernel that Python calls.

python -m benchmarks.compile
"""

import os
import subprocess
import sys
import tempfile

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
started = time.process_time()
pm.LambdaMART(n_trees=10, growth=sys.argv[1]).fit(train, valid=valid)
total = time.process_time() - started
print(f"| all of `fit`, growth {sys.argv[1]} | {total:.1f} |")
for seconds, kernel in sorted(Listener.done, reverse=True):
    if seconds >= 0.5:
        print(f"| `{kernel.removeprefix('pomona.')}` | {seconds:.1f} |")
"""


def main():
    print("| kernel | CPU seconds |\n|---|---:|", flush=True)
    for growth in ("leafwise", "oblivious"):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "POMONA_CACHE": cache}
            subprocess.run([sys.executable, "-c", _FIT, growth], env=environment, check=True)


if __name__ == "__main__":
    main()
