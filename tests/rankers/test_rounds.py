import pytest

from pomona.rankers.rounds import Rounds


def test_the_first_of_the_highest_is_the_best_round():
    rounds = Rounds("r", 9)
    assert [rounds.go_on(train=v) for v in (0.1, 0.4, 0.4, 0.2)] == [True] * 4
    assert (rounds.best, rounds.count) == (2, 4)
    assert rounds.evals == {"train": [0.1, 0.4, 0.4, 0.2]}


def test_validation_data_decide_where_there_are_some():
    rounds = Rounds("r", 9)
    for train, valid in ((0.1, 0.3), (0.2, 0.5), (0.9, 0.4)):
        rounds.go_on(train=train, valid=valid)
    assert rounds.best == 2


def test_without_any_measure_the_latest_round_is_the_best():
    rounds = Rounds("r", 9, early_stopping=1)
    assert [rounds.go_on() for _ in range(3)] == [True] * 3
    assert (rounds.best, rounds.evals) == (3, {})


def test_stops_when_nothing_has_risen_for_long():
    rounds = Rounds("r", 9, early_stopping=2)
    assert [rounds.go_on(train=v) for v in (0.3, 0.2, 0.5, 0.5, 0.4)] == [True, True, True, True, False]


def test_an_interruption_keeps_what_was_learnt():
    rounds = Rounds("r", 9)

    def learn():
        with rounds.watch():
            rounds.go_on(train=0.5)
            rounds.go_on(train=0.4)
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted: keeping round 1 of 2"):
        learn()
    assert rounds.interrupted


def test_an_interruption_before_the_first_round_ends_the_training():
    rounds = Rounds("r", 9)
    with pytest.raises(KeyboardInterrupt), rounds.watch():
        raise KeyboardInterrupt


def test_the_bar_says_how_the_measure_goes(capsys):
    rounds = Rounds("AdaRank", 2, verbose=True)
    with rounds.watch():
        rounds.go_on(train=0.25, valid=0.5)
    assert "AdaRank" in (shown := capsys.readouterr().out)
    assert "1 rounds, train 0.2500, valid 0.5000" in shown
