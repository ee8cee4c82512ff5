"""Objectives: what a ranker is trained towards, as gradients and hessians of its scores."""
