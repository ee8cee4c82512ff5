"""What a reader sees of a comparison: one page, tables and figures. It draws numbers and computes none."""
