"""Charts as files, SVG and PDF, drawn by a few processes side by side.

Drawing is most of the cost of a report: the converter is a JavaScript engine of one thread, slow to start.
Processes of their own draw while this one writes the page.

The converter carries a font of its own, but would rather take the machine's of that name, and read its file
anew for each letter. So it is shown no fonts of the machine (`fonts.conf`), unless a chart has other letters.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from pomona.errors import PomonaError

Draw = Callable[[str, str], None]
"""Draws a chart, given as Vega-Lite under the name of its file."""

_MOST_PROCESSES = 4
_NO_FONTS = Path(__file__).with_name("fonts.conf")
# Latin, Greek, Cyrillic, and signs: what it has of those that names are made of.
_CARRIED = re.compile("[\t\n\r -~\xa0-\u036f\u0384-\u0513\u2012-\u2022…‰′″‹›€™←-↓∂∆∏∑−√∞≈≠≡≤≥■▲▼●]*")
_TINY = '{"data": {"values": [{}]}, "mark": "point"}'


@contextlib.contextmanager
def drawing(folder: Path) -> Iterator[Draw]:
    """Yield what draws charts into a folder, while other work goes on; all are drawn at the end.

    The processes start at once, to be ready when the first chart comes.
    """
    from pomona._jit import n_threads  # loads the compiler, which the painters can do without

    painters: list[_Painter] = []
    teams: dict[bool, Iterator[_Painter]] = {}

    def hire(own_font: bool) -> None:
        count = max(1, min(n_threads() - 1, _MOST_PROCESSES))  # this process keeps a core busy, too
        painters.extend(_Painter(folder, own_font) for _ in range(count))
        teams[own_font] = itertools.cycle(painters[-count:])

    def give(stem: str, chart: str) -> None:
        own_font = _CARRIED.fullmatch(chart) is not None
        if own_font not in teams:
            hire(own_font)
        next(teams[own_font]).give(stem, chart)

    try:
        hire(own_font=True)
        yield give
        for painter in painters:
            painter.finish()
    finally:
        for painter in painters:
            painter.end()


class _Painter:
    """A process that draws what comes on its standard input.

    own_font : with the converter's font alone.
    """

    def __init__(self, folder: Path, own_font: bool) -> None:
        program = (
            f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import draw; draw({str(folder)!r})"
        )
        fonts = {"FONTCONFIG_FILE": str(_NO_FONTS)} if own_font else {}
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | fonts,
        )
        self._messenger = ThreadPoolExecutor(1)  # waits at the pipe, which holds one or two charts

    def give(self, stem: str, chart: str) -> None:
        """Have a chart drawn."""
        self._messenger.submit(self._send, stem, chart)

    def _send(self, stem: str, chart: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died: `finish` tells
            pickle.dump((stem, chart), self._process.stdin)
            self._process.stdin.flush()

    def finish(self) -> None:
        """Wait until all is drawn."""
        self._messenger.shutdown()
        _, errors = self._process.communicate()
        if self._process.returncode:
            last = errors.decode(errors="replace").strip().rpartition("\n")[2]
            raise PomonaError(f"the figures could not be drawn: {last}")

    def end(self) -> None:
        """Kill the process, if it lives, and leave nothing open."""
        self._process.kill()
        self._process.wait()
        self._messenger.shutdown(cancel_futures=True)
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
