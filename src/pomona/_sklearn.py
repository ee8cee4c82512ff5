"""The only file that imports scikit-learn, and without what few of its functions use: 0.3 s instead of 1 s.

Its first import loads `scipy.stats` and, where it is installed, pandas. Here it is given others in their
place, which load them when they are first used.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any


@contextlib.contextmanager
def when_used(*names: str) -> Iterator[None]:
    """Within, `import` of these modules loads none of them: what is imported does when it is first used."""
    places = {name: _place_of(name) for name in names if name not in sys.modules}
    sys.modules.update(places)
    try:
        yield
    finally:
        for name, place in places.items():
            if sys.modules.get(name) is place:
                del sys.modules[name]


def _place_of(name: str) -> ModuleType:
    place = ModuleType(name)

    def get(attribute: str) -> Any:
        if sys.modules.get(name) is place:  # another thread needs it while this one imports
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    place.__getattr__ = get  # type: ignore[method-assign]
    return place


with when_used("scipy.stats", "pandas"):
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import OneToOneFeatureMixin as OneToOneFeatureMixin
    from sklearn.base import TransformerMixin as TransformerMixin
    from sklearn.base import clone as clone
    from sklearn.exceptions import ConvergenceWarning as ConvergenceWarning
    from sklearn.exceptions import NotFittedError as NotFittedError
    from sklearn.utils import estimator_html_repr as estimator_html_repr
    from sklearn.utils.metadata_routing import MetadataRequest as MetadataRequest
    from sklearn.utils.metadata_routing import get_routing_for_object as get_routing_for_object
    from sklearn.utils.validation import check_is_fitted as check_is_fitted
    from sklearn.utils.validation import validate_data as validate_data
