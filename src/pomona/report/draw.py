"""Charts as files, SVG and PDF, drawn by a few processes side by side.

Drawing is most of the cost of a report: the converter is a JavaScript engine of one thread, slow to start.
Processes of their own draw while this one writes the page.
"""

from __future__ import annotations

import contextlib
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pomona._jit import n_threads
from pomona.errors import PomonaError

_LEAST_SHARE = 4
"""Charts that a process must have, to be worth its start."""


@contextlib.contextmanager
def drawing(charts: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Write every chart, given as Vega-Lite under the name of its file; done when the context ends."""
    # The dearest first, dealt in turn: shares of about the same size.
    dealt = sorted(charts.items(), key=lambda chart: -len(chart[1]))
    n_processes = max(1, min(n_threads(), len(dealt) // _LEAST_SHARE))
    painters = [_start(dealt[first::n_processes], folder) for first in range(n_processes)]
    try:
        yield
        for painter in painters:
            _, errors = painter.communicate()
            if painter.returncode:
                last = errors.decode(errors="replace").strip().rpartition("\n")[2]
                raise PomonaError(f"the figures could not be drawn: {last}")
    finally:
        for painter in painters:
            painter.kill()
            painter.communicate()


def _start(charts: list[tuple[str, str]], folder: Path) -> subprocess.Popen[bytes]:
    program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import draw; draw()"
    painter = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert painter.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it died: its return code tells
        pickle.dump((charts, folder), painter.stdin)
        painter.stdin.flush()
    return painter


def draw() -> None:
    """Be such a process: draw what comes on standard input."""
    import vl_convert

    charts, folder = pickle.load(sys.stdin.buffer)
    for stem, chart in charts:
        svg = vl_convert.vegalite_to_svg(chart)
        (folder / f"{stem}.svg").write_text(svg, encoding="utf-8")
        (folder / f"{stem}.pdf").write_bytes(in_order(vl_convert.svg_to_pdf(svg)))


def in_order(pdf: bytes) -> bytes:
    """The PDF with each list of resources sorted: the converter writes them in an order of chance."""
    return re.sub(
        rb"(?:\n +/[a-z]+\d+ \d+ 0 R(?=\n))+",
        lambda found: b"".join(sorted(re.findall(rb"\n[^\n]+", found.group()))),
        pdf,
    )
