import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pomona.rankers.forests.cluster.linked_peers import LinkedPeers, PeerLostError


def linked(count):
    peers = [LinkedPeers(rank, "127.0.0.1", b"secret") for rank in range(count)]
    for each in peers:
        each.connect([other.address for other in peers])
    return peers


def on_all(peers, work):
    with ThreadPoolExecutor(len(peers)) as pool:
        return list(pool.map(work, peers))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8])
def test_sums_over_any_number_of_peers(count):
    peers = linked(count)
    random = np.random.default_rng(count)
    numbers = {n: random.integers(-(2**40), 2**40, (count, n)) for n in (1, 1000, 40_001, 131_075)}

    def work(each):
        for n, own in numbers.items():
            for _ in range(3):
                sums = own[each.rank].copy()
                each.add(sums)
                assert sums.tolist() == own.sum(axis=0).tolist(), n
        return each.gather(np.array([0.1 * each.rank])).ravel().tolist()

    assert on_all(peers, work) == [[0.1 * rank for rank in range(count)]] * count
    assert peers[0].n_sums == (13 if count > 1 else 0)
    for each in peers:
        each.close()


def test_large_sums_send_less_than_twice_the_array():
    peers = linked(4)
    on_all(peers, lambda each: each.add(np.ones(100_000, np.int64)))
    for each in peers:
        assert each.bytes_sent < 2 * 8 * 100_000
        assert each.seconds > 0
        each.close()


def test_all_learn_at_once_that_one_is_gone():
    peers = linked(5)

    def work(each):
        sums = np.ones(20_000, np.int64)
        each.add(sums)
        if each.rank == 3:
            each.close()
            return 0.0
        started = time.perf_counter()
        with pytest.raises(PeerLostError, match="a worker was lost"):
            each.add(sums)
        return time.perf_counter() - started

    assert max(on_all(peers, work)) < 10


def test_peers_that_are_not_at_the_same_sum_do_not_go_on():
    peers = linked(2)
    peers[1].n_sums = 7

    def work(each):
        with pytest.raises(PeerLostError):
            each.add(np.ones(3, np.int64))

    on_all(peers, work)


def test_closing_wakes_who_waits_for_a_link():
    peers = linked(2)
    failed = []

    def wait():
        try:
            peers[0].add(np.ones(1, np.int64))
        except PeerLostError as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    peers[0].close()
    thread.join(10)
    assert len(failed) == 1


def test_strangers_are_not_let_in():
    peers = linked(2)
    stranger = LinkedPeers(1, "127.0.0.1", b"another")
    stranger.connect([each.address for each in peers])
    with pytest.raises(PeerLostError):
        stranger.add(np.ones(1, np.int64))
    on_all(peers, lambda each: each.add(np.ones(1, np.int64)))
