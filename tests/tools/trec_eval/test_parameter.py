"""How `-m name.parameters` is read."""

import pytest

from pomona.errors import InputError
from pomona.tools.trec_eval.parameter import cutoffs, gains, named, no_parameter, numbers, shares


def test_cutoffs_are_sorted_and_cut_at_the_point():
    assert cutoffs(5)("P", None, 9) == (["P_5"], (5,))
    assert cutoffs(5)("P", "20,10,23.4", 9) == (["P_10", "P_20", "P_23"], (10, 20, 23))


def test_shares_are_sorted_and_shown_with_two_decimals():
    assert shares(0.5)("iprec_at_recall", ".75,.10", 9) == (
        ["iprec_at_recall_0.10", "iprec_at_recall_0.75"],
        (0.1, 0.75),
    )
    assert shares(0.5)("Rprec_mult", "123456.789", 9)[0] == ["Rprec_mult_123456.7"]


def test_numbers_keep_their_order_and_spelling():
    assert numbers(1.0)("11pt_avg", ".5,.25", 9) == (["11pt_avg_.5,.25"], (0.5, 0.25))
    assert numbers(1.0)("set_F", None, 9) == (["set_F"], (1.0,))


def test_pairs():
    assert gains("ndcg", "1=1,2=3.5", 9) == (["ndcg_1=1,2=3.5"], ((1, 1.0), (2, 3.5)))
    assert named("rbp", "p=.8", 10) == (["rbp_p=.8"], (("p", 0.8),))
    assert gains("ndcg", None, 9) == (["ndcg"], ())


def test_a_label_that_is_no_number_is_0_in_version_9_and_left_out_in_10():
    assert gains("ndcg", "x=2,1=3", 9)[1] == ((0, 2.0), (1, 3.0))
    assert gains("ndcg", "x=2,1=3", 10)[1] == ((1, 3.0),)


def test_parameters_of_a_measure_without_any_are_ignored():
    assert no_parameter("map", "5", 9) == (["map"], ())


@pytest.mark.parametrize(
    ("read", "name", "typed", "message"),
    [
        (cutoffs(5), "P", "0,5", "-m P.0,5: found the cut-off 0, expected 1 or more"),
        (cutoffs(5), "P", "5,x", "-m P.5,x: found the cut-off 0, expected 1 or more"),
        (cutoffs(5), "P", "5,5.5", "-m P.5,5.5: found 5 twice, expected each once"),
        (shares(0.5), "Rprec_mult", ".5,0.5", "-m Rprec_mult..5,0.5: found 0.5 twice, expected each once"),
        (shares(0.5), "Rprec_mult", "inf", "-m Rprec_mult.inf: found 'inf', expected a finite number"),
        (numbers(1.0, 2.0, exactly=True), "utility", "1", "-m utility.1: found 1 numbers, expected 2"),
        (gains, "ndcg", "1=2,", "-m ndcg.1=2,: found '', expected label=gain, e.g. -m ndcg.1=1,2=3"),
        (gains, "ndcg", "1=2=3", "-m ndcg.1=2=3: found '1=2=3', expected label=gain, e.g. -m ndcg.1=1,2=3"),
        (gains, "ndcg", "10", "-m ndcg.10: found '10', expected label=gain, e.g. -m ndcg.1=1,2=3"),
    ],
)
def test_refusals(read, name, typed, message):
    with pytest.raises(InputError) as error:
        read(name, typed, 9)
    assert str(error.value) == message
