"""How forests are grown: the boosting loop behind every forest ranker."""
