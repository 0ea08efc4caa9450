"""Arithmetic of one column at a time, each entry a number of its own: balls, or rationals."""
