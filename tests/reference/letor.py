"""The LETOR format, slow and plain: one line after the other, one token after the other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
TOKEN = re.compile(rb"[^ \t]+")
INTEGER = re.compile(rb"-?[1-9]\d*|0")


class RefusedError(Exception):
    """The first thing in a text that is not in the format."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(line, column)
        self.line, self.column = line, column


@dataclass
class Parsed:
    """Documents in input order."""

    labels: list[np.float32] = field(default_factory=list)
    queries: list[bytes] = field(default_factory=list)
    features: list[dict[int, np.float32 | None]] = field(default_factory=list)
    comments: list[bytes] = field(default_factory=list)
    doc_ids: list[bytes] = field(default_factory=list)

    def rows_by_query(self) -> dict[bytes, list[int]]:
        rows: dict[bytes, list[int]] = {}
        for row, query in enumerate(self.queries):
            rows.setdefault(query, []).append(row)
        return rows

    def order(self) -> list[int]:
        return [row for rows in self.rows_by_query().values() for row in rows]

    def query_ids(self) -> list[int] | list[str]:
        queries = list(self.rows_by_query())
        if all(INTEGER.fullmatch(query) and -(2**63) <= int(query) < 2**63 for query in queries):
            return [int(query) for query in queries]
        return [query.decode() for query in queries]

    def table(self, undefined: float) -> np.ndarray:
        width = max((max(features, default=0) for features in self.features), default=0)
        X = np.full((len(self.features), width), undefined, np.float32)
        for row, features in enumerate(self.features):
            for feature, value in features.items():
                if value is not None:
                    X[row, feature - 1] = value
        return X

    def n_undefined(self) -> int:
        width = self.table(0).shape[1]
        n_defined = 0
        for features in self.features:
            n_defined += sum(value is not None and not np.isnan(value) for value in features.values())
        return width * len(self.features) - n_defined


def value_of(text: bytes) -> np.float32 | None:
    if not NUMBER.fullmatch(text):
        return None
    with np.errstate(over="ignore"):
        value = np.float32(float(text))
    is_word = text.lower().endswith((b"nan", b"inf", b"infinity"))
    return None if np.isinf(value) and not is_word else value


def parse(text: bytes, largest_id: int) -> Parsed:
    parsed = Parsed()
    for number, raw in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        content, hash_sign, comment = raw.removesuffix(b"\r").partition(b"#")
        tokens = [(match.start(), match.group()) for match in TOKEN.finditer(content)]
        if not tokens:
            continue

        def refused(at: int, number: int = number, content: bytes = content) -> RefusedError:
            return RefusedError(number, len(content[:at].decode(errors="replace")) + 1)

        label_at, label_text = tokens[0]
        label = value_of(label_text)
        if label is None or np.isinf(label):
            raise refused(label_at)
        at, query = tokens[1] if len(tokens) > 1 else (len(content), b"")
        if not query.startswith(b"qid:"):
            raise refused(at)
        query = query[4:]
        if not 1 <= len(query) <= 255 or min(query) <= 0x20:
            raise refused(at + 4)
        # A label that float32 would round is well written: it is refused after what is not.
        if abs(label) >= 2**24 and Decimal(label_text.decode()) != int(label):
            raise refused(label_at)
        try:
            query.decode()
        except UnicodeDecodeError:
            raise refused(at + 4) from None
        features: dict[int, np.float32 | None] = {}
        for at, token in tokens[2:]:
            match = re.match(rb"(\d+):", token)
            if not match:
                raise refused(at)
            feature = int(match[1])
            if feature == 0 or feature in features or feature > largest_id:
                raise refused(at)
            value_text = token[match.end() :]
            features[feature] = value_of(value_text)
            if features[feature] is None and value_text != b"NULL":
                raise refused(at + match.end())
        parsed.labels.append(label)
        parsed.queries.append(query)
        parsed.features.append(features)
        comment = comment.strip(b" \t\r") if hash_sign else b""
        parsed.comments.append(comment)
        found = re.match(rb"docid[ \t]*=[ \t]*([^ \t]*)|([^ \t]*)", comment)
        assert found is not None
        parsed.doc_ids.append(found[1] if found[1] is not None else found[2])
    return parsed
