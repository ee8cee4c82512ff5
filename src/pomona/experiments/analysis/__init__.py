"""Analyses of a comparison's results: one file each, numbers in tables, nothing drawn."""
