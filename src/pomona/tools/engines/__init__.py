"""Serving engines, emulated: an exported model scored as the engine of a version would."""
