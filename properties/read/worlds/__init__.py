"""Worlds: what the parts of terms are on systems of each family."""
