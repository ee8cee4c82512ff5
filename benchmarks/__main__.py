"""Run every benchmark; each prints Markdown for docs/benchmarks.md."""

import importlib
import sys
from pathlib import Path

rooms = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
names = sys.argv[1:] or rooms
sys.argv[1:] = []
for name in names:
    print(f"\n## {name}\n", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
