"""What is this file or directory? Models, data, comparisons and TREC files, known by their content.

Nothing in a file is run: models are arrays and text to us, and a spec's own rankers are known by name only.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path
from typing import Any

from pomona.data.catalog import COLLECTIONS, no_such_data
from pomona.data.compression import pieces, read_bytes
from pomona.data.read import read
from pomona.data.statistics import describe
from pomona.data.table import is_table, read_frame
from pomona.data.trec import parse_qrels, parse_run, read_qrels, read_run
from pomona.errors import InputError, PomonaError
from pomona.rankers.base import Ranker
from pomona.rankers.loading import load_model

Facts = dict[str, Any]

_MODEL = b"POMONA"
_LETOR = re.compile(rb"^[^\s#]+\s+(qid:\S+|\d+:\S+)")
_NUMBER = re.compile(rb"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$")
_FEW = 8
"""Names that are shown of a long list."""


def inspect(path: str | Path, **columns: Any) -> Facts:
    """What a file or directory is, how it was made, and how large it is.

    `columns` are the `label`, `qid` and `doc_id` of a table.
    """
    place = Path(path)
    if place.is_dir():
        return _directory(place)
    if not place.is_file():
        if str(path).lower() in COLLECTIONS:
            raise InputError(f"{path} is a collection, not a file: see `pomona stats {path}`")
        raise no_such_data(path)
    facts: Facts = {"path": str(path), "bytes": place.stat().st_size}
    if is_table(place):
        return facts | _table(place, columns)
    kind = text_kind(place)
    if kind == "model":
        return facts | _model(place, "Pomona's model")
    if kind == "LETOR text":
        return facts | {"what": kind} | _data(place, columns)
    if kind == "scores":
        n = len(read_bytes(place).rstrip().splitlines())
        return facts | {"what": "scores, one a line", "documents": n}
    if kind == "TREC judgments":
        qrels = read_qrels(place)
        levels = sorted({int(label) for label in qrels.labels.tolist()})
        sizes = {"queries": len(qrels.qids), "documents": len(qrels.labels)}
        return facts | {"what": kind, **sizes, "labels": levels}
    if kind == "TREC run":
        run = read_run(place)
        tag = run.tag.decode(errors="replace")
        sizes = {"queries": len(run.qids), "documents": len(run.scores)}
        return facts | {"what": kind, **sizes, "tag": tag}
    try:
        return facts | _model(place, "a model of another trainer")
    except PomonaError as error:
        reason = str(error).removeprefix(f"{place}: ")
        raise InputError(f"is none of what Pomona knows (as a model: {reason})", path) from None


def text_kind(path: Path) -> str | None:
    """What the first lines of a file read as, if that is certain.

    `model` (Pomona's own), `LETOR text`, `scores`, `TREC judgments` or `TREC run`.
    """
    start = next(pieces(path), b"")[:100_000]
    if start.startswith(_MODEL):
        return "model"
    whole = start if len(start) < 100_000 else start.rpartition(b"\n")[0]
    lines = [line for line in whole.split(b"\n") if line.strip() and not line.startswith(b"#")]
    if not lines:
        return None
    if _LETOR.match(lines[0]):
        return "LETOR text"
    if all(map(_NUMBER.match, lines)):
        return "scores"
    text, n_fields = b"\n".join(lines), len(lines[0].split())
    if n_fields == 4 and _is_readable(parse_qrels, text):
        return "TREC judgments"
    return "TREC run" if n_fields == 6 and _is_readable(parse_run, text) else None


def _is_readable(parse: Any, text: bytes) -> bool:
    try:
        parse(text)
    except PomonaError:
        return False
    return True


def _model(path: Path, what: str) -> Facts:
    """A model: its kind, parameters, training and size."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        ranker = load_model(path)
    names = list(ranker.feature_names_)
    facts: Facts = {
        "what": what,
        "ranker": type(ranker).__name__,
        "features": ranker.n_features_in_,
        "feature_names": names if len(names) <= _FEW else [*names[:_FEW], "…"],
    }
    if type(ranker).__name__ != "Imported":
        parameters = ranker.get_params(deep=False)
        facts["parameters"] = {
            name: value if _is_plain(value) else str(value) for name, value in parameters.items()
        }
    if chosen := getattr(ranker, "chosen_", None):
        facts["chosen"] = dict(chosen)
    for name in ("best_iteration_", "interrupted_"):
        if hasattr(ranker, name):
            facts[name.rstrip("_")] = getattr(ranker, name)
    if curves := getattr(ranker, "evals_", None):
        facts["last_values"] = {part: values[-1] for part, values in curves.items() if values}
    facts |= _shape(ranker)
    if notes:
        facts["notes"] = [str(note.message) for note in notes]
    return facts


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | list | tuple)


def _shape(ranker: Ranker) -> Facts:
    """How large a model is, in its own terms."""
    forests = getattr(ranker, "models_", [])
    if forests:
        leaves = [int(n) for forest in forests for n in (forest.leaf_ptr[1:] - forest.leaf_ptr[:-1])]
        shape: Facts = {"trees": len(leaves), "leaves": sum(leaves), "most_leaves": max(leaves, default=0)}
        return shape if len(forests) == 1 else {"forests": len(forests), **shape}
    if hasattr(ranker, "coef_"):
        return {"weights_not_0": int((ranker.coef_ != 0).sum())}
    network = getattr(getattr(ranker, "model_", None), "architecture", None)
    return (
        {} if network is None else {"network": dataclasses.asdict(network), "weights": network.n_parameters}
    )


def _data(path: Path, columns: Facts) -> Facts:
    """Labelled data: the numbers of the dataset table."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        data = read(path, **columns, undefined=float("nan"))
    statistics = describe(data)
    names = list(data.feature_names)
    facts: Facts = {
        "queries": statistics.n_queries,
        "documents": statistics.n_docs,
        "features": data.n_features,
        "documents_a_query": [statistics.min_docs, round(statistics.mean_docs, 2), statistics.max_docs],
        "labels": {f"{label:g}": count for label, count in statistics.label_counts.items()},
        **({"not_judged": statistics.n_unjudged} if statistics.n_unjudged else {}),
        "undefined_values": statistics.n_undefined,
        "document_ids": data.doc_ids is not None,
        "feature_names": names if len(names) <= _FEW else [*names[:_FEW], "…"],
    }
    return facts | ({"notes": [str(note.message) for note in notes]} if notes else {})


def _table(path: Path, columns: Facts) -> Facts:
    """A table: as data where it has labels and queries, else its columns."""
    try:
        return {"what": "a table of labelled documents"} | _data(path, columns)
    except PomonaError as error:
        frame = read_frame(path, columns.get("qid", "qid"), columns.get("doc_id"))
        kinds = {name: str(kind) for name, kind in frame.schema.items()}
        reason = str(error).removeprefix(f"{path}: ")
        return {"what": "a table", "rows": len(frame), "columns": kinds, "as_labelled_data": reason}


def _directory(path: Path) -> Facts:
    """A comparison, or a directory with folds; other directories are not walked through."""
    if (path / "store.sqlite").is_file():
        return _size_of_files(path) | _comparison(path)
    from pomona.data.catalog import load_folds

    try:
        folds = load_folds(path, columns={})
    except PomonaError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise InputError(f"is neither a comparison nor a directory with folds ({reason})", path) from None
    parts = {name: describe(part) for name, part in folds.parts(undefined=float("nan")).items()}
    return _size_of_files(path) | {
        "what": "a directory with folds",
        "parts": {name: {"queries": one.n_queries, "documents": one.n_docs} for name, one in parts.items()},
    }


def _size_of_files(path: Path) -> Facts:
    """How many files a directory has, and how large they are together."""
    sizes = [file.stat().st_size for file in path.rglob("*") if file.is_file()]
    return {"path": str(path), "files": len(sizes), "bytes": sum(sizes)}


def _comparison(path: Path) -> Facts:
    from pomona.experiments.results import read_results

    results = read_results(path)
    states = results.runs["state"].value_counts().sort("state")
    known = ("command", "pomona", "python", "machine", "started", "total_seconds", "seeds")
    return {
        "what": "a comparison",
        "datasets": results.runs["dataset"].unique(maintain_order=True).to_list(),
        "rankers": results.runs["ranker"].unique(maintain_order=True).to_list(),
        "measures": list(results.spec.measures),
        "runs": dict(states.rows()),
        "searched_trials": len(results.trials),
        **{name: results.facts[name] for name in known if results.facts.get(name) is not None},
        "report": (path / "report.html").is_file(),
    }
