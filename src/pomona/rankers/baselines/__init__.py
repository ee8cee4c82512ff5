"""Baselines: what every method must beat, and the limits that none can pass."""
