"""The command `pomona`: one file per verb."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from types import FrameType

_IMPORTING = "<frozen importlib._bootstrap>"

started: float | None = None
"""When the command was called, by `time.monotonic()`; None where a program calls a verb."""


def main() -> None:
    """Run the command line."""
    global started
    started = time.monotonic()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where Ctrl-C is to be ignored
        signal.signal(signal.SIGINT, _interrupt)
    # What is loaded lives on. Looking through it again and again takes a tenth of the time of loading it, and
    # once more, as Python ends, half a second.
    gc.set_threshold(100_000, 20, 100)
    from pomona.cli.app import run

    try:
        run()
    finally:
        gc.freeze()


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Ctrl-C. Raised inside an import, it could get lost: packages catch all that happens while they load.

    Nothing that is worth keeping happens there, so the process ends at once.
    """
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            sys.stderr.write("\npomona: interrupted\n")
            sys.stderr.flush()
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt
