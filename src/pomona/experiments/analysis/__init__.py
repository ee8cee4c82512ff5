"""Analyses, one file each: numbers in tables, nothing drawn.

A file with a subclass of `Analysis` is a table of every comparison, found by the registry. The others are
analyses of their own, of a dataset, a model or a measure: a function that gives polars tables, which the verb
of the same name prints and the report's sections of that kind (`Section.report`) draw.
"""
