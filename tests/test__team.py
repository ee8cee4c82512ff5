import multiprocessing
import threading
import time

import numpy as np
import pytest

from pomona import _team
from pomona._jit import address_of, kernel, threads, type_of, types
from pomona._team import Team, by_team, lead, new_board, rounds, tasks, team_board


@kernel(by_address=True)
def _square(signed, values, out, out_member):
    task, member = signed % values.size, signed // values.size
    out[task] += values[task] * values[task]
    out_member[task] = member


@kernel
def _lead_steps(board, address, values, out, out_member, n_steps):
    for _ in range(n_steps):
        function, arguments = tasks(address, values.size, values, out, out_member)
        lead(board, function, arguments, values.size)
        values += 1


def run(board, n_steps=2000, n_tasks=37):
    values, out, members = (np.arange(n_tasks), *np.zeros((2, n_tasks), np.int64))
    address = address_of(_square, types.int64, *map(type_of, (values, out, members)))
    _lead_steps(board, address, values, out, members, n_steps)
    return out, members


SQUARES = sum((np.arange(37) + step) ** 2 for step in range(2000))


@pytest.mark.parametrize("count", [1, 2, 5])  # more threads than most machines for tests have cores
def test_every_task_of_every_step_is_done_once(count):
    with team_board(count) as board:
        out, members = run(board)
    assert (out == SQUARES).all()
    assert members.min() >= 0
    assert members.max() < count


@kernel(by_address=True)
def _take_a_while(signed, out_member):
    n_tasks, word = out_member.size, np.uint64(signed)
    for _ in range(20_000):
        word = word * np.uint64(6364136223846793005) + np.uint64(1)
    out_member[signed % n_tasks] = signed // n_tasks if word != 0 else -1


@kernel
def _lead_slowly(board, address, out_member):
    function, arguments = tasks(address, out_member.size, out_member)
    lead(board, function, arguments, out_member.size)


def test_members_do_tasks_too():
    out, members = np.empty(100, np.int64), set()
    address = address_of(_take_a_while, types.int64, type_of(out))
    for _ in range(20_000):
        with team_board(3) as board:  # who has gone to sleep is woken
            _lead_slowly(board, address, out)
        members.update(out.tolist())
        if members == {0, 1, 2}:  # as soon as the machine has cores for them
            break
    assert members == {0, 1, 2}


def test_members_that_sleep_are_woken():
    team = Team(3)
    while team._is_asleep != [False, True, True]:
        time.sleep(0.001)
    team.wake()
    assert team._is_asleep[0] is False
    team.end()
    assert (run(team.board)[0] == SQUARES).all()  # by the lead alone


def test_members_go_home_whenever_a_team_ends():
    for k in range(30):
        before = set(threading.enumerate())
        team = Team(4)
        members = set(threading.enumerate()) - before
        time.sleep(k / 2000)  # while they watch, go to sleep, or sleep
        team.end()
        for member in members:
            member.join(60)
            assert not member.is_alive()


def test_who_finds_the_team_led_works_alone():
    with team_board(2) as board:
        others = []
        thread = threading.Thread(target=lambda: others.append(_board_of_another()))
        thread.start()
        thread.join()
        assert others[0] is not board
        assert (run(others[0])[0] == SQUARES).all()
    with team_board(2) as again:
        assert again is board


def _board_of_another():
    with team_board(2) as board:
        return board


def test_another_number_of_threads_is_another_team():
    with team_board(2) as two, team_board(3) as three:
        assert two is not three
        assert (run(two)[0] == run(three)[0]).all()


@kernel
def _double(first, last, values, step, out, out_first):
    out_first[first // step] = first
    for i in range(first, last):
        out[i] = 2 * values[i]


@pytest.mark.parametrize("n", [0, 1, 7, 100])
@pytest.mark.parametrize("count", [1, 3])
def test_ranges_cover_all_items(n, count):
    values, out, firsts = np.arange(n), np.zeros(n, np.int64), np.full(n, -1)
    with threads(count), rounds():
        by_team(_double, n, values, 10, out, firsts, smallest=10)
    assert out.tolist() == (2 * values).tolist()
    assert firsts[firsts >= 0].tolist() == list(range(0, n, 10) if count > 1 else range(min(n, 1)))


def test_a_kernel_is_found_for_every_kind_of_array():
    for values in (np.arange(40), np.arange(40.0), np.arange(80)[::2], np.arange(40, dtype=np.int32)):
        out, firsts = np.zeros(40, np.int64), np.empty(40, np.int64)
        with threads(2), rounds():
            by_team(_double, 40, values, 10, out, firsts, smallest=10)
        assert out.tolist() == (2 * values).tolist()


def test_nobody_watches_where_there_are_no_rounds(monkeypatch):
    monkeypatch.setattr(_team, "team_board", None)
    values, out, firsts = np.arange(100), np.zeros(100, np.int64), np.empty(100, np.int64)
    with rounds():
        pass
    with threads(2):
        by_team(_double, 100, values, 10, out, firsts, smallest=10)
    assert out.tolist() == (2 * values).tolist()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_a_team_of_its_own():
    with team_board(2):
        process = multiprocessing.get_context("fork").Process(target=_use_a_team)
        process.start()
        process.join(60)
    assert process.exitcode == 0


def _use_a_team():
    before = _team._team
    with team_board(2) as board:
        assert _team._team is not before
        assert (run(board)[0] == SQUARES).all()


def test_a_board_that_nobody_watches():
    assert (run(new_board())[0] == SQUARES).all()
