"""Measures: what a ranking is worth, and by whose rules."""
