"""The page: one HTML file with style, scripts, charts and numbers inside, which asks nobody for anything.

Its content security policy forbids every request and names the scripts by their digests, so that no text of a
spec, a dataset or a ranker can become code; Jinja escapes what is text, `_json` what is data. Charts are
drawn by Vega-Embed with its expression interpreter, which needs no `eval`.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import polars as pl
import vl_convert
from markupsafe import Markup

from pomona._cache import cache_directory
from pomona.report.answer import answers
from pomona.report.digits import seconds, significant
from pomona.report.drawings import Drawing, chosen_pair, drawings_of, stems_of
from pomona.report.names import datasets_of, file_names, measure_title, rankers_of
from pomona.report.table import bodies
from pomona.report.tables import tables_of
from pomona.report.theme import DARK, LIGHT, VARIABLES, css_variables, vega_config

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings

_FOLDER = Path(__file__).parent
_DIGITS = 4  # of a query's value; the page keeps it as an integer


def page(findings: Findings, drawings: Sequence[Drawing] | None = None) -> str:
    """The whole of `report.html`."""
    drawn = drawings_of(findings) if drawings is None else list(drawings)
    scripts = [_vega(), (_FOLDER / "page.js").read_text(encoding="utf-8")]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    datasets = datasets_of(findings)
    results = findings.results
    return environment.get_template("page.html.j2").render(
        findings=findings,
        spec=results.spec,
        facts=_facts(results.facts),
        command=results.facts.get("command") or "",
        toml=results.spec.to_toml(),
        summary=_summary(findings),
        datasets=datasets,
        answers=answers(findings),
        figures={
            (drawing.dataset, drawing.name): _figure(number, stem, drawing)
            for number, (stem, drawing) in enumerate(stems_of(drawn).items())
        },
        tables={(dataset, table.name): table for dataset, table in tables_of(findings)},
        bodies=bodies,
        stems=file_names(datasets),
        pairs={dataset: chosen_pair(findings, dataset) for dataset in datasets},
        rankers={dataset: rankers_of(findings, dataset) for dataset in datasets},
        digests=results.datasets.select("dataset", "digest").rows(),
        audit=results.warnings.to_dicts(),
        main=measure_title(findings.main),
        level=f"{1 - findings.alpha:.0%}",
        measure_title=measure_title,
        policy=" ".join(f"'sha256-{_digest(script)}'" for script in scripts),
        # Our own files; everything else is escaped.
        style=Markup(_style()),
        scripts=[Markup(script) for script in scripts],
        charts=_json({"config": vega_config(VARIABLES), "specs": [drawing.spec for drawing in drawn]}),
        queries=_json([_queries(findings, dataset) for dataset in datasets]),
    )


def _figure(number: int, stem: str, drawing: Drawing) -> dict[str, Any]:
    return {
        "number": number,
        "stem": stem,
        "caption": drawing.caption,
        "label": drawing.spec["description"],
        "height": drawing.spec.get("height", 220),
    }


def _summary(findings: Findings) -> str:
    """What was compared, in a line."""
    runs, spec = findings.results.runs, findings.results.spec
    folds = {part["fold"].n_unique() for part in runs.partition_by("dataset")}
    n_folds = "–".join(f"{n}" for n in sorted({min(folds), max(folds)}))
    queries = findings.table.group_by("dataset").agg(pl.col("n_queries").max())["n_queries"].sum()
    facts = [
        _counted(len(rankers_of(findings)), "ranker"),
        _counted(len(datasets_of(findings)), "dataset"),
        f"{queries:,} test queries".replace(",", " "),
        f"{n_folds} fold{'s' if n_folds != '1' else ''}",
        _counted(len(spec.seeds), "seed"),
    ]
    spent = findings.results.facts.get("total_seconds")
    return " · ".join([*facts, *([f"{seconds(spent)} in all"] if spent else [])])


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def _facts(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What is worth knowing to repeat it, as text; the command and the spec have their own place."""
    return [
        (name.replace("_", " "), _text(value))
        for name, value in facts.items()
        if name not in ("command", "spec") and value is not None
    ]


def _text(value: Any) -> str:
    if isinstance(value, float):
        return significant(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _queries(findings: Findings, dataset: str) -> dict[str, Any]:
    """The main measure of every query, and the documents of some, column by column to keep the page small."""
    frame = findings.queries.filter(dataset=dataset)
    rankers = [ranker for ranker in rankers_of(findings, dataset) if ranker in frame.columns]
    scale = 10**_DIGITS
    places = {key: i for i, key in enumerate(frame.select("fold", "qid").rows())}
    opened: dict[int, dict[str, Any]] = {}
    documents = findings.documents.filter(dataset=dataset)
    for (fold, qid), docs in documents.group_by("fold", "qid", maintain_order=True):
        if (fold, qid) in places:
            opened[places[fold, qid]] = _documents(docs, rankers)
    pairs = findings.pairs.filter(dataset=dataset, measure=findings.main)
    return {
        "rankers": rankers,
        "measure": measure_title(findings.main),
        "digits": _DIGITS,
        "folds": frame["fold"].to_list(),
        "qids": [str(qid) for qid in frame["qid"]],
        "values": [
            [None if v is None else round(v * scale) for v in frame[ranker].fill_nan(None).to_list()]
            for ranker in rankers
        ],
        "documents": opened,
        "pairs": [
            [rankers.index(p["a"]), rankers.index(p["b"]), *(_short(p[key]) for key in _OF_PAIR)]
            for p in pairs.iter_rows(named=True)
            if p["a"] in rankers and p["b"] in rankers
        ],
    }


_OF_PAIR = ("difference", "low", "high", "holm_p", "wins", "ties", "losses")


def _documents(docs: pl.DataFrame, rankers: list[str]) -> dict[str, Any]:
    features = [json.loads(text) if text else {} for text in docs["features"]]
    return {
        "ids": [str(doc) for doc in docs["doc"]],
        "labels": docs["label"].to_list(),
        "scores": [[_short(x) for x in docs[f"score:{ranker}"]] for ranker in rankers],
        "ranks": [docs[f"rank:{ranker}"].to_list() for ranker in rankers],
        "features": [[[name, _short(value)] for name, value in of.items()] for of in features],
    }


def _short(value: Any) -> Any:
    """A number with more digits than are shown; NaN is nothing."""
    if isinstance(value, float):
        return float(f"{value:.7g}") if value == value and abs(value) != float("inf") else None
    return value


def _json(value: Any) -> Markup:
    """JSON for a script element: no character that could end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _style() -> str:
    light, dark = css_variables(LIGHT), css_variables(DARK)
    themes = f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return themes + (_FOLDER / "page.css").read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _vega() -> str:
    """Vega-Embed and all it needs, with its licences."""
    licenses = (_FOLDER / "vega-licenses.txt").read_text(encoding="utf-8")
    # Bundling takes a second, so the bundle of this version is kept where it can be.
    kept = cache_directory() / f"vega-{version('vl-convert-python')}.js"
    if kept.is_file():
        bundle = kept.read_text(encoding="utf-8")
    else:
        bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        with contextlib.suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=kept.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(bundle)
            Path(temporary).replace(kept)
    return f"/*\n{licenses}*/\n{bundle}"
