"""What a model may hold: the type, shape and range of everything a ranker learnt, checked when it is loaded.

A model file may come from anybody, and kernels believe what they are given. So a ranker declares what it
learnt, and nothing that does not fit ever becomes a model. A size that is given by name is one size in all
arrays of a model.

>>> declared = {"coef_": Array("n_features"), "intercept_": FINITE}
>>> check_learnt(declared, {"coef_": np.ones(3), "intercept_": 0.5}, n_features=3)
>>> check_learnt(declared, {"coef_": np.ones(2), "intercept_": 0.5}, n_features=3)
Traceback (most recent call last):
ValueError: coef_ is float64 of shape (2,), expected float64 of shape (3,)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pomona.rankers.parameter import Interval, admits, words

_LARGEST = float(np.finfo(np.float64).max)
FINITE = Annotated[float, Interval(-_LARGEST, _LARGEST, "[]")]
"""A number that is neither infinite nor undefined."""


class Array:
    """An array: the sizes of its shape, by number or by name, and its type.

    Parameters
    ----------
    finite : whether all values must be.
    below : of whole numbers, which must then lie in [0, below): a number, or the name of a size.
    """

    def __init__(
        self, *shape: int | str, dtype: Any = np.float64, finite: bool = True, below: int | str | None = None
    ) -> None:
        self.shape, self.dtype, self.finite, self.below = shape, np.dtype(dtype), finite, below

    def check(self, name: str, array: NDArray[Any], sizes: dict[str, int]) -> None:
        """Refuse an array that does not fit; a size that has no number yet gets it."""
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} is no array")
        for size, length in zip(self.shape, array.shape, strict=False):
            if isinstance(size, str):
                sizes.setdefault(size, length)
        shape = tuple(sizes.get(size, 0) if isinstance(size, str) else size for size in self.shape)
        if array.dtype != self.dtype or array.shape != shape:
            held, wanted = f"{array.dtype} of shape {array.shape}", f"{self.dtype} of shape {shape}"
            raise ValueError(f"{name} is {held}, expected {wanted}")
        if self.finite and self.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{name} holds a value that is not finite")
        if self.below is not None and array.size:
            most = sizes[self.below] if isinstance(self.below, str) else self.below
            if not 0 <= array.min() <= array.max() < most:
                raise ValueError(f"{name} holds a number outside 0..{most - 1}")


def check_learnt(declared: Mapping[str, Any], values: Mapping[str, Any], **sizes: int) -> None:
    """Refuse, by a ValueError, what is not as declared: an `Array`, or a type as those of parameters."""
    for name, kind in declared.items():
        if isinstance(kind, Array):
            kind.check(name, values[name], sizes)
        elif not admits(kind, values[name]):
            raise ValueError(f"{name} must be {words(kind)}, found {values[name]!r:.40}")
