"""The sections of a report, one file each: the numbers it wants, charts, tables, captions, its place."""
