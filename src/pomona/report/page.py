"""The page: one HTML file with style, scripts, charts and numbers inside, which asks nobody for anything.

Its content security policy forbids every request and names the scripts by their digests, so that no text of a
spec, a dataset or a ranker can become code; Jinja escapes what is text, `as_json` what is data. Charts are
drawn by Vega-Embed with its expression interpreter, which needs no `eval`.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert
from markupsafe import Markup

from pomona._cache import SCRIPT_MARK, cache_part, is_private
from pomona.report.section import TEMPLATES, Report, as_json
from pomona.report.table import bodies
from pomona.report.theme import DARK, LIGHT, VARIABLES, css_variables, vega_config

_FOLDER = Path(__file__).parent


def page(report: Report) -> str:
    """The whole of an HTML file."""
    scripts = [vega(), (_FOLDER / "page.js").read_text(encoding="utf-8")]
    charts = {"config": vega_config(VARIABLES), "specs": [figure.spec for figure in report.figures]}
    return TEMPLATES.get_template("page.html.j2").render(
        report=report,
        datasets=report.datasets,
        choice=report.choice,
        bodies=bodies,
        policy=" ".join(f"'sha256-{_digest(script)}'" for script in scripts),
        # Our own files; everything else is escaped.
        style=Markup(_style()),
        scripts=[Markup(script) for script in scripts],
        charts=as_json(charts),
    )


def _style() -> str:
    light, dark = css_variables(LIGHT), css_variables(DARK)
    themes = f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return themes + (_FOLDER / "page.css").read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def vega() -> str:
    """Vega-Embed and all it needs, with its licences."""
    licenses = (_FOLDER / "vega-licenses.txt").read_text(encoding="utf-8")
    # Bundling takes a second, so the bundle of this version is kept where it can be.
    # It becomes a part of every report, so it must be our own: not from where others could have put it.
    kept = cache_part("vega") / f"vega-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
    is_ours = kept.parent.is_dir() and is_private(kept.parent)
    if is_ours and kept.is_file():
        bundle = kept.read_text(encoding="utf-8")
    else:
        bundle = SCRIPT_MARK.decode() + vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if is_ours and not kept.exists():
        with contextlib.suppress(OSError):
            handle, temporary = tempfile.mkstemp(dir=kept.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(bundle)
            Path(temporary).replace(kept)
    return f"/*\n{licenses}*/\n{bundle}"
