"""What a docstring holds: its sections, and the entries of its parameters.

A section is a head with a line of dashes below it, as numpydoc has them; an entry is `name : what it means`,
which may go on in lines that are indented, or be of several names.
"""

from __future__ import annotations

import inspect
import itertools
import re

_ENTRY = re.compile(r"(\w+(?:, *\w+)*) *: *(.*)")


def section(docstring: str, head: str) -> str:
    """The text of a section, "" where there is none.

    >>> section("Sums.\\n\\nNotes\\n-----\\nOf numbers.\\n\\nDepartures\\n----------\\n- None.", "Notes")
    'Of numbers.'
    """
    lines = inspect.cleandoc(docstring).splitlines()
    inside, text = False, []
    for line, following in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        if following.startswith("---"):
            inside = line == head
        elif inside and not line.startswith("---"):
            text.append(line)
    return "\n".join(text).strip()


def parameters_of(cls: type, *, bases: bool = True) -> dict[str, str]:
    """What every parameter means, as the docstring of the class says or the next of its bases that does.

    >>> class Demo:
    ...     '''A class.
    ...
    ...     Parameters
    ...     ----------
    ...     a, b : two numbers; c : is no entry.
    ...     k : a third,
    ...         and more.
    ...
    ...     Attributes
    ...     ----------
    ...     d_ : learnt.
    ...     '''
    >>> parameters_of(Demo)
    {'a': 'two numbers; c : is no entry.', 'b': 'two numbers; c : is no entry.', 'k': 'a third, and more.'}
    """
    found: dict[str, str] = {}
    for base in cls.__mro__ if bases else (cls,):
        names: list[str] = []
        entries: dict[str, str] = {}
        for line in section(base.__dict__.get("__doc__") or "", "Parameters").splitlines():
            if entry := _ENTRY.match(line):
                names = re.split(", *", entry[1])
                entries |= dict.fromkeys(names, entry[2])
            elif names and line.startswith(" "):
                entries |= {name: f"{entries[name]} {line.strip()}" for name in names}
            else:
                names = []
        found |= {name: text for name, text in entries.items() if name not in found}
    return found
