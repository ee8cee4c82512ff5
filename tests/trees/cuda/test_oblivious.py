"""Oblivious trees of a GPU are those of the CPU, bit for bit."""

from gpu_checks import compare_trees, everywhere


def oblivious():
    assert len(compare_trees(5, oblivious=True, max_depth=2, min_docs=2, trees=1).value) >= 4
    compare_trees(6, oblivious=True, max_depth=2, l2=3.0, min_docs=1, feature_fraction=0.6, bag=0.5, trees=1)
    compare_trees(7, oblivious=True, max_depth=2, min_docs=1, monotone=(0, 1, -1), trees=1)


test_oblivious = everywhere(__file__, "oblivious")
