import copy
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pomona.errors import InputError, UnknownNameError
from pomona.trees.forest import Forest, rounded_down
from reference import forest as plain

# x0 <= 1: leaf 0 (10); else x1 <= 5 (NaN right): leaf 1 (20), else leaf 2 (30). Then a tree of one leaf.
ARRAYS = {
    "feature": [0, 1],
    "threshold": [1.0, 5.0],
    "nan_left": [True, False],
    "left": [~0, ~1],
    "right": [1, ~2],
    "gain": [4.0, 3.0],
    "node_ptr": [0, 2, 2],
    "value": [10.0, 20.0, 30.0, 0.5],
    "leaf_ptr": [0, 3, 4],
}


def forest(base=0.0, **changes):
    return Forest(**{**ARRAYS, **changes}, n_features=3, base=base)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1, 9, 0], 10.5),
        ([1.001, 5, 0], 20.5),
        ([2, 5.001, 0], 30.5),
        ([np.nan, np.nan, 0], 10.5),
        ([2, np.nan, np.nan], 30.5),
        ([-np.inf, 0, 0], 10.5),
        ([np.inf, -np.inf, 0], 20.5),
        ([1e300, 1e300, 0], 30.5),
    ],
)
def test_by_hand(x, expected):
    assert forest().score([x]).tolist() == [expected]
    assert forest(base=-1).score([x]).tolist() == [expected - 1]


def test_any_array_of_documents_will_do():
    rows = [[0, 0, 0], [2, 0, 0]]
    expected = [10.5, 20.5]
    for X in (
        rows,
        np.array(rows),
        np.asfortranarray(rows, np.float32),
        np.array(rows, np.int8),
        np.array(rows)[::1],
    ):
        assert forest().score(X).tolist() == expected
    X = np.array(rows, np.float32)
    X.flags.writeable = False
    assert forest().score(X).tolist() == expected
    assert forest().score(np.empty((0, 3))).tolist() == []


def test_values_are_compared_in_float32():
    assert forest().score([[1 + 1e-9, 0, 0]]).tolist() == [10.5]


def test_a_forest_keeps_what_it_was_given():
    """It is checked once, and kernels look up features and children unseen: no array of its maker is kept."""
    given = {
        **{name: np.array(ARRAYS[name], np.int32) for name in ("feature", "left", "right")},
        **{name: np.array(ARRAYS[name], np.float32) for name in ("threshold", "gain")},
        **{name: np.array(ARRAYS[name], np.int64) for name in ("node_ptr", "leaf_ptr")},
        "nan_left": np.array(ARRAYS["nan_left"]),
        "value": np.array(ARRAYS["value"]),
        "double_threshold": np.array(ARRAYS["threshold"]),
        "zero_missing": np.array([True, False]),
        "leaf_count": np.array([1, 2, 3, 4]),
    }
    views = {name: array.view() for name, array in given.items()}
    for view in views.values():
        view.flags.writeable = False
    one, other = Forest(**given, n_features=3), Forest(**views, n_features=3)
    X = [[1.0, 9, 0], [2, 5, 0], [2, 6, 0], [0.0, 0, 0]]
    expected = one.score(X).tolist()
    for name, array in given.items():
        array[:] = 7 if name in ("threshold", "value") else 1000 if array.dtype != bool else ~array
    for forest in (one, other, pickle.loads(pickle.dumps(one)), one.head(2), one.scaled(1.0)):
        assert forest.arrays().keys() == given.keys()
        assert forest.feature.tolist() == [0, 1]
        assert forest.score(X).tolist() == expected
        assert not any(array.flags.writeable for array in forest.arrays().values())
        with pytest.raises(ValueError, match="WRITEABLE"):
            forest.feature.flags.writeable = True


@pytest.mark.parametrize(
    "changes",
    [
        {"feature": [0, 2**32 + 1]},
        {"feature": [0, 0.5]},
        {"feature": [0, np.nan]},
        {"feature": ["a", "b"]},
        {"left": [~0, 2**40]},
        {"nan_left": [2, 0]},
        {"node_ptr": [0, 2**70, 2]},
        {"value": ["x", 1, 2, 3]},
        {"value": [1 + 2j, 1, 2, 3]},
        {"feature": [[0], [1, 2]]},
    ],
    ids=str,
)
def test_numbers_that_an_array_cannot_hold_are_refused(changes):
    """Cut to 32 bits, 2^32 + 1 would be feature 1."""
    with pytest.raises(InputError, match="not a forest") as caught:
        forest(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n_features", [-1, 2.5, "3", None])
def test_a_number_of_features_that_is_none_is_refused(n_features):
    with pytest.raises(InputError, match="features"):
        Forest(**ARRAYS, n_features=n_features)


FORKED = """
import os, signal, sys, threading, warnings
import numpy as np
from pomona.trees.forest import Forest
from reference import forest as plain

warnings.simplefilter("ignore")  # that threads are left behind by a fork is the very thing tested
random = np.random.default_rng(0)
limits = random.normal(size=50)
arrays = plain.plant(random, [plain.random_tree(random, 60, 5, limits) for _ in range(60)], np.arange(9.0))
X = random.normal(size=(50, 5)).astype(np.float32)
make = lambda: Forest(**arrays, n_features=5)
expected = make().score(X).tolist()

def predict():
    while True:
        made = make()
        made.score(X), made.score(X[:1]), made.leaf_of(X)

for _ in range(3):
    threading.Thread(target=predict, daemon=True).start()
for _ in range(25):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that hangs ends here
        made = make()
        made.score(X[:1])
        os._exit(0 if made.score(X).tolist() == expected else 1)
    if os.waitpid(child, 0)[1]:
        sys.exit("a child hung, or scored otherwise")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_forked_while_others_predict_predicts():
    tests = str(Path(__file__).parents[1])  # where `reference` is
    environment = {**os.environ, "POMONA_THREADS": "2", "PYTHONPATH": tests}
    subprocess.run([sys.executable, "-c", FORKED], env=environment, check=True, timeout=300)


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [1.0, 2.0, 3.0], [[["a"]]], [["x", "y", "z"]], None])
def test_documents_of_another_shape_are_refused(X):
    with pytest.raises(InputError, match="features"):
        forest().score(X)


def test_parts_and_sums():
    both = forest(base=1.0)
    X = np.array([[0, 0, 0], [2, 0, 0], [2, 9, 0]], np.float32)
    assert both.n_trees == 2
    assert both.head(1).score(X).tolist() == [11, 21, 31]
    assert both.head(0).score(X).tolist() == [1, 1, 1]
    assert both.head(9) == both
    assert Forest.join([both.head(1), both], 3, base=5.0).score(X).tolist() == [25.5, 45.5, 65.5]
    assert Forest.join([], 3) == Forest.empty(3)
    assert both.extended(both).score(X).tolist() == [23, 43, 63]
    assert both.scaled(0.5).score(X).tolist() == [5.75, 10.75, 15.75]
    assert both.leaf_of(X).tolist() == [[0, 0], [1, 0], [2, 0]]


def test_importance():
    assert forest().importance("gain").tolist() == [4, 3, 0]
    assert forest().extended(forest()).importance("split").tolist() == [2, 2, 0]
    assert Forest.empty(2).importance().tolist() == [0, 0]
    with pytest.raises(UnknownNameError, match="did you mean 'gain'"):
        forest().importance("gian")


def test_equality_and_printing():
    assert forest() == forest()
    assert forest() != forest(base=1.0)
    assert forest() != forest(gain=[4.0, 2.0])
    assert forest() != "forest"
    assert repr(forest()) == "<Forest: 2 trees, up to 3 leaves, 3 features>"
    assert repr(Forest.empty(3)) == "<Forest: 0 trees, 3 features>"


def test_arrays_cannot_be_changed_but_copied():
    made = forest(base=0.25)
    with pytest.raises(ValueError, match="read-only"):
        made.value[0] = 1
    made.score(np.zeros((1, 3)))
    for twin in (
        copy.deepcopy(made),
        pickle.loads(pickle.dumps(made)),
        Forest.of_arrays(made.arrays(), made.n_features, made.base),
    ):
        assert twin == made
        assert not twin.value.flags.writeable


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"feature": [0, 3]}, "outside 0..2"),
        ({"feature": [0, -1]}, "outside 0..2"),
        ({"feature": [0]}, "differ in length"),
        ({"feature": [[0, 1]]}, "dimension"),
        ({"threshold": [1.0, np.nan]}, "NaN"),
        ({"left": [0, ~1]}, "before its parent"),
        ({"left": [2, ~1]}, "outside its tree"),
        ({"left": [~3, ~1]}, "outside its tree"),
        ({"left": [-(2**31), ~1]}, "outside its tree"),
        ({"left": [~1, ~1]}, "exactly one"),
        ({"left": [1, ~1]}, "exactly one"),
        ({"node_ptr": [0, 2]}, r"n \+ 1 leaves"),
        ({"node_ptr": [0, 1, 2]}, r"n \+ 1 leaves"),
        ({"node_ptr": [1, 2, 2]}, "offsets"),
        ({"node_ptr": [0, 3, 2]}, "offsets"),
        ({"leaf_ptr": []}, "offsets"),
        ({"leaf_ptr": [0, 4, 4]}, "offsets"),
    ],
)
def test_what_is_no_forest_is_refused(changes, problem):
    with pytest.raises(InputError, match=f"not a forest: .*{problem}"):
        forest(**changes)


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="every=0"):
        forest().staged_scores(np.zeros((1, 3)), every=0)
    with pytest.raises(InputError, match="n_trees=-1"):
        forest().head(-1)
    with pytest.raises(InputError, match="over 3 features, expected 4"):
        Forest.join([forest()], 4)
    with pytest.raises(InputError, match="no array value"):
        Forest.of_arrays(
            {name: array for name, array in forest().arrays().items() if name != "value"}, 3, 0.0
        )


def test_the_reference_walks_as_written_by_hand():
    arrays = {name: np.array(array) for name, array in ARRAYS.items()}
    X = np.array([[1, 9, 0], [2, 5, 0], [2, np.nan, 0]])
    assert plain.score(X, arrays, 1.0).tolist() == [11.5, 21.5, 31.5]


def asking_for_more():
    """Two stumps of float64 thresholds, the second of which takes zeros for undefined; float32 sums."""
    limits = np.array([0.1, 0.5])
    return Forest(
        feature=[0, 0],
        threshold=rounded_down(limits),
        nan_left=[True, False],
        left=[~0, ~0],
        right=[~1, ~1],
        gain=[1, 1],
        node_ptr=[0, 1, 2],
        value=[1e-9, 2.0, 1.0, 3.0],
        leaf_ptr=[0, 2, 4],
        n_features=1,
        double_threshold=limits,
        zero_missing=[False, True],
        single=True,
    )


def test_float64_thresholds_zeros_and_float32_sums():
    forest = asking_for_more()
    X = np.array([[0.1], [np.nextafter(0.1, 1)], [0.0], [-1e-36], [np.nan], [0.6]])
    expected = [1.0, 3.0, 3.0, 3.0, 3.0, 5.0]  # 1 + 1e-9 is 1 in float32, and zeros go right in the second
    assert forest.score(X).tolist() == expected
    assert forest.leaf_of(X).tolist() == [[0, 0], [1, 0], [0, 1], [0, 1], [0, 1], [1, 1]]
    assert forest.score(X.astype(np.float32))[0] == 3.0, "0.1 rounds up to a float32 above the threshold"
    assert [scores.tolist() for scores in forest.staged_scores(X)][-1] == expected


def test_what_a_forest_asks_for_goes_with_it():
    forest = asking_for_more()
    arrays = forest.arrays()
    assert Forest.of_arrays(arrays, 1, 0.0, single=True) == forest == pickle.loads(pickle.dumps(forest))
    assert Forest.of_arrays(arrays, 1, 0.0) != forest
    ordinary = replace(forest, double_threshold=None, zero_missing=None)
    assert ordinary != forest
    joined = Forest.join([ordinary, forest], 1)
    assert joined.zero_missing.tolist() == [False, False, False, True]
    assert joined.double_threshold.tolist() == [*ordinary.threshold.tolist(), 0.1, 0.5]
    assert forest.head(1).zero_missing.tolist() == [False]
    with pytest.raises(InputError, match="rounded down"):
        replace(forest, double_threshold=np.array([0.2, 0.5]))


def test_leaf_statistics_go_with_the_trees():
    counted = forest(
        base=0.5, leaf_count=np.arange(len(forest().value)), leaf_weight=np.ones(len(forest().value))
    )
    assert counted == forest(base=0.5)  # they change no score
    twice = counted.extended(counted)
    assert twice.leaf_count.tolist() == 2 * counted.leaf_count.tolist()
    assert twice.head(1).leaf_weight.tolist() == [1.0] * int(counted.leaf_ptr[1])
    assert counted.extended(forest()).leaf_count is None  # of half the trees is of no use
    assert (
        Forest.empty(counted.n_features).extended(counted).leaf_count.tolist() == counted.leaf_count.tolist()
    )
    stored = Forest.of_arrays(counted.arrays(), counted.n_features, 0.5)
    assert stored.leaf_count.tolist() == counted.leaf_count.tolist()
    for wrong in ([1], [-1] * len(counted.value), np.full(len(counted.value), np.inf)):
        with pytest.raises(InputError, match="counts and weights"):
            forest(leaf_weight=np.asarray(wrong, float))


def test_sums_below_nodes():
    #      0
    #    1   leaf 2       and a tree of one leaf, and a stump
    #  l0 l1
    trees = Forest(
        *([0, 0, 0], [1.0, 2.0, 3.0], [True] * 3, [1, ~0, ~1], [~2, ~1, ~0], [1.0] * 3),
        node_ptr=[0, 2, 2, 3],
        value=np.zeros(6),
        leaf_ptr=[0, 3, 4, 6],
        n_features=1,
    )
    assert trees.sums_below(np.array([1, 2, 4, 8, 16, 32])).tolist() == [7, 3, 48]
