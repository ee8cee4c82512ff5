"""Measures: the value of a ranking, by named rules."""
