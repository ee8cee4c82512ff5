"""Every verb with every option: something that comes out changes, or the option is refused by its name."""

import numpy as np
import pytest

from fuzz.options import FORMS, NO_CHANGE, Commands, cases_of, parameters_of
from pomona.cli import app

_SLOW = ("best", "compare", "demo", "study")
"""Their options cost seconds each: `make fuzz` tries them."""


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    return Commands(tmp_path_factory.mktemp("options"))


def test_every_verb_has_forms():
    app.build()
    assert set(FORMS) == {name for names in app._PURPOSES.values() for name in names} | {"list"}


@pytest.mark.parametrize("verb", [verb for verb in FORMS if verb not in _SLOW])
def test_every_option_changes_something_or_is_refused(verb, commands):
    """One form for each option, another for the next; `make fuzz` tries every form."""
    random = np.random.default_rng(len(verb))
    outcomes = set()
    for option in parameters_of(verb):
        cases = [case for case in cases_of(verb) if case.option == option]
        if cases:  # else every form has it
            outcomes.add(commands.check(cases[random.integers(len(cases))]))
    assert "changed" in outcomes


def test_exceptions_are_of_forms_and_options_that_exist():
    for form, option in NO_CHANGE:
        verb = form.split()[0]
        assert option in parameters_of(verb)
        assert any(one.startswith(form) for one in FORMS[verb])
