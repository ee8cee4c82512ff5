import threading
import weakref

import pytest

from pomona._crew import Call, Crew


def test_threads_join_in_until_a_call_is_closed():
    crew, names, meeting = Crew(3), [], threading.Barrier(4)

    def work():
        meeting.wait(timeout=60)  # all four at once
        names.append(threading.current_thread().name)

    for _ in range(50):
        names.clear()
        call = Call(work)
        crew.ask(call, 3)
        work()
        call.close()
        assert len(set(names)) == 4
    assert call.error is None
    call.join_in()
    assert len(names) == 4
    crew.end()


def test_who_joins_in_is_waited_for():
    crew, is_inside, may_end = Crew(1), threading.Event(), threading.Event()
    done = []

    def work():
        is_inside.set()
        may_end.wait(timeout=60)
        done.append(True)

    call = Call(work)
    crew.ask(call, 1)
    assert is_inside.wait(timeout=60)
    threading.Timer(0.05, may_end.set).start()
    call.close()
    assert done == [True]
    crew.end()


def test_a_call_that_nobody_joined_is_over_at_once():
    call = Call(lambda: pytest.fail("closed"))
    call.close()
    call.join_in()
    assert call.error is None


def test_what_is_raised_is_kept_and_the_thread_goes_on():
    crew, joined = Crew(1), threading.Event()

    def fail():
        joined.set()
        raise ValueError("seven")

    call = Call(fail)
    crew.ask(call, 1)
    assert joined.wait(timeout=60)
    call.close()
    assert str(call.error) == "seven"
    again = threading.Event()
    crew.ask(Call(again.set), 1)
    assert again.wait(timeout=60)
    crew.end()


def test_a_closed_call_lets_go_of_what_it_worked_on():
    class Large:
        def work(self):
            pass

    large = Large()
    call, gone = Call(large.work), weakref.ref(large)
    call.close()
    del large
    assert gone() is None


def test_threads_go_home():
    crew = Crew(2)
    threads = [t for t in threading.enumerate() if t.name.startswith("pomona_")][-2:]
    assert len(threads) == 2
    crew.end()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
