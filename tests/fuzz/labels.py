"""The same documents in every form: arrays, frames, text, tables, and converted from one to another.

Labels are whole, fractions, below 0 or missing; ids are numbers of any size or texts, with blanks, with words
for what is missing, or of any alphabet; features are undefined, infinite or categories. All forms must give
one dataset, which is compared with the values that were drawn, or be refused where a form cannot hold them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import pomona as pm
from fuzz.target import in_one_line
from pomona.errors import InputError

N_SMALL = 30
_LABELS: tuple[Sequence[float | None], ...] = (
    (0, 1, 2, 3, 4),
    (0, 1, None),
    (0.5, 0.1, 1.25, 0),
    (-1, 0, 2),
    (-0.5, None, 1e-7, 16777216),
)
_WHOLE_IDS = (1, 2, 3, 10, -5, 2**53 + 1, 2**53 + 2, 2**63 - 1)
_TEXTS = ("a", "b", "NA", "null", "NULL", "nan", "01", "1", "1.0", "é", "東京", "x:y", "q-1", "True", "1e3")
_ODD_TEXTS = (*_TEXTS, " a", "a ", "a b", 'say "x"', "a,b", "a\tb", "#a", "'", "a\u00a0b", "-0", "+1")
_VALUES = (0.0, 1.0, -1.5, 0.1, 1e-7, 123456.789, 16777217.0, 1e-40, 3e38, 2.5, 1 / 3, 1e9 + 0.5, -0.0)
_CATEGORIES = ("NA", "null", "de", "fr", "é", "New York", "nan?", "x,y", "True")


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def case(self, random: np.random.Generator) -> str:
        drawn = _draw(random)
        try:
            expected = drawn.dataset()
        except InputError as error:
            return drawn.refused("an array", error)
        drawn.check(expected)
        judged = random.choice([*_WAYS])
        outcomes = {self._is_same(drawn, name, expected, evaluates=name == judged) for name in _WAYS}
        if not expected.categories:
            outcomes.add(self._is_converted(drawn, expected, random))
        return "refused by some" if "refused" in outcomes else "same"

    def _is_same(self, drawn: _Drawn, name: str, expected: pm.Dataset, *, evaluates: bool) -> str:
        try:
            found = _WAYS[name](drawn, self._folder / f"a.{name}")
        except InputError as error:
            return drawn.refused(name, error)
        if found is None:
            return "not for this form"
        drawn.check(found, name)
        assert found.fingerprint() == expected.fingerprint(), f"{name} gives other data"
        if not evaluates:
            return "same"
        scores = np.arange(expected.n_docs) * 7 % 5
        values = (
            pm.evaluate(data, scores, ["ap", "p@2", "ndcg(gain=linear)@3"]) for data in (found, expected)
        )
        assert len({tuple(value.values()) for value in values}) == 1, f"{name} is evaluated otherwise"
        return "same"

    def _is_converted(self, drawn: _Drawn, expected: pm.Dataset, random: np.random.Generator) -> str:
        """By two formats and back."""
        formats = [
            random.choice(("txt", "csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz")) for _ in range(3)
        ]
        try:
            path = self._folder / "first.parquet"
            if _table("parquet")(drawn, path) is None:
                return "not for this form"
            for number, name in enumerate(formats):
                for old in self._folder.glob(f"{number}.*"):
                    old.unlink()
                (path,) = pm.convert(path, self._folder / f"{number}.{name}")[:1]
            found = pm.read(path)
        except InputError as error:
            return drawn.refused(f"converting by {formats}", error)
        drawn.check(found, f"converted by {formats}")
        assert found.fingerprint() == expected.fingerprint(), f"converted by {formats} the data are others"
        return "same"


class _Drawn:
    """Documents as plain values."""

    def __init__(self, **columns: Any) -> None:
        self.labels: list[float | None] = columns["labels"]
        self.qids: list[int] | list[str] = columns["qids"]
        self.doc_ids: list[str] | None = columns["doc_ids"]
        self.features: dict[str, list[Any]] = columns["features"]
        self.is_plain: bool = columns["is_plain"]
        values = [value for column in self.features.values() for value in column]
        self.has_infinity = any(isinstance(value, float) and np.isinf(value) for value in values)
        self.has_categories = any(isinstance(value, str) for value in values)

    def dataset(self) -> pm.Dataset:
        """As arrays; categories only frames have."""
        if self.has_categories:
            return pm.Dataset.from_frame(self.frame(), label="label", qid="qid", doc_id=self.doc_id)
        X = np.array([[np.nan if v is None else v for v in column] for column in self.features.values()]).T
        return pm.Dataset(X, self.labels, self.qids, doc_ids=self.doc_ids, feature_names=list(self.features))

    @property
    def doc_id(self) -> str | None:
        return None if self.doc_ids is None else "doc_id"

    def columns(self) -> dict[str, list[Any]]:
        ids = {} if self.doc_ids is None else {"doc_id": self.doc_ids}
        return {"label": self.labels, "qid": self.qids, **ids, **self.features}

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.columns(), strict=False)

    def refused(self, name: str, error: InputError) -> str:
        """Refused may be what some form cannot hold, and no plain documents."""
        if self.is_plain:
            raise AssertionError(f"{name} refuses plain documents: {error}")
        return in_one_line(error)

    def check(self, data: pm.Dataset, name: str = "arrays") -> None:
        """Against the values themselves."""
        y = np.array([np.nan if label is None else label for label in self.labels], np.float32)
        assert np.array_equal(data.y, y, equal_nan=True), f"{name} has other labels: {data.y} for {y}"
        qids = list(map(str, data.qid.tolist()))
        assert qids == list(map(str, self.qids)), f"{name} has other queries: {qids} for {self.qids}"
        assert data.n_queries == len(set(self.qids)), f"{name} has other numbers of queries"
        ids = [""] * len(y) if data.doc_ids is None else list(data.doc_ids)
        assert ids == (self.doc_ids or [""] * len(y)), f"{name} has other ids: {ids} for {self.doc_ids}"
        assert list(data.feature_names) == list(self.features), f"{name} has other features"
        for j, (feature, column) in enumerate(self.features.items()):
            names = data.categories.get(j)
            if names is None:
                values = np.array([np.nan if value is None else value for value in column], np.float32)
                assert np.array_equal(data.X[:, j], values, equal_nan=True), f"{name} has another {feature}"
            else:
                codes = data.X[:, j].tolist()
                texts = [None if code != code else names[int(code)] for code in codes]
                assert texts == column, f"{name} has other categories {texts} for {column}"


def _draw(random: np.random.Generator) -> _Drawn:
    n, is_plain = random.integers(1, 9), bool(random.random() < 0.5)

    def some(pool: Sequence[Any], size: int = int(n)) -> list[Any]:
        return [pool[k] for k in random.integers(0, len(pool), size)]

    texts = _TEXTS if is_plain else _ODD_TEXTS
    qids = some(_WHOLE_IDS if random.random() < 0.5 else some(texts, 3))
    features: dict[str, list[Any]] = {}
    for j in range(random.integers(1, 4)):
        values = [*some(_VALUES, 3), *([] if random.random() < 0.5 else [None])]
        values += [] if is_plain or random.random() < 0.8 else [float("inf"), float("-inf")]
        features[f"f{j + 1}" if random.random() < 0.7 else f"é {j}"] = some(values)
    if not is_plain and random.random() < 0.5:
        features["genre"] = ["de", *some([*some(_CATEGORIES, 3), None])[1:]]  # NA alone would be no text
    return _Drawn(
        labels=some(_LABELS[random.integers(len(_LABELS))]),
        qids=qids,
        doc_ids=None if random.random() < 0.3 else [f"{text}{k}" for k, text in enumerate(some(texts))],
        features=features,
        is_plain=is_plain,
    )


def _table(name: str) -> Callable[[_Drawn, Path], pm.Dataset | None]:
    def made(drawn: _Drawn, path: Path) -> pm.Dataset | None:
        frame = drawn.frame()
        if name in ("csv", "csv.gz", "tsv"):
            if any(text != text.strip(" ") for text in [*map(str, drawn.qids), *(drawn.doc_ids or ())]):
                return None  # such blanks are left out
            text = frame.write_csv(separator="\t" if name == "tsv" else ",")
            path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        elif name == "jsonl":
            if drawn.has_infinity:
                return None
            rows = zip(*drawn.columns().values(), strict=True)
            lines = (json.dumps(dict(zip(drawn.columns(), row, strict=True))) for row in rows)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        elif name == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc(path)
        return pm.read(path)

    return made


def _letor(drawn: _Drawn, path: Path) -> pm.Dataset | None:
    ids = [*map(str, drawn.qids), *(drawn.doc_ids or ())]
    if drawn.has_categories or any(set(text) & set(' \t#"') or text != text.strip() for text in ids):
        return None
    lines = []
    for row, (label, qid) in enumerate(zip(drawn.labels, drawn.qids, strict=True)):
        words = ["nan" if label is None else repr(label), f"qid:{qid}"]
        for j, column in enumerate(drawn.features.values(), 1):
            words.append(f"{j}:{'NULL' if column[row] is None else repr(column[row])}")
        words += [] if drawn.doc_ids is None else [f"# docid = {drawn.doc_ids[row]}"]
        lines.append(" ".join(words) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    names = path.with_name(f"{path.name}.features.json")
    names.write_text(json.dumps(dict(enumerate(drawn.features, 1))), encoding="utf-8")
    return pm.read(path, undefined=float("nan"))


def _pandas(drawn: _Drawn, path: Path) -> pm.Dataset:
    frame = pd.DataFrame(drawn.columns())
    return pm.Dataset.from_frame(frame, label="label", qid="qid", doc_id=drawn.doc_id)


def _polars(drawn: _Drawn, path: Path) -> pm.Dataset:
    return pm.Dataset.from_frame(drawn.frame().lazy(), label="label", qid="qid", doc_id=drawn.doc_id)


_WAYS: dict[str, Callable[[_Drawn, Path], pm.Dataset | None]] = {
    "pandas": _pandas,
    "polars": _polars,
    "txt": _letor,
    **{name: _table(name) for name in ("csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow")},
}
