"""Lemmas on powers, growth and windows."""
