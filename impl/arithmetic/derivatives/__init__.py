"""Arithmetics that carry derivatives along."""
