"""The one exception tree: every message says what was found, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PomonaError(Exception):
    """Anything Pomona refuses; the command line prints it as one line and exits with 2."""


class InputError(PomonaError, ValueError):
    """Input that would give a wrong number: names the place, what was found, what was expected.

    >>> print(InputError("found 'x', expected a number", "train.txt", 3, 12))
    train.txt:3:12: found 'x', expected a number
    """

    def __init__(
        self, message: str, file: object = None, line: int | None = None, column: int | None = None
    ) -> None:
        self.file, self.line, self.column = file, line, column
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)


class NothingToLearnError(InputError):
    """Training data from which no ranker of this kind could learn.

    >>> print(NothingToLearnError("all labels are equal"))
    there is nothing to learn: all labels are equal
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"there is nothing to learn: {reason}")


class UnknownNameError(PomonaError, LookupError):
    """A name that is not in a list of names: says which come nearest.

    >>> print(UnknownNameError("measure", "ndgc", ["ndcg", "err", "ap"]))
    unknown measure 'ndgc': did you mean 'ndcg'? (known: ap, err, ndcg)

    `advice` is said instead, where more is known of the name.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], advice: str | None = None) -> None:
        names = sorted(known)
        by_lower = {known_name.lower(): known_name for known_name in names}
        lower = str(name).lower()
        found = difflib.get_close_matches(lower, by_lower, n=3, cutoff=0.6)
        near = [one for one in found if one[:1] == lower[:1] or _is_close(one, lower)]
        hint = f": did you mean {by_lower[near[0]]!r}?" if near else ":"
        advice = f": {advice}" if advice else f"{hint} (known: {', '.join(names) or 'none'})"
        super().__init__(f"unknown {kind} {name!r}{advice}")


def _is_close(one: str, other: str) -> bool:
    """Whether two names are near although they begin differently, as `trees` and `n_trees`."""
    return difflib.SequenceMatcher(None, one, other).ratio() >= 0.75


class UnknownParameterError(UnknownNameError, TypeError, ValueError):
    """A parameter that a class does not have.

    A TypeError, as Python's own refusal of a keyword is, and a ValueError, as that of `set_params` is in
    scikit-learn.
    """


class UnknownMeasureError(UnknownNameError, InputError):
    """A tool is asked for a measure that it does not have.

    >>> print(UnknownMeasureError("letor4", "ERR", "err@10", ["ndcg", "ap"]))
    letor4 has no ERR: it has ap, ndcg. For the textbook's: err@10
    """

    def __init__(self, tool: str, wanted: str, by_definition: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(known))
        InputError.__init__(
            self, f"{tool} has no {wanted}: it has {names}. For the textbook's: {by_definition}"
        )


class MissingDataError(PomonaError, FileNotFoundError):
    """Data that is not on this machine: says where to get it and where to put it."""


class MissingExtraError(PomonaError, ImportError):
    """An optional dependency that is not installed.

    >>> print(MissingExtraError("optuna", "search"))
    optuna is not installed: pip install 'pomona[search]'
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'pomona[{extra}]'")
