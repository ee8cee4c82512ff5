"""Models that others trained."""
