import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.testing.contract import (
    check_parameters_are_documented,
    is_same,
    refusal_of,
    require,
    require_equal,
    require_finite,
    run_checks,
)


def test_a_broken_promise_is_an_assertion_error():
    require(True, "not read")
    with pytest.raises(AssertionError, match=r"^the promise$"):
        require(False, "the promise")


def test_what_must_be_refused():
    with refusal_of("it", "wro.g"):
        raise InputError("something wrong")
    with (
        pytest.raises(AssertionError, match="it must be refused with a PomonaError, but was taken"),
        refusal_of("it"),
    ):
        pass
    with (
        pytest.raises(AssertionError, match="a message that has 'right', found 'wrong'"),
        refusal_of("it", "right"),
    ):
        raise InputError("wrong")
    with pytest.raises(AssertionError, match="in one line"), refusal_of("it"):
        raise InputError("two\nlines")
    with pytest.raises(ZeroDivisionError), refusal_of("it"):  # no refusal, but a defect
        _ = 1 / 0


def test_an_unexpected_exception_is_told_which_check_met_it():
    def check_something(subject):
        raise KeyError(subject)

    with pytest.raises(KeyError) as caught:
        run_checks([check_something], 1)
    assert caught.value.__notes__ == ["found by pomona.testing, check_something(int)"]


def test_entries_of_parameters_sections():
    class Base:
        """Has k : in a sentence.

        Parameters
        ----------
        measure : text
            With a more indented line, p : not an entry.
        a, b : two.
        """

    class Derived(Base):
        """Has C.

        Parameters
        ----------
        c_1 : one, d : not an entry.

        The others are those of `Base`.

        Attributes
        ----------
        coef_ : learnt.
        """

    check_parameters_are_documented(Derived(), ["a", "c_1"])
    with pytest.raises(AssertionError, match=r"Derived or of one of its bases; without one: C, k, p, coef_"):
        check_parameters_are_documented(Derived(), ["a", "C", "k", "p", "coef_"])


def test_sameness():
    assert is_same({"a": [1, np.array([1.0, np.nan])]}, {"a": [1, np.array([1.0, np.nan])]})
    assert is_same(float("nan"), float("nan"))
    assert is_same(pm.LinearRegression(), pm.LinearRegression())
    assert not is_same(pm.LinearRegression(), pm.LinearRegression(normalize=None))
    assert not is_same(np.array([1.0]), None)
    assert not is_same([1], [1, 2])
    assert not is_same({"a": 1}, {"b": 1})


def test_scores_that_differ_are_told():
    require_equal(np.ones(2), np.ones(2), "equal")
    with pytest.raises(AssertionError, match=r"equal: 1 of 2 scores differ, as 3.0 instead of 2.0"):
        require_equal(np.array([1.0, 2.0]), np.array([1.0, 3.0]), "equal")
    require_finite(np.ones(2), "finite")
    with pytest.raises(AssertionError, match=r"finite, found 2 of 3 that are not"):
        require_finite(np.array([1.0, np.nan, np.inf]), "finite")
