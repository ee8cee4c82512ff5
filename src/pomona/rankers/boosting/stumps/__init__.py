"""Thresholds on single features: the weak rankers, and their sum."""
