"""Charts as files, SVG and PDF, drawn by a few processes side by side.

Drawing is most of the cost of a report: the converter is a JavaScript engine of one thread, slow to start.
Processes of their own draw while this one writes the page.
"""

from __future__ import annotations

import contextlib
import itertools
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from pomona.errors import PomonaError

_MOST_PROCESSES = 4
_TINY = '{"data": {"values": [{}]}, "mark": "point"}'


@contextlib.contextmanager
def drawing(folder: Path) -> Iterator[Callable[[str, str], None]]:
    """Yield what draws a chart, given as Vega-Lite under the name of its file; all are drawn at the end.

    The processes start at once, to be ready when the first chart comes.
    """
    from pomona._jit import n_threads  # loads the compiler, which the painters can do without

    painters = [_Painter(folder) for _ in range(min(n_threads(), _MOST_PROCESSES))]
    turns = itertools.cycle(painters)
    try:
        yield lambda stem, chart: next(turns).give(stem, chart)
        for painter in painters:
            painter.finish()
    finally:
        for painter in painters:
            painter.end()


class _Painter:
    """A process that draws what comes on its standard input."""

    def __init__(self, folder: Path) -> None:
        program = (
            f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import draw; draw({str(folder)!r})"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def give(self, stem: str, chart: str) -> None:
        """Have a chart drawn."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died: `finish` tells
            pickle.dump((stem, chart), self._process.stdin)
            self._process.stdin.flush()

    def finish(self) -> None:
        """Wait until all is drawn."""
        _, errors = self._process.communicate()
        if self._process.returncode:
            last = errors.decode(errors="replace").strip().rpartition("\n")[2]
            raise PomonaError(f"the figures could not be drawn: {last}")

    def end(self) -> None:
        """Kill the process, if it lives, and leave nothing open."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stderr):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def draw(folder: str) -> None:
    """Be such a process, until standard input ends."""
    import vl_convert

    vl_convert.vegalite_to_svg(_TINY)  # starts the engine
    for stem, chart in _given(sys.stdin.buffer):
        svg = vl_convert.vegalite_to_svg(chart)
        Path(folder, f"{stem}.svg").write_text(svg, encoding="utf-8")
        Path(folder, f"{stem}.pdf").write_bytes(in_order(vl_convert.svg_to_pdf(svg)))


def _given(pipe: IO[bytes]) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(EOFError):
        while True:
            yield pickle.load(pipe)


def in_order(pdf: bytes) -> bytes:
    """The PDF with each list of resources sorted: the converter writes them in an order of chance."""
    return re.sub(
        rb"(?:\n +/[a-z]+\d+ \d+ 0 R(?=\n))+",
        lambda found: b"".join(sorted(re.findall(rb"\n[^\n]+", found.group()))),
        pdf,
    )
