"""The published evaluation tools, drop-in: read their files, print their text."""
