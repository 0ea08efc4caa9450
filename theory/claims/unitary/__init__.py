"""Unitary equivalents of contractive networks, and what has none."""
