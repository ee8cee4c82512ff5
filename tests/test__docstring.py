from pomona._docstring import parameters_of, section


class Base:
    """Has k : in a sentence.

    Parameters
    ----------
    measure : text
        with a more indented line, p : not an entry.
    a, b : two.
    """


class Derived(Base):
    """Has C.

    Parameters
    ----------
    c_1 : one, d : not an entry.
    a: another.

    The others are those of `Base`.

    Departures
    ----------
    - One.

    - Two.
    """


def test_the_text_of_a_section():
    assert section(Derived.__doc__, "Departures") == "- One.\n\n- Two."
    assert section(Derived.__doc__, "Notes") == ""
    assert section("", "Notes") == ""


def test_entries_of_a_class_go_before_those_of_its_bases():
    assert parameters_of(Derived) == {
        "measure": "text with a more indented line, p : not an entry.",
        "a": "another.",
        "b": "two.",
        "c_1": "one, d : not an entry.",
    }
