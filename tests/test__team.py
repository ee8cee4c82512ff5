import numpy as np

from pomona._jit import kernel, threads, together
from pomona._team import await_reports, await_step, dismiss, enroll, new_board, publish, report, take


@kernel
def _square(task, values, out):
    out[task] += values[task] * values[task]


@kernel
def _lead(board, values, out, n_steps):
    for _ in range(n_steps):
        publish(board, values.size)
        task = take(board)
        while task >= 0:
            _square(task, values, out)
            report(board)
            task = take(board)
        await_reports(board, values.size)
        values += 1


@kernel
def _member(board, values, out):
    n_done = 0
    while await_step(board):
        task = take(board)
        if task >= 0:
            _square(task, values, out)
            report(board)
            n_done += 1
    return n_done


def run(n_threads, n_steps=2000, n_tasks=37):
    board, values, out = new_board(), np.arange(n_tasks), np.zeros(n_tasks, np.int64)
    with threads(n_threads):
        together(
            lambda: _lead(board, values, out, n_steps),
            lambda: _member(board, values, out),
            lambda: dismiss(board),
        )
    return out


def test_every_task_of_every_step_is_done_once():
    expected = sum((np.arange(37) + step) ** 2 for step in range(2000))
    for count in (1, 2, 5):  # more threads than most machines for tests have cores
        assert (run(count) == expected).all()


def test_members_do_tasks_too():
    board, values, out = new_board(), np.arange(4), np.zeros(4, np.int64)
    n_done = []
    publish(board, 4)
    with threads(2):
        together(
            lambda: await_reports(board, 4),
            lambda: n_done.append(_member(board, values, out)),
            lambda: dismiss(board),
        )
    assert n_done == [4]
    assert (out == np.arange(4) ** 2).all()


def test_a_dismissed_team_goes_home():
    board = new_board()
    dismiss(board)
    assert not await_step(board)
    assert take(board) == -1


def test_members_have_numbers_of_their_own():
    board, numbers = new_board(), []
    with threads(5):
        together(lambda: None, lambda: numbers.append(enroll(board)), lambda: None)
    while len(numbers) < 4:
        numbers.append(enroll(board))
    assert sorted(numbers) == [1, 2, 3, 4]
