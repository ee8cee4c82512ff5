"""Elasticsearch with the learning to rank plugin (o19s), version 1.5.x-esX.Y.Z."""

from __future__ import annotations

from typing import ClassVar

from pomona.trees.forest import Forest
from pomona.trees.formats.plugin_model import PluginModel, absent_is_zero

_NEWEST = (9, 0)
_KNOWS_UNDEFINED = {True: (1, 5, 9), False: (8, 11, 4)}


class Elasticsearch(PluginModel):
    """Elasticsearch's learning to rank plugin: `POST _ltr/_featureset/SET/_createmodel`."""

    name: ClassVar[str] = "elasticsearch"

    def _undefined(self, forest: Forest) -> list[str]:
        version = self.options.version(_NEWEST)
        # The plugin's own version is given, or Elasticsearch's.
        if version >= _KNOWS_UNDEFINED[version[0] == 1]:
            return []
        return absent_is_zero(forest, "this version of the plugin")
