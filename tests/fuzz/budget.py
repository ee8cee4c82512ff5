"""Files of any size in a process with little memory: read or refused, and never more taken than allowed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from fuzz.target import in_one_line
from test_budget import COMPRESS, TEXTS, measured, small_file

N_SMALL = 2 if sys.platform == "linux" else 0


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder, self._number = folder, 0

    def case(self, random: np.random.Generator) -> str:
        self._number += 1
        folder = self._folder / f"{self._number}"
        folder.mkdir()
        kind, name, head, piece, n_bytes = TEXTS[str(random.choice(list(TEXTS)))]
        n_bytes, room = int(n_bytes * random.random()), int(random.integers(40, 200)) << 20
        content = head + piece * (n_bytes // len(piece))
        path = folder / name
        if random.random() < 0.3:
            suffix = str(random.choice(list(COMPRESS)))
            path, content = folder / f"{name}{suffix}", COMPRESS[suffix](content)
        path.write_bytes(content)
        peak, message = measured(kind, small_file(folder, name, head, piece), path, room)
        path.unlink()
        assert peak <= room * 1.1, f"{peak >> 20} MiB taken of {room >> 20}: {kind} {path.name} {message}"
        return in_one_line(RuntimeError(message)) if message else "read"
