"""Forests of every shape, and documents: whoever reads a format must give the forest's own scores."""

import numpy as np
import pytest

import pomona as pm
from pomona.trees.forest import Forest

SHAPES = (
    *("lambdamart", "mart, with a base", "oblivious", "no tree", "deep", "limit inf", "limit -inf"),
    *("limit 1e-40", "limit 0.1", "known or undefined"),
)


@pytest.fixture(scope="session")
def names():
    return [f"f{i}" for i in range(6)]


@pytest.fixture(scope="session")
def defined_rows():
    rounded = np.random.default_rng(1).normal(size=(300, 6)).round(1)  # values that are thresholds, too
    return rounded.astype(np.float32)


@pytest.fixture(scope="session")
def rows(defined_rows):
    return np.where(np.random.default_rng(2).random(defined_rows.shape) < 0.2, np.nan, defined_rows)


@pytest.fixture(scope="session")
def infinite_rows(rows):
    """Infinite values among the others, and the largest that are not."""
    random, most = np.random.default_rng(3), np.finfo(np.float32).max
    odd = random.choice([np.inf, -np.inf, most, -most], rows.shape)
    return np.where(random.random(rows.shape) < 0.3, odd, rows).astype(np.float32)


@pytest.fixture(scope="session")
def forests(rows):
    labels = np.nan_to_num(rows[:, 0] + rows[:, 1]).round().clip(0, 4)
    train = pm.Dataset(rows, labels, np.arange(len(rows)) // 20)
    stump = {"feature": [2], "nan_left": [False], "left": [~0], "right": [~1], "gain": [1.0]}
    offsets = {"node_ptr": [0, 1, 1], "leaf_ptr": [0, 2, 3], "value": [1.0, -2.0, 0.5]}
    deep = np.arange(300)
    chain = {"left": np.append(deep[1:], ~300), "right": ~deep, "threshold": 3 - deep / 100, "gain": deep}
    # Known or undefined? Then again on the known side, where undefined goes with the known, and on the other.
    known = {"feature": [0, 1, 2, 0], "threshold": [np.inf] * 4, "nan_left": [False, True, False, False]}
    known |= {"left": [1, 2, ~0, ~3], "right": [3, ~1, ~2, ~4], "value": np.arange(5.0), "gain": np.ones(4)}
    return {
        "known or undefined": Forest(**known, node_ptr=[0, 4], leaf_ptr=[0, 5], n_features=6),
        "lambdamart": pm.LambdaMART(n_trees=12, n_leaves=31, min_docs=3).fit(train).model_,
        "mart, with a base": pm.MART(n_trees=5, n_leaves=31, min_docs=3).fit(train).model_,
        "oblivious": pm.LambdaMART(n_trees=4, growth="oblivious", max_depth=6, min_docs=1).fit(train).model_,
        "no tree": Forest.empty(6, base=0.25),
        "deep": Forest(
            **{**chain, "feature": deep % 6, "nan_left": deep % 2 == 0, "value": np.linspace(-1, 1, 301)},
            **{"node_ptr": [0, 300], "leaf_ptr": [0, 301], "n_features": 6},
        ),
        **{
            f"limit {limit}": Forest(**stump, threshold=[limit], **offsets, n_features=6)
            for limit in (np.inf, -np.inf, 1e-40, 0.1)
        },
    }


@pytest.fixture(params=SHAPES)
def shape(request):
    return request.param


@pytest.fixture
def forest(forests, shape):
    return forests[shape]
