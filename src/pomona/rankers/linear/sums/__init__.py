"""Sums over documents, features, labels and pairs that several linear methods need."""
