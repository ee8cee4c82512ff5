"""What a ranker is to scikit-learn: an estimator that asks for query ids, and tells what it can take."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from pomona._other_names import unknown_parameter
from pomona._sklearn import NotFittedError, estimator_html_repr, get_config
from pomona.errors import InputError, PomonaError

if TYPE_CHECKING:

    class BaseEstimator:
        """scikit-learn's, which has no types: of an unknown base, a type checker would let any name pass."""

        n_features_in_: int
        feature_names_in_: Any

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_predict_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def __sklearn_clone__(self) -> Self: ...
        def __repr__(self, N_CHAR_MAX: int = 700) -> str: ...

else:
    from pomona._sklearn import BaseEstimator


class Estimator(BaseEstimator):
    """The part of a ranker that scikit-learn reads."""

    # The names that scikit-learn's metadata routing reads: these methods want the query ids.
    __metadata_request__fit: ClassVar = {"qid": True}
    __metadata_request__predict: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters, also `name__parameter` of an estimator; if one is refused, nothing changes."""
        inside = [one for one in self.get_params(deep=True).values() if hasattr(one, "get_params")]
        before = [(one, one.get_params(deep=False)) for one in (self, *inside) if not isinstance(one, type)]
        try:
            self._change_params(parameters)
        except BaseException:
            for one, values in before:
                for name, value in values.items():
                    setattr(one, name, value)
            raise
        return self

    def _change_params(self, parameters: dict[str, Any]) -> None:
        """Change parameters; a name that there is not is refused as `__init__` refuses it."""
        known = self.get_params(deep=True)
        for name in parameters:
            whole, _, part = name.partition("__")
            if whole not in known:
                raise unknown_parameter(type(self).__name__, name, self.get_params(deep=False))
            estimator = parameters.get(whole, known[whole])
            if part and not hasattr(estimator, "set_params"):
                raise InputError(
                    f"{name} cannot be set, as {whole} is {estimator!r:.60}: give {whole} as an object with "
                    "parameters"
                )
        super().set_params(**parameters)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The call that makes it: every parameter that is not the default, which scikit-learn cuts short."""
        signature = inspect.signature(type(self)).parameters
        only_changed = get_config()["print_changed_only"]
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not only_changed or name not in signature or repr(signature[name].default) != repr(value)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    @contextlib.contextmanager
    def plain_parameters(self) -> Iterator[None]:
        """The parameters as plain Python has them, in the body: numbers of NumPy overflow and round.

        So no method of learning has to think of `np.int8(100)`, whose sum with 100 is −56.
        """
        given = self.get_params(deep=False)
        plain = {name: _plain(value) for name, value in given.items()}
        changed = {name: value for name, value in plain.items() if value is not given[name]}
        for name, value in changed.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in changed.items():
                if getattr(self, name, None) is value:
                    setattr(self, name, given[name])

    def check_fitted(self) -> None:
        """Refuse to go on before `fit`."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"{type(self).__name__} is not fitted: call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    def __dir__(self) -> list[str]:
        """What it has now: scikit-learn's would raise where a measure is refused."""
        return [name for name in object.__dir__(self) if self._has(name)]

    def _has(self, name: str) -> bool:
        try:
            getattr(self, name)
        except (AttributeError, PomonaError):
            return False
        return True

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's picture, which wonders at sections of docstrings of ours."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Unknown section")
            return str(estimator_html_repr(self))

    def _set_column_names(self, names: Sequence[str] | None) -> None:
        """The attribute that scikit-learn gives estimators that were fitted on columns with names."""
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)


def _plain(value: Any) -> Any:
    """A value without NumPy; itself, where it is."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return tuple(_plain(one) for one in value)
    if type(value) in (list, tuple):
        parts = [_plain(one) for one in value]
        return value if all(one is two for one, two in zip(parts, value, strict=True)) else type(value)(parts)
    if type(value) is dict:
        entries = {_plain(key): _plain(one) for key, one in value.items()}
        return value if all(one is value.get(key) for key, one in entries.items()) else entries
    return value
