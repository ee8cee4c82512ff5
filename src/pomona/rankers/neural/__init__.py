"""Neural rankers: small networks trained towards a list of documents, one method a file."""
