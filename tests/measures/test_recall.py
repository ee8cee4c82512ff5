from pomona.measures.recall import Recall


def test_by_hand():
    assert Recall(k=2).of_query([1, 0, 1]) == 1 / 2
    assert Recall(k=9).of_query([1, 0, 1]) == 1
    assert Recall(k=2).of_query([0, 0]) == 0
