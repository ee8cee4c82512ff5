"""Charts as files, SVG and PDF, drawn by a few processes side by side.

Drawing is most of the cost of a report: the converter is a JavaScript engine of one thread, slow to start.
Processes of their own draw while this one writes the page.

The converter carries a font of its own, but would rather take the machine's of that name, and read its file
anew for each letter. So it is shown no fonts of the machine (`fonts.conf`), unless a chart has other letters.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pomona._pool import Pool, Worker
from pomona._threads import n_threads
from pomona.errors import InputError, PomonaError
from pomona.report.file import write_anew, write_new

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
    count = max(1, min(n_threads() - 1, _MOST_PROCESSES))  # this process keeps a core busy, too
    charts: list[Future[None]] = []
    with contextlib.ExitStack() as stack:

        @cache
        def pool(fonts: Path | None) -> Pool:
            environment = {} if fonts is None else {"FONTCONFIG_FILE": str(fonts)}
            return stack.enter_context(Pool(count, environment, _start_engine))

        def draw(stem: str, chart: str) -> None:
            fonts = _NO_FONTS if _CARRIED.fullmatch(chart) else None
            charts.append(pool(fonts).submit(Worker.call, _draw, folder / stem, chart))

        pool(_NO_FONTS)
        yield draw
        try:
            for chart in charts:
                chart.result()
        except ChildProcessError as error:
            raise PomonaError(f"the figures could not be drawn: {error}") from None


def draw_file(path: Path, chart: str) -> None:
    """Draw one chart, given as Vega-Lite, as the file's name says: .svg or .pdf."""
    if path.suffix.lower() not in (".svg", ".pdf"):
        raise InputError(
            f"ends in {path.suffix or 'nothing'!r}, expected a figure's name in .svg or .pdf", path
        )
    with TemporaryDirectory() as folder:
        with drawing(Path(folder)) as draw:
            draw("figure", chart)
        write_anew(path, Path(folder, f"figure{path.suffix.lower()}").read_bytes())


def _start_engine() -> None:
    import vl_convert

    vl_convert.vegalite_to_svg(_TINY)


def _draw(path: Path, chart: str) -> None:
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart)
    pdf = in_order(vl_convert.svg_to_pdf(svg))
    try:
        write_new(path.with_name(f"{path.name}.svg"), svg)
        write_new(path.with_name(f"{path.name}.pdf"), pdf)
    except OSError as error:
        raise InputError(f"figure {path.name} cannot be written: {error.strerror or error}") from None


def in_order(pdf: bytes) -> bytes:
    """The PDF with each list of resources sorted: the converter writes them in an order of chance."""
    return re.sub(
        rb"(?:\n +/[a-z]+\d+ \d+ 0 R(?=\n))+",
        lambda resources: b"".join(sorted(re.findall(rb"\n[^\n]+", resources.group()))),
        pdf,
    )
