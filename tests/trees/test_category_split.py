import numpy as np
import pytest

from pomona.errors import InputError
from pomona.trees.category_split import CategorySplits, bits_of, members_of, members_of_bits, with_thresholds
from pomona.trees.forest import Forest
from pomona.trees.shap import interventional, leaf_covers, path_dependent

NAN = float("nan")


def forest(double=False):
    """Two trees: a category (feature 1) twice on a path with a number, then a stump."""
    return Forest(
        feature=[1, 0, 1, 1], threshold=[0, 0.5, 0, 0], nan_left=[False, True, False, False],
        left=[1, ~0, ~2, ~0], right=[2, ~1, ~3, ~1], gain=[3, 2, 1, 1], node_ptr=[0, 3, 4],
        value=[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], leaf_ptr=[0, 4, 6], n_features=2, base=0.5,
        double_threshold=[0.0, 0.5, 0.0, 0.0] if double else None,
        member_ptr=[0, 2, 2, 3, 4], member=[0, 40, 7, 40],
    )  # fmt: skip


X = np.array([[0, 0], [1, 40], [NAN, 0], [0, 7], [9, 3], [9, NAN], [9, -1], [9, 41], [0, 7.9], [1, -0.9]])
SCORES = 0.5 + np.array([1 + 32, 2 + 16, 1 + 32, 4 + 32, 8 + 32, 8 + 32, 8 + 32, 8 + 32, 4 + 32, 2 + 32])


@pytest.mark.parametrize("double", [False, True])
def test_scores_by_hand(double):
    ours = forest(double)
    rows = X if double else X.astype(np.float32)
    assert ours.score(rows).tolist() == SCORES.tolist()
    _, after_both = ours.staged_scores(rows)
    assert after_both.tolist() == SCORES.tolist()
    assert ours.leaf_of(rows)[:4].tolist() == [[0, 1], [1, 0], [0, 1], [2, 1]]
    assert ours.value_scorer(X.astype(np.float32))(ours.value * 2).tolist() == (2 * SCORES - 0.5).tolist()


def test_many_documents_and_their_permutation():
    random = np.random.default_rng(0)
    rows = np.stack([random.normal(size=3000), random.integers(0, 45, 3000)], axis=1).astype(np.float32)
    ours = forest()
    leaves = ours.leaf_of(rows) + ours.leaf_ptr[:-1]
    assert np.array_equal(ours.score(rows), 0.5 + ours.value[leaves].sum(axis=1))
    order = random.permutation(3000)
    traded = rows.copy()
    traded[:, 1] = rows[order, 1]
    (permuted,) = ours.permuted_scorer(rows).permuted(1, [order])
    assert np.array_equal(permuted, ours.score(traded))


def test_join_head_and_round_trip():
    ours = forest()
    plain = Forest([0], [1.0], [True], [~0], [~1], [1.0], [0, 1], [100.0, 200.0], [0, 2], n_features=2)
    rows = X.astype(np.float32)
    both = plain.extended(ours).extended(plain)
    assert np.array_equal(both.score(rows), ours.score(rows) + 2 * plain.score(rows))
    assert both.head(1).score(rows).tolist() == (0.5 + plain.score(rows)).tolist()
    assert ours.head(2) == ours
    assert ours.head(1).member.tolist() == [0, 40, 7]
    arrays = ours.arrays()
    assert Forest.of_arrays(arrays, 2, 0.5) == ours
    other = Forest.of_arrays({**arrays, "member": np.array([0, 41, 7, 40])}, 2, 0.5)
    assert other != ours


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"member_ptr": np.array([0, 2, 2, 3])}, "do not belong"),
        ({"member_ptr": np.array([0, 2, 1, 3, 4])}, "do not belong"),
        ({"member": np.array([0, 40, 7])}, "do not belong"),
        ({"member": np.array([0, -1, 7, 40])}, "outside 0"),
        ({"member": np.array([0, 1 << 24, 7, 40])}, "outside 0"),
    ],
)
def test_what_a_damaged_file_may_hold(changed, problem):
    with pytest.raises(InputError, match=problem):
        Forest.of_arrays({**forest().arrays(), **changed}, 2, 0.5)


def test_columns():
    splits = CategorySplits.of(forest())
    wide = splits.appended(X.astype(np.float32))
    assert wide[:4, 2:].tolist() == [[0, 1, 1], [0, 1, 0], [0, 1, 1], [1, 0, 1]]
    assert splits.owners(np.array([0, 1, 2, 4])).tolist() == [0, 1, 1, 1]
    assert with_thresholds(forest()).n_features == 5
    assert members_of(forest(), 0).tolist() == [0, 40]
    assert members_of_bits(bits_of(np.array([5, 64, 31]))).tolist() == [5, 31, 64]


def test_shapley_values_are_those_of_all_orders():
    """Both features in both orders: what is known of a category holds for all splits on it."""
    rows = X.astype(np.float32)
    ours = forest()
    cover = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 7.0])
    values = path_dependent(ours, rows, cover)

    def expected(row, known):
        def walk(tree, node):
            if node < 0:
                leaf = ours.leaf_ptr[tree] + ~node
                return ours.value[leaf], cover[leaf]
            at = ours.node_ptr[tree] + node
            sides = [walk(tree, ours.left[at]), walk(tree, ours.right[at])]
            weight = sum(w for _, w in sides)
            if ours.feature[at] not in known:
                return sum(v * w for v, w in sides) / weight, weight
            x, members = row[ours.feature[at]], members_of(ours, at)
            if len(members):
                return sides[int(not (x > -1 and int(x) in members))][0], weight
            return sides[int(not (np.isnan(x) or x <= ours.threshold[at]))][0], weight

        return ours.base + sum(walk(tree, 0)[0] for tree in range(2))

    for i, row in enumerate(rows):
        none, a, b, both = (expected(row, known) for known in ((), (0,), (1,), (0, 1)))
        assert values.values[i] == pytest.approx(
            [(a - none + both - b) / 2, (b - none + both - a) / 2], abs=1e-9
        )
    against = interventional(ours, rows, rows[:4])
    assert against.values.sum(axis=1) + against.expected == pytest.approx(ours.score(rows))
    assert leaf_covers(ours, rows)[:4].sum() == len(rows)
