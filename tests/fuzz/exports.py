"""Models between libraries: small odd ones, exported to and imported from each, on inputs at their limits.

Forests are made by hand: thresholds that are infinite, denormal, ±0, ±1e-35 or neighbours of one another,
categories, splits of known from undefined values, trees of one leaf or none. Leaves are small multiples of
1/8, so that sums are exact in float32, and all engines must give equal scores; or any numbers, and float64
engines must give equal bits. A slow twin walks the trees; it and the library meet the same documents.

The other way, LightGBM, XGBoost, CatBoost and scikit-learn train on such numbers, and what is imported must
score as the library itself does.
"""

from __future__ import annotations

import ctypes
import json
import math
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pomona as pm
from fuzz.target import in_one_line
from pomona.errors import InputError
from pomona.rankers.imported.imported import Imported
from pomona.rankers.loading import load_model
from pomona.tools.engines.engine import engine_named
from pomona.trees.forest import Forest, rounded_down
from pomona.trees.formats.c import C
from pomona.trees.formats.elastic import Elastic
from pomona.trees.formats.elasticsearch import Elasticsearch
from pomona.trees.formats.format import ExportOptions, Format
from pomona.trees.formats.lightgbm import LightGBM
from pomona.trees.formats.onnx import Onnx
from pomona.trees.formats.opensearch import OpenSearch
from pomona.trees.formats.ranklib import RankLib
from pomona.trees.formats.solr import Solr
from pomona.trees.formats.vespa import Vespa
from pomona.trees.formats.weighted_sum import WeightedSum
from pomona.trees.formats.xgboost import XGBoost
from pomona.trees.formats.xgboost_dump import XGBoostDump
from pomona.trees.walk import ZERO
from reference import forest as plain
from reference.engine import as_rows, elastic_score, plugin_score, solr_score, vespa_score
from reference.foreign import lightgbm_text, xgboost_model

N_SMALL = 16
N_FEATURES = 4
NAMES = [f"attribute(a{j})" for j in range(N_FEATURES)]
MOST = float(np.finfo(np.float32).max)
TINY = float(np.finfo(np.float32).smallest_subnormal)
SPECIAL = [
    *(0.0, -0.0, TINY, -TINY, 1e-40, 1e-38, 1.1754944e-38, ZERO, -ZERO, ZERO / 2, -ZERO / 2, 1e-36),
    *(0.1, -0.3, 0.5, 1.0, 1.0000001, 3.0, 16777216.0, 1e10, 3e38, MOST, -MOST, 5.5),
]
INFINITE = [np.inf, -np.inf, np.inf]
ENGINES = {"lightgbm", "xgboost", "catboost", "onnxruntime", "treelite"}


class Target:
    def __init__(self, folder: Path) -> None:
        self._folder, self._compiler = folder, shutil.which("cc") or shutil.which("gcc")
        self._known = {name for name in ENGINES if find_spec(name)}
        absent = sorted(ENGINES - self._known) + ["a C compiler"] * (self._compiler is None)
        self._without = f", without {', '.join(absent)}" if absent else ""  # said with every outcome

    def case(self, random: np.random.Generator) -> str:
        kinds: list[Callable[[np.random.Generator], str]] = [
            *[self._forest] * 6,
            *[self._made_elsewhere] * 3,
            *[self._trained_elsewhere] * 2,
            self._sum,
        ]
        return kinds[random.integers(len(kinds))](random) + self._without

    # Forests, exported

    def _forest(self, random: np.random.Generator) -> str:
        forest, is_exact = random_forest(random)
        X = documents(random, forest)
        expected = slow_scores(forest, X)
        check("score", forest.score(X), expected)
        check(
            "score of few",
            np.concatenate([forest.score(X[i : i + 2]) for i in range(0, len(X), 2)]),
            expected,
        )
        check("staged_scores", [*forest.staged_scores(X)][-1] if forest.n_trees else expected, expected)
        scale = np.abs(forest.value).max(initial=0) * (forest.n_trees + 1) + abs(forest.base)
        n_refused = 0
        for name, found, of_rows in self._engines(random, forest, X):
            if found is None:
                n_refused += 1
                continue
            same_bits = name == "c" or (name in ("lightgbm", "onnx") and not forest.single)
            tolerance = 0.0 if is_exact or same_bits else 1e-5 * scale
            differs = ~(np.abs(found - expected) <= tolerance) & of_rows
            assert not differs.any(), (
                f"{name}: {X[differs][0].tolist()} scores {found[differs][0]!r}, not {expected[differs][0]!r}"
            )
        return "all refused" if n_refused > 16 else "exported"

    def _engines(
        self, random: np.random.Generator, forest: Forest, X: NDArray[Any]
    ) -> Iterator[tuple[str, NDArray[Any] | None, NDArray[np.bool_]]]:
        """(engine, its scores or None where the export is refused, the rows that it promises to agree on)."""
        every = np.ones(len(X), bool)
        no_zeros = ((np.abs(X) > ZERO) | (X == 0) | np.isnan(X)).all(axis=1)
        with np.errstate(over="ignore"):
            single_rows = X.astype(np.float32)
        finite, defined = np.isfinite(single_rows) | np.isnan(X), ~np.isnan(X)
        as_float32 = ((single_rows == X) | np.isnan(X)).all(axis=1)
        rows = as_rows(single_rows, NAMES)
        folder = self._folder

        if "lightgbm" in self._known:
            text = exported(LightGBM(), forest)
            is_noted = any("for 0" in note for note in LightGBM().notes(forest))
            yield "lightgbm", text and _lightgbm(text, X), no_zeros if is_noted else every
            if text and forest.zero_missing is None:
                (folder / "m.txt").write_text(text)
                back = load_model(folder / "m.txt")
                yield "lightgbm, read back", back.predict(X), no_zeros if is_noted else every
            has_sets = forest.member_ptr is not None
            if "treelite" in self._known and text and forest.zero_missing is None and not has_sets:
                yield (
                    "treelite (lightgbm)",
                    _treelite("lightgbm", folder / "m.txt", X.astype(np.float64)),
                    every,
                )
        if self._compiler and X.dtype == np.float32 and random.random() < 0.2:
            source = exported(C(), forest)
            yield "c", source and self._compiled(source, X), every
        if "onnxruntime" in self._known:
            content = exported(Onnx(), forest)
            yield "onnx", content and _onnx(content, X), every
            content = exported(Onnx(ExportOptions(engine_version="3")), forest)
            yield "onnx 3", content and _onnx(content, X), every
        if "xgboost" in self._known:
            text = exported(XGBoost(), forest)
            yield (
                "xgboost",
                text and _xgboost(text, np.where(finite, single_rows, 0)),
                as_float32 & finite.all(axis=1),
            )
            if text:
                (folder / "m.json").write_text(text)
                back = load_model(folder / "m.json")
                yield "xgboost, read back", back.predict(single_rows), as_float32
                if "treelite" in self._known:
                    yield (
                        "treelite (xgboost)",
                        _treelite("xgboost", folder / "m.json", single_rows),
                        as_float32,
                    )
        text = exported(XGBoostDump(), forest)
        if text:
            (folder / "dump.json").write_text(text)
            back = _imported(folder / "dump.json")
            used = [NAMES.index(name) for name in back.feature_names_ if name in NAMES]
            kept = single_rows[:, used] if used else np.zeros((len(X), back.n_features_in_), np.float32)
            if len(used) in (0, back.n_features_in_):
                yield "dump, read back", back.model_.score(kept), as_float32
        for version, missing in ((None, "by split"), ("3.5", "right"), ("2.18", "zero")):
            text = exported(OpenSearch(ExportOptions(engine_version=version)), forest)
            agrees = as_float32 if version is None else as_float32 & defined.all(axis=1)
            if version == "3.5":
                agrees = agrees & finite.all(axis=1) & (np.abs(single_rows) < MOST).all(axis=1)
            yield f"opensearch {missing}", text and np.array(plugin_score(text, rows, NAMES, missing)), agrees
            text = (
                exported(OpenSearch(ExportOptions(engine_version=version, raw=True)), forest)
                if version != "2.18"
                else None
            )
            engine = "opensearch" if version is None else f"opensearch-{version}"
            yield f"opensearch raw {missing}", _emulated(engine, text, single_rows), agrees
        text = exported(Elasticsearch(), forest)
        yield "elasticsearch", text and np.array(plugin_score(text, rows, NAMES)), as_float32
        yield "elasticsearch emulated", _emulated("elasticsearch", text, single_rows), as_float32
        text = exported(Elastic(), forest)
        yield "elastic", text and np.array(elastic_score(text, rows)), as_float32 & finite.all(axis=1)
        found = _emulated("elastic-8.18", text, single_rows)  # later versions shift scores
        yield "elastic emulated", found, as_float32 & finite.all(axis=1)
        text = exported(Vespa(), forest)
        yield "vespa", text and np.array(vespa_score(text, rows)), as_float32
        yield "vespa emulated", _emulated("vespa", text, single_rows), as_float32
        # Solr adds 1e-6 to thresholds: where no number becomes one by that it is said which move.
        moves = any("move" in note for note in Solr().notes(forest))
        text = exported(Solr(), forest)
        yield "solr", text and np.array(solr_score(text, rows, undefined=True)), as_float32 & (not moves)
        yield "solr emulated", _emulated("solr", text, single_rows), as_float32 & (not moves)
        text = exported(RankLib(), forest)
        if text:
            (folder / "ranklib.txt").write_text(text)
            model = _imported(folder / "ranklib.txt").model_
            wide = np.zeros((len(X), max(model.n_features, N_FEATURES)), np.float32)
            wide[:, :N_FEATURES] = single_rows
            yield (
                "ranklib, read back",
                model.score(wide[:, : model.n_features]),
                as_float32 & defined.all(axis=1),
            )
        else:
            yield "ranklib", None, every

    def _compiled(self, source: str, X: NDArray[Any]) -> NDArray[Any]:
        number = len(list(self._folder.glob("*.so")))
        program, library = self._folder / f"m{number}.c", self._folder / f"m{number}.so"
        program.write_text(source)
        flags = ["-std=c99", "-Wall", "-Werror", "-pedantic", "-shared", "-fPIC"]
        assert self._compiler is not None
        subprocess.run([self._compiler, *flags, "-o", library, program], check=True)
        score = ctypes.CDLL(str(library)).pomona_score
        score.restype = ctypes.c_double
        return np.array([score(row.ctypes.data_as(ctypes.c_void_p)) for row in np.ascontiguousarray(X)])

    # Weighted sums, exported

    def _sum(self, random: np.random.Generator) -> str:
        features = random.permutation(N_FEATURES)[: random.integers(1, N_FEATURES + 1)]
        weight = random.integers(-8, 9, len(features)) / 8
        model = WeightedSum(features.astype(np.int64), weight, N_FEATURES, random.integers(-4, 5) / 4)
        X = random.choice([0.0, -0.0, 0.5, 1.0, -3.0, 7.25, TINY, np.nan], (20, N_FEATURES)).astype(
            np.float32
        )
        expected, rows = model.score(X), as_rows(X, NAMES)
        if "onnxruntime" in self._known:
            found = _onnx(Onnx().content(model, NAMES), X)
            assert np.allclose(found, expected, rtol=1e-12, atol=1e-12), f"onnx: {found}"
        # Their models have no constant, and what a document lacks is 0.
        for name, found in (
            ("elasticsearch", plugin_score(Elasticsearch().content(model, NAMES), rows, NAMES)),
            ("solr", solr_score(Solr().content(model, NAMES), rows)),
        ):
            assert np.allclose(found, expected - model.start, rtol=0, atol=1e-6), f"{name}: {found}"
        return "a sum"

    # Models of others, imported

    def _made_elsewhere(self, random: np.random.Generator) -> str:
        """Trees that no training would give, written as the library writes them and read by it and here."""
        limits = limits_of(random, infinite=True)
        trees = [
            plain.random_tree(random, int(random.integers(1, 10)), N_FEATURES, limits)
            for _ in range(random.integers(1, 4))
        ]
        if random.random() < 0.6 and "lightgbm" in self._known:
            averages = bool(random.integers(2))
            text = lightgbm_text(random, trees, "average_output\n" * averages)
            X = values_near(random, limits, np.float64)
            booster = _booster(text)
            (self._folder / "made.txt").write_text(text)
            check_import(booster, self._folder / "made.txt", X, booster.predict(X, raw_score=not averages))
            return "made for LightGBM"
        if "xgboost" not in self._known:
            return "no library"
        import xgboost

        base = str(random.choice(["5E-1", "0", "-1.25E0", "[2.5E-1]"]))
        held = xgboost_model(random, trees, base, weights=random.choice([None, 1]) and [0.5] * len(trees))
        X = values_near(random, limits, np.float32)
        X = np.where(np.isinf(X), np.float32(MOST), X)  # which XGBoost refuses
        (self._folder / "made.json").write_text(json.dumps(held))
        booster = xgboost.Booster()
        booster.load_model(bytearray(json.dumps(held).encode()))
        found = booster.predict(xgboost.DMatrix(X), output_margin=True)
        check("made for XGBoost", load_model(self._folder / "made.json").predict(X), found)
        return "made for XGBoost"

    def _trained_elsewhere(self, random: np.random.Generator) -> str:
        n = 150
        values = random.choice(limits_of(random, infinite=False), (n, N_FEATURES)).astype(np.float32)
        values[:, 0] = random.normal(size=n).round(1)
        values[random.random(values.shape) < random.choice([0.0, 0.2])] = np.nan
        y = (
            np.nan_to_num(values[:, 0])
            + (values[:, 1] > 0)
            + np.isnan(values[:, 2])
            + random.normal(size=n) / 5
        )
        trained = [
            self._trained_lightgbm,
            self._trained_xgboost,
            self._trained_catboost,
            self._trained_sklearn,
        ]
        return trained[random.integers(len(trained))](random, values, y)

    def _trained_lightgbm(self, random: np.random.Generator, X: NDArray[Any], y: NDArray[Any]) -> str:
        if "lightgbm" not in self._known:
            return "no library"
        import lightgbm

        X = X.astype(np.float64)
        X[:, 3] = random.integers(0, 40, len(X))
        chosen = random.choice(5)
        parameters: dict[str, Any] = {
            "objective": "regression",
            "verbose": -1,
            "num_leaves": 6,
            "min_data_in_leaf": 3,
            "num_threads": 1,
            **[{}, {"zero_as_missing": True}, {"use_missing": False}, {"boosting": "dart"}, _RANDOM_FOREST][
                chosen
            ],
        }
        sets = [3] if random.random() < 0.5 else "auto"
        booster = lightgbm.train(parameters, lightgbm.Dataset(X, y, categorical_feature=sets), 4)
        X = values_near(random, np.unique(X[~np.isnan(X)]), np.float64)
        X[:, 3] = random.choice([-1.0, -0.5, 0.0, 0.5, 7.0, 31.0, 39.0, 64.0, 1e9, np.nan], len(X))
        expected = booster.predict(X, raw_score=parameters.get("boosting") != "rf")
        booster.save_model(self._folder / "trained.txt")
        check_import(booster, self._folder / "trained.txt", X, expected, has_sets=sets != "auto")
        return "trained by LightGBM"

    def _trained_xgboost(self, random: np.random.Generator, X: NDArray[Any], y: NDArray[Any]) -> str:
        if "xgboost" not in self._known:
            return "no library"
        import xgboost

        parameters = {"max_depth": 3, "nthread": 1, "objective": "reg:squarederror"}
        parameters |= [{}, {"booster": "dart", "rate_drop": 0.5}, {"tree_method": "exact"}][
            random.integers(3)
        ]
        booster = xgboost.train(parameters, xgboost.DMatrix(X, y), 4)
        X = values_near(random, np.unique(X[~np.isnan(X)]), np.float32)
        X = np.where(np.isinf(X), np.float32(-MOST), X)
        expected = booster.predict(xgboost.DMatrix(X), output_margin=True)
        for name in ("x.json", "x.ubj"):
            booster.save_model(self._folder / name)
            check(name, load_model(self._folder / name).predict(X), expected)
        check("XGBoost in memory", pm.from_model(booster).predict(X), expected)
        return "trained by XGBoost"

    def _trained_catboost(self, random: np.random.Generator, X: NDArray[Any], y: NDArray[Any]) -> str:
        if "catboost" not in self._known:
            return "no library"
        import catboost

        policy = str(random.choice(["SymmetricTree", "Depthwise"]))
        model = catboost.CatBoostRegressor(
            iterations=4, depth=3, verbose=False, thread_count=1, allow_writing_files=False, random_seed=1,
            grow_policy=policy, nan_mode=str(random.choice(["Min", "Max"])),
        ).fit(X, y)  # fmt: skip
        X = values_near(random, np.unique(X[~np.isnan(X)]), np.float32)
        if not np.isnan(X).any():
            return "nothing"
        expected = model.predict(X, prediction_type="RawFormulaVal")
        model.save_model(str(self._folder / "c.json"), format="json")
        found = load_model(self._folder / "c.json").predict(X)
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12), "catboost"
        return "trained by CatBoost"

    def _trained_sklearn(self, random: np.random.Generator, X: NDArray[Any], y: NDArray[Any]) -> str:
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(max_iter=4, max_leaf_nodes=6, min_samples_leaf=3)
        X = X.astype(np.float64)
        model.fit(X, y)
        X = values_near(random, np.unique(X[~np.isnan(X)]), np.float64)
        check("scikit-learn", pm.from_sklearn(model).predict(X), model.predict(X))
        return "trained by scikit-learn"


_RANDOM_FOREST = {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1}


def random_forest(random: np.random.Generator) -> tuple[Forest, bool]:
    """A forest that asks for odd things; whether sums of its leaves are exact in float32."""
    is_exact, limits = bool(random.random() < 0.7), limits_of(random, infinite=True)
    trees = [
        plain.random_tree(random, int(random.integers(1, 12)), N_FEATURES, limits)
        for _ in range(random.integers(0, 5))
    ]
    sizes = 10.0 ** random.integers(-14, 15, 60)  # and what follows in a sum is lost in it, or not
    values = np.arange(-40, 41) / 8 if is_exact else random.normal(size=60) * sizes
    arrays: dict[str, Any] = plain.plant(random, trees, values)
    n, more = len(arrays["feature"]), dict[str, Any]()
    with np.errstate(over="ignore"):
        exact = np.concatenate([np.empty(0), *(tree["threshold"] for tree in trees)])
    arrays["threshold"] = rounded_down(exact)
    odd = random.integers(8)
    if odd == 0:
        more["double_threshold"] = exact
    elif odd == 1:
        more["zero_missing"] = random.random(n) < 0.3
    elif odd == 2:
        sizes = np.where(random.random(n) < 0.3, 3, 0)
        more["member_ptr"] = np.cumsum([0, *sizes])
        more["member"] = random.choice([0, 1, 5, 31, 32, 40, 100], int(sizes.sum()))
        arrays["nan_left"] &= sizes == 0
        arrays["threshold"][sizes > 0] = 0
    elif odd == 3:
        more["single"] = True
    base = float(random.choice([0.0, 0.25, -3.0])) if is_exact else float(random.normal())
    return Forest(**arrays, **more, n_features=N_FEATURES, base=base), is_exact


def limits_of(random: np.random.Generator, *, infinite: bool) -> NDArray[np.float64]:
    """Few numbers to ask for, so that they are asked for again and again."""
    many = np.concatenate([SPECIAL, random.normal(size=6), INFINITE if infinite else []])
    limits: NDArray[np.float64] = random.choice(many, 8)
    return limits


def documents(random: np.random.Generator, forest: Forest) -> NDArray[Any]:
    """Values at the thresholds of the forest, and at its categories."""
    double = forest.double_threshold
    X = values_near(
        random, forest.threshold if double is None else double, np.float32 if double is None else np.float64
    )
    if forest.member_ptr is not None:
        sets = random.random(X.shape) < 0.5
        X[sets] = random.choice(
            [0, 1, 5, 5.5, -0.5, -1, 31, 32, 33, 40, 64, 100, 1e9, -TINY], int(sets.sum())
        )
    return X


def values_near(random: np.random.Generator, limits: Any, dtype: Any, n: int = 40) -> NDArray[Any]:
    """Documents of such values, of their neighbours, and of all that is special."""
    with np.errstate(over="ignore", under="ignore"):
        at = np.concatenate([SPECIAL, INFINITE, np.asarray(limits, np.float64)]).astype(dtype)
        beside = [np.nextafter(at, np.asarray(way, dtype)) for way in (-np.inf, np.inf)]
    choices = np.concatenate([at, *beside, np.full(8, np.nan, dtype), random.normal(size=5).astype(dtype)])
    return random.choice(choices, (n, N_FEATURES))


def slow_scores(forest: Forest, X: NDArray[Any]) -> NDArray[np.float64]:
    """The scores by their definition, a document and a node at a time."""
    limits = forest.threshold if forest.double_threshold is None else forest.double_threshold
    scores = []
    for x in X:
        total: Any = np.float32(forest.base) if forest.single else forest.base
        for tree in range(forest.n_trees):
            first, leaf = int(forest.node_ptr[tree]), int(forest.leaf_ptr[tree])
            node = 0 if forest.node_ptr[tree + 1] > first else ~0
            while node >= 0:
                at = first + node
                value = float(x[forest.feature[at]])
                members = [] if forest.member_ptr is None else _members(forest, at)
                is_zero = forest.zero_missing is not None and forest.zero_missing[at] and abs(value) <= ZERO
                if members:
                    goes_left = -1 < value < 2**30 and int(value) in members
                elif math.isnan(value) or is_zero:
                    goes_left = bool(forest.nan_left[at])
                else:
                    goes_left = value <= float(limits[at])
                node = int(forest.left[at] if goes_left else forest.right[at])
            total = float(total) + float(forest.value[leaf + ~node])
            total = np.float32(total) if forest.single else total
        scores.append(float(total))
    return np.array(scores)


def _members(forest: Forest, node: int) -> list[int]:
    assert forest.member_ptr is not None
    assert forest.member is not None
    return forest.member[forest.member_ptr[node] : forest.member_ptr[node + 1]].tolist()


def exported(format: Format, forest: Forest) -> Any:
    """What the format writes, or None if it refuses."""
    try:
        return format.content(forest, NAMES)
    except InputError as error:
        in_one_line(error)
        return None


def _emulated(engine: str, text: Any, X: NDArray[Any]) -> Any:
    """The scores of the emulator by which `pomona parity` tells what an engine will do."""
    return text and engine_named(engine).read(text, NAMES).score(X)


def check(name: str, found: Any, expected: Any) -> None:
    """Equal, to the last bit."""
    differs = np.flatnonzero(~(np.asarray(found) == np.asarray(expected)))
    assert not len(differs), (
        f"{name}: {found[differs[0]]!r} at {differs[0]}, expected {expected[differs[0]]!r}"
    )


def check_import(
    booster: Any, path: Path, X: NDArray[Any], expected: NDArray[Any], *, has_sets: bool = False
) -> None:
    """A model of LightGBM as text, as JSON and in memory scores as it does itself."""
    check("LightGBM's text", load_model(path).predict(X), expected)
    check("LightGBM in memory", pm.from_model(booster).predict(X), expected)
    dump = path.with_suffix(".json")
    dump.write_text(json.dumps(booster.dump_model()))
    if has_sets:
        return
    # A dump has 17 digits, and 1e300 for infinity.
    check("LightGBM's JSON", load_model(dump).predict(X), expected)


def _imported(path: Path) -> Imported:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a dump lacks
        model = load_model(path)
    assert isinstance(model, Imported)
    return model


def _booster(text: str) -> Any:
    import lightgbm

    return lightgbm.Booster(params={"verbose": -1, "num_threads": 1}, model_str=text)


def _lightgbm(text: str, X: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = _booster(text).predict(X.astype(np.float64), raw_score=True)
    return found


def _xgboost(text: str, X: NDArray[Any]) -> NDArray[Any]:
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(text.encode()))
    found: NDArray[Any] = booster.predict(xgboost.DMatrix(X), output_margin=True, validate_features=False)
    return found.astype(np.float64)


def _treelite(kind: str, path: Path, X: NDArray[Any]) -> NDArray[Any]:
    import treelite

    model = getattr(treelite.frontend, f"load_{kind}_model")(path)
    found: NDArray[Any] = treelite.gtil.predict(model, X, nthread=1, pred_margin=True)
    return found.ravel().astype(np.float64)


def _onnx(content: bytes, X: NDArray[Any]) -> NDArray[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    (scores,) = onnxruntime.InferenceSession(content, options).run(None, {"X": X.astype(np.float64)})
    found: NDArray[Any] = scores[:, 0].astype(np.float64)
    return found
