"""Rankers made of other rankers."""
