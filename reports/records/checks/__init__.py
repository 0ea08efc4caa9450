"""Checks of a run: single ones, counts and curves."""
