"""Linear rankers: a score is a weighted sum of features, one method a file."""
