import numpy as np

import pomona as pm
from pomona.rankers.feature_values import feature_values, query_values


def test_queries_are_judged_feature_by_feature():
    data = pm.Dataset([[2, 5], [1, 6], [7, 7]], [1, 0, 1], [1, 1, 2])
    (up, up_side, upwards), (_, down_side, downwards) = query_values(data, pm.measure("rr"))
    assert (up, up_side, down_side) == (slice(0, 1_333_333), 0, 1)
    assert upwards.tolist() == [[1, 1], [1 / 2, 1]]
    assert downwards.tolist() == [[1 / 2, 1], [1, 1]]
    assert [side for _, side, _ in query_values(data, pm.measure("rr"), allow_reversed=False)] == [0]


def test_a_tie_rule_that_is_named_is_kept():
    data = pm.Dataset([[0.0], [0.0]], [1, 0], [1, 1], doc_ids=["a", "b"])
    for ties, value in (("stable", 1), ("worst", 1 / 2), ("expected", 3 / 4), ("docid", 1 / 2)):
        assert feature_values(data, pm.measure(f"rr(ties={ties})")).tolist() == [[value, value]]


def test_a_measure_of_one_s_own_is_judged_in_an_order_of_ties_that_rows_have_no_part_in():
    class First(pm.Measure):
        def of_query(self, labels):
            return float(labels[0])

    data = pm.Dataset(np.zeros((60, 1)), np.arange(60), np.zeros(60))
    first = feature_values(data, First()).tolist()
    assert (
        first
        == feature_values(data.take_rows(np.arange(60)[::-1], data.query_ptr, data.qids), First()).tolist()
    )
    assert first not in ([[0, 0]], [[59, 59]])
    assert feature_values(data.replace(X=data.y[:, None]), First()).tolist() == [[59, 0]]
