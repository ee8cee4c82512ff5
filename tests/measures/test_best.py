from pomona.measures.best import Best


def test_by_hand():
    assert Best(k=2).of_query([0, 1, 2]) == 1
    assert Best().of_query([0, 1, 2]) == 2
