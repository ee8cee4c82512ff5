"""Statistics: whether a difference is real, how large it is, and who wins over many results."""
