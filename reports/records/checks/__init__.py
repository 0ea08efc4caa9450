"""Checks of a run: single ones, counts, curves and worst instances."""
