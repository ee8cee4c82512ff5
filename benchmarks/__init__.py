"""Peers side by side, in one run, as ratios."""
