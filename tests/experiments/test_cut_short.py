import signal
import threading
import time

import pytest

import pomona as pm
from pomona.errors import PomonaError
from pomona.experiments.cut_short import until

needs_alarms = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")


@needs_alarms
def test_what_was_learnt_until_then_is_kept():
    data = pm.simulate(60, docs_per_query=10, n_features=4, seed=1)
    ranker = pm.LambdaMART(n_trees=10**6, learning_rate=1e-4, early_stopping=None)
    pm.LambdaMART(n_trees=2).fit(data, valid=data)  # which compiles
    started = time.monotonic()
    with pytest.warns(UserWarning, match="interrupted: keeping"), until(time.time() + 0.5):
        ranker.fit(data, valid=data)
    assert time.monotonic() - started < 5
    assert ranker.interrupted_
    assert 0 < ranker.model_.n_trees < 10**6


@needs_alarms
def test_where_nothing_is_left():
    with pytest.raises(PomonaError, match=r"took longer than 0\.05 s"), until(time.time() + 0.05):
        time.sleep(5)
    with pytest.raises(PomonaError, match="took longer than"), until(time.time() - 1):
        time.sleep(5)


def test_what_is_done_in_time_is_left_alone():
    before = signal.getsignal(signal.SIGINT)
    with until(time.time() + 0.1):
        pass
    with until(None):
        pass
    time.sleep(0.15)  # no alarm rings
    assert signal.getsignal(signal.SIGINT) == before


def test_ctrl_c_stays_ctrl_c():
    with pytest.raises(KeyboardInterrupt), until(time.time() + 60):
        raise KeyboardInterrupt


def test_threads_go_on_to_their_end():
    done = []

    def body():
        with until(time.time() + 0.01):
            time.sleep(0.05)
        done.append(True)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert done
