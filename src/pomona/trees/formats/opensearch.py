"""OpenSearch with its learning to rank plugin: versions differ in where undefined values go."""

from __future__ import annotations

from typing import ClassVar

from pomona.trees.forest import Forest
from pomona.trees.formats.plugin_model import PluginModel, absent_is_zero, goes_left

_BY_SPLIT, _RIGHT, _RAW = (3, 8), (3, 2), (2, 19, 2)


class OpenSearch(PluginModel):
    """OpenSearch's learning to rank plugin: `POST _ltr/_featureset/SET/_createmodel`."""

    name: ClassVar[str] = "opensearch"
    newest: ClassVar[tuple[int, ...]] = (3, 8)

    def reads_raw(self, version: tuple[int, ...]) -> bool:
        """From 2.19.2 on."""
        return version >= _RAW

    def sends_undefined_right(self, version: tuple[int, ...]) -> bool:
        """From 3.2 to 3.7."""
        return _RIGHT <= version < _BY_SPLIT

    def _undefined(self, forest: Forest) -> list[str]:
        version = self.options.version(self.newest)
        if version >= _BY_SPLIT:
            return []
        if version < _RIGHT:
            return absent_is_zero(forest, "OpenSearch before 3.2")
        if not (n := goes_left(forest)):
            return []
        return [f"OpenSearch 3.2 to 3.7 sends what is undefined right, {n} splits here send it left"]
