"""Modules that others import at once and few of their functions use: loaded by those that do."""

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
    for name, place in places.items():
        if parent := places.get(name.rpartition(".")[0]):
            setattr(parent, name.rpartition(".")[2], place)
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
