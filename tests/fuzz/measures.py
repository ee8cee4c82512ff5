"""Every measure under every tool that has it beside a plain twin; its text and back; ties by all orders.

The twins know the tools from docs/conventions.md and import nothing of Pomona. Labels may be fractions, NaN,
negative or large, scores tied, infinite or apart by less than single precision, judged documents missing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.target import in_one_line
from pomona._registry import entries
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.judge import evaluate, judge
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure
from pomona.rankers.evaluator import RankingEvaluator

N_SMALL = 150

TIES = {
    "trec_eval": "docid",
    "gdeval": "docid",
    "catboost": "worst",
    "sklearn": "expected",
    "definition": "expected",
}
SINGLE = ("trec_eval", "xgboost")
LABELS = (
    (0, 1),
    (0, 1, 2),
    (0, 1, 2, 3, 4),
    (0, 0.25, 0.7, 1.5),
    (0, 1, np.nan),
    (-2, -0.5, 0, 2),
    (1, 5, 40),
)


class RefusedError(Exception):
    """The twin cannot say."""


# ---- the twins: y is the labels in ranked order, pool those of all judged documents


def unit(y: Any) -> Any:
    """Labels, −1 where nobody judged."""
    return np.where(y >= 0, y, -1.0)


def whole(y: Any) -> Any:
    if (unit(y) != np.floor(unit(y))).any():
        raise RefusedError
    return unit(y).astype(int)


def gain(tool: str, y: Any, given: Any = None) -> Any:
    y = unit(y)
    if given == "linear" or (given is None and tool in ("sklearn", "catboost")):
        return np.maximum(y, 0)
    if given is None and tool in ("letor3", "letor4", "mslr"):
        table = [0, 1, 3, 7, 15] if tool == "mslr" else [0, 1, 3]
        return np.array([table[g] if 0 <= g < len(table) else 0 for g in whole(y)], float)
    if given is None and tool == "trec_eval":
        return np.maximum(np.floor(y), 0)
    if given is None and tool in ("yahoo", "ranklib"):
        y = np.floor(y)
    return 2.0 ** np.maximum(y, 0) - 1


def discounted(tool: str, gains: Any, k: int | None) -> float:
    letor = tool in ("letor3", "letor4", "mslr")
    return sum(g / (math.log2(max(r, 2)) if letor else math.log2(r + 1)) for r, g in enumerate(gains[:k], 1))


def relevant(tool: str, y: Any, given: Any = None) -> Any:
    y = unit(y).astype(np.float32)
    if given is not None:
        return (np.isin(y, np.float32(given)) if isinstance(given, tuple) else y >= np.float32(given)) & (
            y >= 0
        )
    rules: dict[str, Callable[[Any], Any]] = {
        "letor3": lambda y: (y == 1) | (y == 2),
        "letor4": lambda y: (y == 1) | (y == 2),
        "mslr": lambda y: (y == 2) | (y == 3) | (y == 4),
        "ranklib": lambda y: y > 0,
        "lightgbm": lambda y: y > 0.5,
        "catboost": lambda y: y > 0.5,
    }
    return rules.get(tool, lambda y: y >= 1)(y)


def dcg(tool, y, pool, k, p):
    return discounted(tool, gain(tool, y, p.get("gain")), k)


def ndcg(tool, y, pool, k, p):
    if tool in ("letor3", "letor4", "mslr") and k is not None and len(y) < k:
        gain(tool, pool, p.get("gain"))
        ideal = sorted(gain(tool, pool, p.get("gain")))[::-1]
        return 0.0 if discounted(tool, ideal, k) >= 0 else 1.0
    ideal = discounted(tool, sorted(gain(tool, pool, p.get("gain")))[::-1], k)
    empty = p.get("empty", 1.0 if tool in ("yahoo", "lightgbm", "xgboost", "catboost") else 0.0)
    return dcg(tool, y, pool, k, p) / ideal if ideal > 0 else empty


def meanndcg(tool, y, pool, k, p):
    gains, best = gain(tool, y), sorted(gain(tool, pool))[::-1]
    n, total = min(len(y), k or len(y)), 0.0
    for i in range(1, n + 1):
        ideal = discounted(tool, best, i)
        total += discounted(tool, gains, i) / ideal if ideal > 0 else 0.0
    return total / n


def p(tool, y, pool, k, given):
    n = len(y)
    hits = relevant(tool, y, given.get("relevant"))[:k].sum()
    if k is None or k <= n:
        return hits / (k or n)
    return 0.0 if tool == "letor3" else hits / (n if tool in ("ranklib", "xgboost", "catboost") else k)


def recall(tool, y, pool, k, given):
    n = relevant(tool, pool, given.get("relevant")).sum()
    return relevant(tool, y, given.get("relevant"))[:k].sum() / n if n else float(tool == "catboost")


def ap(tool, y, pool, k, given):
    hits, n = relevant(tool, y, given.get("relevant")), relevant(tool, pool, given.get("relevant")).sum()
    if tool in ("letor3", "letor4", "mslr", "ranklib"):
        k = None
    if tool in ("lightgbm", "xgboost", "catboost") and k is not None:
        n = min(n, k)
    total = sum(hits[: r + 1].mean() for r in np.flatnonzero(hits[:k]))
    return total / n if n else float(tool in ("lightgbm", "xgboost"))


def rr(tool, y, pool, k, given):
    first = np.flatnonzero(relevant(tool, y, given.get("relevant"))[:k])
    value = 1 / (1 + first[0]) if len(first) else 0.0
    return float(np.float32(value)) if tool == "ranklib" else value


def success(tool, y, pool, k, given):
    return float(relevant(tool, y, given.get("relevant"))[:k].any())


def walk(chances, k, weight):
    reading, total = 1.0, 0.0
    for r, chance in enumerate(chances[:k], 1):
        total += reading * chance * weight(r)
        reading *= 1 - chance
    return total


def chances_of(tool, y, given):
    if tool == "catboost":
        return np.maximum(unit(y), 0)
    highest = given.get("max_grade", 4)
    if tool == "definition" and unit(y).max(initial=0) > highest:
        raise RefusedError
    return gain(tool, y) / 2.0**highest


def err(tool, y, pool, k, given):
    chances_of(tool, pool, given)
    return walk(chances_of(tool, y, given), None if tool == "yahoo" else k, lambda r: 1 / r)


def nerr(tool, y, pool, k, given):
    ideal = walk(sorted(chances_of(tool, pool, given))[::-1], k, lambda r: 1 / r)
    return err(tool, y, pool, k, given) / ideal if ideal > 0 else 0.0


def pfound(tool, y, pool, k, given):
    if tool == "catboost":
        return walk(np.maximum(unit(y), 0), k, lambda r: 0.85 ** (r - 1))
    table = [0.0, 0.07, 0.14, 0.41, 0.61]
    if max(whole(y).max(initial=0), whole(pool).max(initial=0)) > 4:
        raise RefusedError
    return walk([table[max(g, 0)] for g in whole(y)], k, lambda r: 0.85 ** (r - 1))


def rbp(tool, y, pool, k, given):
    stays = given.get("p", 0.8)
    return (1 - stays) * sum(h * stays**r for r, h in enumerate(relevant(tool, y, given.get("relevant"))[:k]))


def wta(tool, y, pool, k, given):
    return float(relevant(tool, y, given.get("relevant"))[0])


def best(tool, y, pool, k, given):
    return max(float(unit(y)[:k].max()), 0.0)


def gap(tool, y, pool, k, given):
    ranked, all_ = np.maximum(whole(y), 0), np.maximum(whole(pool), 0)
    total = all_.sum()
    pairs = sum(np.minimum(ranked[:n], ranked[n - 1]).sum() / n for n in range(1, len(ranked[:k]) + 1))
    return pairs / total if total else 0.0


def seznam(lowest):
    def sr(tool, y, pool, k, given):
        steep = (0.702, 0.134, 0.047, 0.035, 0.020, 0.015, 0.011)
        flat = (0.40, 0.16, 0.10, 0.06, 0.045, 0.035, 0.030)
        values = np.array((0.0, 0.06, 0.33, 0.60, 1.17))
        if max(whole(y).max(initial=0), whole(pool).max(initial=0)) > lowest + 4:
            raise RefusedError
        worth = np.where(whole(y) < lowest, 0.0, values[np.clip(whole(y) - lowest, 0, 4)])
        if (whole(pool) == lowest + 4).any():
            return min(1.0, sum(w * v for w, v in zip(steep, worth[:k], strict=False)))
        return min(1.0, sum(w * v / 0.60 for w, v in zip(flat, worth[:k], strict=False)))

    return sr


TWINS: dict[str, Callable[..., float]] = {
    **{
        "dcg": dcg,
        "ndcg": ndcg,
        "meanndcg": meanndcg,
        "p": p,
        "recall": recall,
        "ap": ap,
        "rr": rr,
        "err": err,
    },
    **{"success": success, "nerr": nerr, "pfound": pfound, "rbp": rbp, "wta": wta, "best": best, "gap": gap},
    **{"sr": seznam(1), "sr4": seznam(0)},
}
PARAMETERS: dict[str, Callable[[np.random.Generator], dict[str, Any]]] = {
    "ndcg": lambda random: {"gain": str(random.choice(["exp2", "linear"])), "empty": float(random.random())},
    "dcg": lambda random: {"gain": str(random.choice(["exp2", "linear"]))},
    "rbp": lambda random: {"p": float(random.random()), "relevant": 0.7},
    **{name: lambda random: {"relevant": 0.7} for name in ("p", "recall", "success", "wta")},
    **{name: lambda random: {"relevant": (1.0, 0.7)} for name in ("ap", "rr")},
    **{name: lambda random: {"max_grade": int(random.integers(1, 9))} for name in ("err", "nerr")},
}


class Target:
    def __init__(self, folder: Path) -> None:
        assert set(TWINS) == set(entries("measures"))

    def case(self, random: np.random.Generator) -> str:
        name = str(random.choice(sorted(TWINS)))
        tool = str(random.choice(["definition", *entries("measures")[name].load().conventions]))
        k = None if random.random() < 0.3 else int(random.integers(1, 8))
        given = PARAMETERS[name](random) if name in PARAMETERS and random.random() < 0.4 else {}
        if name in ("err", "nerr") and tool != "definition":
            given = {}
        one: Measure = entries("measures")[name].load()(k=k, convention=tool, **given)
        again = measure(str(one))
        # "no cut-off" is not written where there is none by rule
        assert (again, again.given | {"k"}) == (one, one.given | {"k"}), f"{one!r} is read back as {again!r}"
        assert one.under("definition").under(tool) == one or one.k != k, f"{one} is lost under conventions"

        values = np.array(LABELS[random.integers(len(LABELS))], np.float32)
        sizes = random.integers(1, 7, random.integers(1, 5))
        ptr = np.append(0, np.cumsum(sizes))
        labels = random.choice(values, ptr[-1])
        kinds = [0.0, -0.0, 1.0, 0.7, 0.700000001, np.inf, -np.inf]
        scores = (
            random.choice(kinds, ptr[-1])
            if random.random() < 0.7
            else random.permutation(ptr[-1]).astype(float)
        )
        ids = [f"d{i}" for i in random.permutation(int(ptr[-1]))]
        more = random.choice(values, (len(sizes), random.integers(0, 3)))
        pools = [
            np.append(labels[a:b], extra).astype(float)
            for a, b, extra in zip(ptr, ptr[1:], more, strict=False)
        ]
        documents = ScoredQueries(
            labels, scores, ptr, ids, np.concatenate(pools), np.append(0, np.cumsum([len(x) for x in pools]))
        )
        expected = self._expected(one, name, given, labels, scores, ptr, ids, pools)
        try:
            found = judge(documents, [one])[0].values
        except InputError as error:
            if expected:
                raise AssertionError(f"{one} is refused: {error}") from None
            return in_one_line(error)
        assert expected, f"{one} gives {found} where it should refuse"
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9), f"{one}: {found}, expected {expected}"
        if not more.size:
            self._same_everywhere(one, labels, scores, ptr, ids, random)
        return "equal"

    def _expected(self, one, name, given, labels, scores, ptr, ids, pools) -> list[float]:
        """The values of the queries by the twin; none where it refuses."""
        tool, twin = one.convention, TWINS[name]
        judged = np.concatenate(pools)[np.concatenate(pools) >= 0]
        if tool == "xgboost" and name in ("ap", "p") and not np.isin(judged, (0, 1)).all():
            return []
        # Tools that stop at a label below 0, or count it in their own way; whole labels for 2^l − 1.
        reads_all = {"lightgbm": ("ap",), "catboost": ("ap", "p", "recall", "rr")}
        is_strict = tool in ("yahoo", "ranklib", "xgboost", "sklearn", *reads_all)
        if is_strict and name not in reads_all.get(tool, ()) and (np.concatenate([labels, *pools]) < 0).any():
            return []
        highest = {"lightgbm": 30, "xgboost": 31}.get(tool)
        if (
            highest
            and name == "ndcg"
            and "gain" not in given
            and not np.isin(judged, range(highest + 1)).all()
        ):
            return []
        is_empty = any(not (pool > 0).any() for pool in pools)
        if tool == "gdeval" and (is_empty or not np.isin(judged, range(5)).all()):
            return []
        values = []
        try:
            for query, pool in enumerate(pools):
                part = slice(ptr[query], ptr[query + 1])
                orders = orders_of(
                    TIES.get(tool, "stable"), tool in SINGLE, labels[part], scores[part], ids[part]
                )
                each = [
                    twin(tool, labels[part][list(order)].astype(float), pool, one.k, given)
                    for order in orders
                ]
                values.append(math.fsum(each) / len(each))
        except RefusedError:
            return []
        return values

    def _same_everywhere(self, one, labels, scores, ptr, ids, random) -> None:
        """`evaluate`, what a training records, and rows in another order."""
        qid = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        data = Dataset(np.zeros((len(labels), 1)), labels, qid, doc_ids=ids)
        values = evaluate(data, scores, one, per_query=True).judgements[0].values
        recorded = RankingEvaluator(data, one).values(scores)
        assert values.tolist() == recorded.tolist(), f"{one}: {values} is recorded as {recorded}"
        weights = random.integers(0, 3, len(labels)).astype(float)
        by_query = np.add.reduceat(weights, ptr[:-1]) / np.diff(ptr)
        if by_query.any():
            weighted = Dataset(data.X, labels, qid, doc_ids=ids, weight=weights)
            mean, expected = (
                RankingEvaluator(weighted, one).mean(scores),
                np.average(values, weights=by_query),
            )
            assert math.isclose(mean, expected, abs_tol=1e-12), f"{one}: {mean} by weights, not {expected}"
        if one.tie_rule != "stable":
            order = random.permutation(len(labels))
            other = Dataset(data.X[order], labels[order], qid[order], doc_ids=[ids[i] for i in order])
            mean = evaluate(other, scores[order], one).judgements[0].mean
            assert math.isclose(mean, float(values.mean()), abs_tol=1e-12), f"{one}: other rows, other number"


def orders_of(ties: str, is_single: bool, labels: Any, scores: Any, ids: list[str]) -> list[tuple[int, ...]]:
    """The rankings that a rule for ties allows, all equally likely."""
    keys = scores.astype(np.float32) if is_single else scores
    rows = range(len(keys))
    if ties == "docid":
        return [tuple(sorted(sorted(rows, key=lambda i: ids[i], reverse=True), key=lambda i: -keys[i]))]
    if ties == "worst":
        return [tuple(sorted(rows, key=lambda i: (-keys[i], unit(labels)[i])))]
    if ties == "stable":
        return [tuple(sorted(rows, key=lambda i: -keys[i]))]
    blocks = [
        [i for i in rows if keys[i] == key] for key in sorted({float(key) for key in keys}, reverse=True)
    ]
    return [
        tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, blocks))
    ]
