"""Boosting of weak rankers: single features and thresholds on them."""
