"""Comparisons: what is run, how, what is kept of it, and what it says."""
