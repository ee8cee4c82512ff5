import numpy as np

from pomona.trees.peers import ALONE
from trees.fake_peers import run_peers


def test_alone_all_is_what_one_has():
    sums = np.array([1, 2])
    ALONE.add(sums)
    assert sums.tolist() == [1, 2]
    assert ALONE.gather(np.array([1.0, 2.0])).tolist() == [[1.0, 2.0]]
    assert ALONE.joined(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert (ALONE.rank, ALONE.size) == (0, 1)


def test_numbers_of_all_keep_their_bits():
    def work(peers):
        own = np.array([-0.1, np.inf, 5e-324][: peers.rank + 1])
        gathered = peers.gather(own[:1] * (peers.rank + 1))
        placed = peers.placed(own[:1], np.array([2 - peers.rank]), 3)
        return gathered.tolist(), peers.joined(own).tolist(), placed.tolist()

    inf = float("inf")
    expected = (
        [[-0.1], [-0.2], [-0.1 * 3]],
        [-0.1, -0.1, inf, -0.1, inf, 5e-324],
        [-0.1, -0.1, -0.1],
    )
    assert run_peers(3, work) == [expected] * 3
