"""Forests for other engines: one file a format."""
