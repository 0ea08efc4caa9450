"""A run in parts, merged to one record; replay; the matrix."""
