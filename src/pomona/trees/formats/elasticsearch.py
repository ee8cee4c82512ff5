"""Elasticsearch with the learning to rank plugin (o19s), version 1.5.x-esX.Y.Z."""

from __future__ import annotations

from typing import ClassVar

from pomona.trees.forest import Forest
from pomona.trees.formats.plugin_model import PluginModel, absent_is_zero, goes_left

# The plugin's own version is given, or Elasticsearch's.
_KNOWS_UNDEFINED = {True: (1, 5, 9), False: (8, 11, 4)}
_RAW = {True: (1, 5, 10), False: (8, 15, 2)}
_RAW_BY_NAME = {True: (1, 5, 11), False: (8, 17, 2)}
_RAW_BY_SPLIT = {True: (1, 5, 12), False: (9, 0, 8)}


class Elasticsearch(PluginModel):
    """Elasticsearch's learning to rank plugin: `POST _ltr/_featureset/SET/_createmodel`."""

    name: ClassVar[str] = "elasticsearch"
    newest: ClassVar[tuple[int, ...]] = (9, 0, 8)

    def reads_raw(self, version: tuple[int, ...]) -> bool:
        """From 1.5.10 on, of Elasticsearch 8.15.2."""
        return version >= _RAW[version[0] == 1]

    def sends_undefined_right(self, version: tuple[int, ...]) -> bool:
        """Raw models did before 1.5.12."""
        return self.options.raw and version < _RAW_BY_SPLIT[version[0] == 1]

    def _undefined(self, forest: Forest) -> list[str]:
        version = self.options.version(self.newest)
        if self.options.raw and version < _RAW_BY_SPLIT[version[0] == 1]:
            n = goes_left(forest)
            lines = [f"raw models before 1.5.12 send what is undefined right, {n} splits here send it left"]
            by_place = ["the feature set must have the model's order: this version takes features by place"]
            return lines[: bool(n)] + by_place * (version < _RAW_BY_NAME[version[0] == 1])
        if version >= _KNOWS_UNDEFINED[version[0] == 1]:
            return []
        return absent_is_zero(forest, "this version of the plugin")
