import itertools

import pytest

from pomona.rankers.training_log import TrainingLog


def recorded(log, values, part="valid"):
    return [(log.record(**{part: value}), log.should_stop) for value in values]


def test_the_first_of_the_highest_is_the_best_iteration():
    log = TrainingLog()
    assert [is_best for is_best, _ in recorded(log, (0.1, 0.4, 0.4, 0.2))] == [True, True, False, False]
    assert (log.best_iteration, log.best_value, log.iteration) == (2, 0.4, 4)
    assert log.evals == {"valid": [0.1, 0.4, 0.4, 0.2]}


def test_validation_data_decide_where_there_are_some():
    log = TrainingLog(deciding=("valid", "train"))
    for train, valid in ((0.1, 0.3), (0.2, 0.5), (0.9, 0.4)):
        log.record(train=train, valid=valid)
    assert log.best_iteration == 2
    without = TrainingLog(deciding=("valid", "train"))
    recorded(without, (0.1, 0.9, 0.2), "train")
    assert without.best_iteration == 2


def test_without_a_part_that_decides_the_latest_iteration_is_the_best():
    log = TrainingLog(early_stopping=1)
    assert recorded(log, (3.0, 2.0, 1.0), "loss") == [(True, False)] * 3
    assert (log.best_iteration, log.evals) == (3, {"loss": [3.0, 2.0, 1.0]})


def test_stops_when_nothing_has_risen_for_long():
    log = TrainingLog(early_stopping=2)
    stops = [stop for _, stop in recorded(log, (0.3, 0.2, 0.5, 0.5, 0.4))]
    assert stops == [False, False, False, False, True]
    assert not any(stop for _, stop in recorded(TrainingLog(), (0.5, 0.4, 0.3)))


def test_the_curves_are_those_of_the_best_path():
    log = TrainingLog(early_stopping=1)
    for values in ((0.1, 0.3), (0.2, 0.5, 0.4), (0.5, 0.1)):
        log.start_path()
        stops = [stop for _, stop in recorded(log, values)]
        assert stops == [False] + [later <= before for before, later in itertools.pairwise(values)]
    assert (log.best_iteration, log.best_value) == (2, 0.5)
    assert log.evals == {"valid": [0.2, 0.5, 0.4]}


def test_iterations_of_an_earlier_training_count():
    log = TrainingLog(done=10, early_stopping=2)
    assert recorded(log, (0.5, 0.4, 0.3)) == [(True, False), (False, False), (False, True)]
    assert (log.best_iteration, log.iteration) == (11, 13)
    with pytest.raises(KeyboardInterrupt), TrainingLog(done=10).watch():
        raise KeyboardInterrupt


def test_an_interruption_keeps_what_was_learnt():
    log = TrainingLog(unit="round")
    with log.watch():
        recorded(log, (0.5, 0.4))
        raise KeyboardInterrupt
    assert log.interrupted
    assert log.kept == "round 1 of 2"


def test_an_interruption_before_the_first_iteration_ends_the_training():
    log = TrainingLog()
    with pytest.raises(KeyboardInterrupt), log.watch():
        raise KeyboardInterrupt
    assert not log.interrupted


def test_the_bar_says_how_the_measure_goes(capsys):
    log = TrainingLog("AdaRank", 2, unit="round", verbose=True)
    with log.watch():
        log.start_path("rate 3, ")
        log.record(train=0.25, valid=0.5)
    assert "AdaRank" in (shown := capsys.readouterr().err)
    assert "rate 3, 1 round, train 0.2500, valid 0.5000" in shown


def test_without_a_trace_nothing_is_computed_for_one():
    def nobody_asks():
        raise AssertionError

    log = TrainingLog()
    log.follow(None, nobody_asks, nobody_asks)
    log.record()
    assert log.iteration == 1
