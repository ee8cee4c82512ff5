from types import SimpleNamespace

import numpy as np
import pytest

from pomona.rankers.forests.cluster import session
from pomona.rankers.forests.cluster.linked_peers import PeerLostError


def test_a_session_is_opened_interrupted_and_closed():
    worker = SimpleNamespace(address="tcp://127.0.0.1:4321")
    ranks = {worker.address: 0}
    host, port = session.open_session("a run", ranks, b"key", dask_worker=worker)
    assert host == "127.0.0.1"
    assert port != 4321
    opened = session._sessions["a run", 0]
    session.interrupt("a run", ranks, dask_worker=worker)
    assert opened.record.interrupted
    session.close_sessions("a run", ranks, dask_worker=worker)
    assert ("a run", 0) not in session._sessions
    opened.peers.connect([(host, port), (host, 1)])
    with pytest.raises(PeerLostError):
        opened.peers.add(np.ones(1, np.int64))


def test_what_is_not_open_can_be_closed():
    worker = SimpleNamespace(address="tcp://127.0.0.1:4321")
    session.close_sessions("no run", {worker.address: 0}, dask_worker=worker)
    session.interrupt("no run", {worker.address: 0}, dask_worker=worker)
