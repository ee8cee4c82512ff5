"""Forests trained by the workers of a Dask cluster, each with some whole queries."""
