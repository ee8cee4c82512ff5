"""Models of other trainers, read: one file a format."""
