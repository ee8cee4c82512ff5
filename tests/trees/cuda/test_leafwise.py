"""Leaf-wise trees of a GPU are those of the CPU, bit for bit."""

from gpu_checks import compare_trees, everywhere


def leafwise():
    assert len(compare_trees(0, n_leaves=4, min_docs=2).value) >= 4


def bag_and_draw_and_depth():
    # Drawn with replacement: more than once, and more rows than documents.
    compare_trees(1, n_leaves=4, min_docs=2, l2=1.0, max_depth=2, feature_fraction=0.5, bag=1.2)


def monotone():
    compare_trees(2, n_leaves=4, min_docs=2, monotone=(0, 1, -1), trees=1)


def nothing_to_divide():
    assert len(compare_trees(3, n_features=1, trees=1).value) == 1  # only the constant feature
    assert len(compare_trees(3, n_leaves=1, trees=1, min_docs=10**6).value) == 1


def more_than_a_group_of_columns():
    compare_trees(4, n_features=18, n_leaves=2, min_docs=2, min_gain=0.5, trees=1)


test_leafwise = everywhere(__file__, "leafwise")
test_bag_and_draw_and_depth = everywhere(__file__, "bag_and_draw_and_depth")
test_monotone = everywhere(__file__, "monotone")
test_nothing_to_divide = everywhere(__file__, "nothing_to_divide")
test_more_than_a_group_of_columns = everywhere(__file__, "more_than_a_group_of_columns")
