"""Rankers made of trees."""
