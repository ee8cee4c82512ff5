"""Specs of comparisons with words changed: refused in one line, or written again as what they mean."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from fuzz.target import damaged, in_one_line
from pomona.errors import PomonaError
from pomona.experiments.spec import read_spec

N_SMALL = 150
TEXT = """\
name = "fuzzed"
measures = ["ndcg@10", "ap", "p(relevant=2)@3", "letor4:ndcg@5"]
conventions = ["definition", "letor4"]
seeds = [0, 1, 2]
baseline = "MART"
n_folds = 3
time_limit = 60.5

[[dataset]]
name = "one"
simulate = { queries = 24, docs_per_query = 8, features = 5, seed = 3 }
folds = [1, 2]

[[dataset]]
simulate = { queries = 12 }

[[ranker]]
ranker = "mart"
label = "MART"
n_trees = 20
learning_rate = 0.1
search.n_leaves = [3, 7]

[[ranker]]
ranker = "lambdamart"
each.n_trees = [3, 4]
label = "L{n_trees}"
early_stopping = "none"

[search]
n_trials = 5
"""
_WORD = re.compile(r"[\w.@:()=]+|\"[^\"]*\"|\[[^\[\]]*\]|\{[^{}]*\}|\S")
_WORDS = (
    *("0", "-1", "1", "3", "0.5", "1e400", "nan", "inf", "true", "9" * 30, '""', '"none"', '"mart"', '"ap"'),
    *('"ndcg@0"', '"x"', "[]", "[1]", '["ap"]', "[[]]", "{}", "{ queries = 3 }", "[[ranker]]", "[[dataset]]"),
    *(
        "[search]",
        "seeds",
        "ranker",
        "label",
        "each.n_trees",
        "search.n_leaves",
        "=",
        ",",
        "\n",
        "1979-05-27",
    ),
    *('"ä\\u0000"', "'''\n'''", "simulate", "n_trees", "{ least = 1, most = 5 }", "[3, 3]"),
)


class Target:
    def __init__(self, folder: Path) -> None:
        self._path, self._again = folder / "spec.toml", folder / "again.toml"

    def case(self, random: np.random.Generator) -> str:
        text = TEXT
        for _ in range(random.choice([0, 1, 1, 1, 2])):
            places = [match.span() for match in _WORD.finditer(text)]
            start, end = places[random.integers(len(places))]
            first, last = places[random.integers(len(places))]
            word = text[first:last] if random.random() < 0.4 else str(random.choice(_WORDS))
            text = text[:start] + (word if random.random() < 0.9 else "") + text[end:]
        content = text.encode()
        if random.random() < 0.2:
            content = damaged(content, random, b'0"[]{}=.\n#\\\xff\x00')
        self._path.write_bytes(content)
        try:
            spec = read_spec(self._path)
        except PomonaError as error:
            return in_one_line(error)
        self._again.write_text(spec.to_toml())
        again = read_spec(self._again)
        assert again.to_toml() == spec.to_toml(), "written and read again it is another spec"
        assert [row.label for row in again.rows()] == [row.label for row in spec.rows()]
        return "read"
