import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.experiments.analysis.informative import informativeness
from pomona.experiments.analysis.ranked_system import (
    systems_of_features,
    systems_of_results,
    systems_of_runs,
    systems_of_scores,
)


def labels_of(lists):
    return [lists.levels[lists.single(q)].tolist() for q in range(lists.n_queries)]


def test_scores_stand_in_the_order_of_the_rows():
    # The rows of query a stand apart.
    data = pm.Dataset([[0.0]] * 4, [2, 0, 1, 3], ["a", "b", "a", "b"])
    systems = systems_of_scores(data, {"up": np.array([1.0, 2, 3, 4]), "down": np.array([4.0, 3, 2, 1])})
    assert labels_of(systems["up"]) == [[1, 2], [3, 0]]
    assert labels_of(systems["down"]) == [[2, 1], [0, 3]]


def test_every_feature_with_two_values_is_a_system():
    X = [[1.0, 5, np.nan], [2, 5, 0], [3, 5, 1]]
    data = pm.Dataset(X, [0, 1, 2], [1, 1, 1], feature_names=["a", "b", "c"])
    systems = systems_of_features([data])
    assert list(systems) == ["a", "c"]
    assert labels_of(systems["a"]) == [[2, 1, 0]]
    assert labels_of(systems["c"]) == [[2, 1, 0]]  # what is undefined comes last
    with pytest.raises(InputError, match="one value only"):
        systems_of_features([pm.Dataset([[1.0], [1.0]], [0, 1], [1, 1])])


def test_features_are_known_by_their_names():
    # Parts with other features, in another order: `a` ranks the same documents in both.
    one = pm.Dataset([[1.0, 9.0], [2.0, 9.0]], [0, 1], [1, 1], feature_names=["a", "b"])
    two = pm.Dataset([[5.0, 1.0], [5.0, 2.0]], [1, 0], [2, 2], feature_names=["c", "a"])
    systems = systems_of_features([one, two])
    assert list(systems) == ["a"]  # b and c tell no two documents of a part apart
    assert labels_of(systems["a"]) == [[1, 0], [0, 1]]
    only = pm.Dataset([[7.0], [8.0]], [1, 0], [3, 3], feature_names=["d"])
    systems = systems_of_features([only, one])
    assert list(systems) == ["d", "a"]
    assert all(lists.n_queries == 2 for lists in systems.values())  # the means are of the same queries
    assert labels_of(systems["d"])[0] == [0, 1]


def test_ties_do_not_tell_the_label():
    data = pm.Dataset(np.repeat([[0.0], [1.0]], [500, 1], axis=0), [1] * 250 + [0] * 251, [1] * 501)
    (labels,) = labels_of(systems_of_features([data])["f1"])
    assert 90 < sum(labels[:250]) < 160


def test_the_rankers_of_a_comparison(finished):
    systems = systems_of_results(finished)
    assert list(systems) == ["toy"]
    assert sorted(systems["toy"]) == ["LambdaMART(n_trees=6)", "short"]
    assert systems["toy"]["short"].n_queries == 24 * 2  # queries × seeds
    assert informativeness(systems, ["ap"]).systems.height == 2


def test_runs(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 2\n1 0 d 1\n")
    one, two = tmp_path / "one.run", tmp_path / "two.run"
    one.write_text("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 x 3 1 t\n")
    two.write_text("1 Q0 b 1 3 t\n1 Q0 c 2 2 t\n1 Q0 a 3 1 t\n1 Q0 d 4 0 t\n")
    systems = systems_of_runs(tmp_path / "qrels", {"one": one, "two": two})
    assert {name: labels_of(lists) for name, lists in systems.items()} == {
        "one": [[1, 0, -1]],
        "two": [[0, 2, 1, 1]],
    }
    found = informativeness({"q": systems}, ["ap"])
    row = found.summary.row(0, named=True)
    assert (row["n_lists"], row["n_incomplete"]) == (2, 1)  # `one` misses two relevant documents
    assert found.systems["value"].to_list() == pytest.approx([1 / 3, (1 / 2 + 2 / 3 + 3 / 4) / 3])
